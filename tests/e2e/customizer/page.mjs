// The customizer's pages in Chromium, below a proxy's path: URL=http://… SHOTS=folder node page.mjs
import http from 'node:http';
import { chromium } from 'playwright-core';
import { equal, failed, guard, holds, lacks, page_is_sound, step, unharmed } from './checks.mjs';

const { URL: service, SHOTS: shots } = process.env;
// What is asked for above /tuning/ is not the service's: an absolute link would lead there.
const proxy = http.createServer((request, reply) => {
  if (!request.url.startsWith('/tuning/')) return reply.writeHead(502).end('not below the path');
  const onward = http.request(service + request.url.slice('/tuning'.length), { method: request.method, headers: request.headers }, (got) => {
    reply.writeHead(got.statusCode, got.headers);
    got.pipe(reply);
  });
  onward.on('error', () => reply.writeHead(502).end());
  request.pipe(onward);
});
await new Promise((done) => proxy.listen(0, '127.0.0.1', done));
const base = `http://127.0.0.1:${proxy.address().port}/tuning/`;
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
const every = ['./', 'customizations/first', 'customizations/long', 'customizations/waits'];

await step('all pages are sound', async () => {
  for (const path of every) await page_is_sound(page, path, 120_000);
});
await step('a training changes before the eyes of who watches it', async () => {
  await page.goto('customizations/long');
  const curve = () => page.getAttribute('.chart-line.series-0', 'd');
  const [status, line] = [await page.innerText('[data-part=status]'), await curve()];
  await page.waitForFunction((text) => document.querySelector('[data-part=status]').innerText !== text, status);
  await page.waitForFunction((d) => document.querySelector('.chart-line.series-0').getAttribute('d') !== d, line);
  holds(await page.innerText('.chart-legend'), 'validation (');
  holds(await page.innerText('[data-part=stages]'), 'training');
});
await step('what has not changed stays as it is', async () => {
  await page.evaluate(() => { document.querySelector('[data-part=adapter]').marked = true; });
  const status = await page.innerText('[data-part=status]');
  await page.waitForFunction((text) => document.querySelector('[data-part=status]').innerText !== text, status);
  equal(await page.evaluate(() => document.querySelector('[data-part=adapter]').marked), true);
  await page.screenshot({ path: `${shots}/customizer-training.png`, fullPage: true });
});
await step('curves have colours and a scale', async () => {
  const strokes = await page.locator('.chart-line').evaluateAll((lines) => lines.map((line) => getComputedStyle(line).stroke));
  equal(new Set(strokes).size, 2);
  holds(await page.locator('svg desc').first().textContent(), 'training from');
});
await step('another one says why it waits', async () => {
  await page.goto('customizations/waits');
  holds(await page.innerText('[data-part=status]'), 'waits for 1 other training');
  await page.goto('./');
  holds(await page.innerText('main'), 'waits for 1 other training');
});
await step('its end is seen', async () => {
  await page.goto('customizations/long');
  equal((await fetch(`${service}/v1/customizations/long/cancel`, { method: 'POST' })).status, 200);
  await page.waitForSelector('[data-live] [data-state=final]', { timeout: 60_000 });
  holds(await page.innerText('[data-part=status]'), 'cancelled');
});
await step('the list is filtered by keyboard', async () => {
  await page.goto('./');
  await page.focus('select[name=state]');
  await page.keyboard.type('completed');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL(/state=completed/);
  holds(await page.innerText('main'), 'first');
  lacks(await page.innerText('tbody'), 'long');
});
await step('what has ended has its adapter, log and events', async () => {
  await page.click('text=first');
  await page.waitForURL(/customizations\/first/);
  holds(await page.innerText('[data-part=adapter]'), 'ada/green@1.0.0 is ready');
  holds(await page.innerText('[data-part=log]'), '[upload-1]');
  holds(await page.innerText('[data-part=events]'), 'TrainingJobCompleted');
  const adapter = await fetch(await page.getAttribute('[data-part=adapter] a', 'href'));
  equal((await adapter.json()).adapters[0].status, 'ready');
  await page.focus('.log');
});
await step('its links lead to the API', async () => {
  for (const text of ['JSON', 'Loss curves', 'Whole log']) {
    const address = await page.locator('.downloads a', { hasText: text }).evaluate((it) => it.href);
    equal(address.startsWith(base), true, address);
    equal((await fetch(address)).status, 200, address);
  }
});
await step('what users wrote is text', async () => {
  holds(await page.innerText('main'), '<script>window.hacked=1</script>');
  await unharmed(page);
});
await step('the first Tab leads to the content', async () => {
  await page.goto('./');
  await page.keyboard.press('Tab');
  equal(await page.evaluate(() => document.activeElement.className), 'skip');
});
await step('on a phone nothing is wider than the screen', async () => {
  const phone = await open({ viewport: { width: 360, height: 700 }, isMobile: true, hasTouch: true });
  for (const path of every) {
    await phone.goto(path);
    equal(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, path);
  }
});
await step('in the dark the ground is dark', async () => {
  const dark = await open({ colorScheme: 'dark' });
  await dark.goto('customizations/first');
  equal(await dark.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(19, 22, 21)');
  await dark.screenshot({ path: `${shots}/customizer-dark.png`, fullPage: true });
});
await step('without scripts all of it is there', async () => {
  const plain = await open({ javaScriptEnabled: false });
  await plain.goto('./');
  await plain.click('text=first');
  holds(await plain.locator('main').textContent(), 'is ready');
  equal(await plain.locator('.chart-line').count(), 2);
});
await step('no page asks others, runs what users wrote or breaks the policy', async () => equal(faults, []));
await browser.close();
proxy.close();
process.exit(failed ? 1 : 0);
