// The evaluator's pages in Chromium: URL=http://… SHOTS=folder node page.mjs
import { chromium } from 'playwright-core';
import { equal, failed, guard, holds, lacks, page_is_sound, step, unharmed } from './checks.mjs';

const { URL: base, SHOTS: shots } = process.env;
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: process.getuid() === 0 ? ['--no-sandbox'] : [] });
const faults = [];
const open = async (options = {}) => {
  const context = await browser.newContext({ baseURL: base, viewport: { width: 1100, height: 800 }, ...options });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  guard(page, base, faults);
  return page;
};
const page = await open();

await step('a run changes before the eyes of who watches it', async () => {
  await page.goto('/evaluations/running');
  const before = await page.innerText('[data-live] .status');
  await page.waitForFunction((text) => document.querySelector('[data-live] .status').innerText !== text, before);
  await page.waitForSelector('[data-live] [data-state=final]', { timeout: 60_000 });
  holds(await page.innerText('[data-live]'), 'completed');
  holds(await page.innerText('.scores'), 'em');
});
await step('all pages are sound', async () => {
  for (const path of ['/', '/evaluations/better', '/evaluations/better/samples', '/comparisons?evaluations=better,worse', '/evaluations/hostile/samples'])
    await page_is_sound(page, path, 120_000);
});
await step('the list is filtered', async () => {
  await page.goto('/');
  await page.selectOption('select[name=state]', 'failed');
  await page.click('text=Show');
  holds(await page.innerText('main'), 'No evaluation is like that');
  await page.goto('/');
});
await step('two are chosen by keyboard and compared', async () => {
  for (const name of ['better', 'worse']) {
    await page.focus(`input[value=${name}]`);
    await page.keyboard.press('Space');
  }
  await page.focus('text=Compare the chosen ones');
  await page.keyboard.press('Enter');
  await page.waitForSelector('figure.chart svg');
  const text = await page.innerText('main');
  holds(text, 'better wins');
  holds(text, 'McNemar');
  equal(await page.locator('figure.chart svg desc').first().textContent().then((it) => it.includes('better')), true);
  await page.screenshot({ path: `${shots}/evaluator-comparison.png`, fullPage: true });
});
await step('the bars have colours and a scale', async () => {
  const fills = await page.locator('.chart-bar').evaluateAll((bars) => bars.map((bar) => getComputedStyle(bar).fill));
  equal(new Set(fills).size, 2);
  holds(await page.locator('.chart-tick').first().textContent(), '0');
});
await step('what differs is refused, and compared nevertheless', async () => {
  await page.goto('/comparisons?evaluations=better,seeded');
  holds(await page.innerText('main'), 'the seed of');
  await page.click('text=Compare nevertheless');
  holds(await page.innerText('main'), 'Warnings');
});
await step('samples show expected and answer with what differs', async () => {
  await page.goto('/evaluations/worse');
  await page.click('text=40 samples');
  holds(await page.innerText('.sample >> nth=0'), 'the answer is 1');
  equal(await page.locator('.sample >> nth=0').locator('ins').first().innerText(), '1');
  await page.click('text=Next page');
  holds(await page.innerText('main'), 'Sample 39');
  await page.screenshot({ path: `${shots}/evaluator-samples.png` });
});
await step('what models and rows say is text', async () => {
  await page.goto('/evaluations/hostile/samples');
  holds(await page.innerText('.sample'), '<script>window.hacked=1</script>');
  await unharmed(page);
});
await step('the first Tab leads to the content', async () => {
  await page.goto('/');
  await page.keyboard.press('Tab');
  equal(await page.evaluate(() => document.activeElement.className), 'skip');
});
await step('on a phone nothing is wider than the screen', async () => {
  const phone = await open({ viewport: { width: 360, height: 700 }, isMobile: true, hasTouch: true });
  for (const path of ['/', '/evaluations/better', '/evaluations/better/samples', '/comparisons?evaluations=better,worse']) {
    await phone.goto(path);
    equal(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, path);
  }
});
await step('in the dark the ground is dark', async () => {
  const dark = await open({ colorScheme: 'dark' });
  await dark.goto('/evaluations/better');
  equal(await dark.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(19, 22, 21)');
  await dark.screenshot({ path: `${shots}/evaluator-dark.png` });
});
await step('without scripts all of it is there', async () => {
  const plain = await open({ javaScriptEnabled: false });
  await plain.goto('/');
  await plain.check('input[value=better]');
  await plain.check('input[value=worse]');
  await plain.click('text=Compare the chosen ones');
  holds(await plain.locator('main').textContent(), 'Winners');
  await plain.goto('/evaluations/better');
  lacks(await plain.locator('main').textContent(), 'There are no results');
});
await step('no page asks others, runs what users wrote or breaks the policy', async () => equal(faults, []));
await browser.close();
process.exit(failed ? 1 : 0);
