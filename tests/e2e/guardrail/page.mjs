// The chat page in Chromium: URL=http://… UPSTREAM=host:port SHOTS=folder node page.mjs
import { chromium } from 'playwright-core';
import { equal, failed, guard, holds, lacks, step, unharmed } from './checks.mjs';

const { URL: base, SHOTS: shots, UPSTREAM: upstream } = process.env;
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: process.getuid() === 0 ? ['--no-sandbox'] : [] });
const faults = [];
const open = async (path = '/', options = {}) => {
  const context = await browser.newContext({ baseURL: base, viewport: { width: 1100, height: 800 }, ...options });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  guard(page, base, faults);
  await page.goto(path);
  await page.waitForSelector('#configuration:enabled');
  return page;
};
const say = async (page, text) => {
  await page.fill('#message', text);
  await page.keyboard.press('Enter');
  await page.waitForSelector('#send:visible');
};
const last = (page) => page.locator('#talk li.assistant').last();
const words = (page) => last(page).locator('.words').innerText();
const badge = (page) => last(page).locator('.rails .badge').innerText();
const page = await open('/?config_id=streaming');

await step('the configurations are listed, with their rails', async () => {
  const names = await page.locator('#configuration option').allInnerTexts();
  holds(names.join(' '), 'masking');
  equal(await page.inputValue('#configuration'), 'streaming');
  holds(await page.innerText('#about'), 'self check output');
  equal(await page.locator('#configuration option[value=broken]').isDisabled(), true);
});
await step('challenges are shown', async () => {
  await page.click('#challenges summary');
  holds(await page.innerText('#challenges'), 'Make it say a forbidden thing');
  await page.click('#challenges summary');
});
await step('an answer comes with the rails that acted', async () => {
  await say(page, 'Hello <b>there</b> <script>window.hacked = 1</script>');
  equal(await words(page), 'echo: Hello <b>there</b> <script>window.hacked = 1</script>');
  equal(await badge(page), 'Passed');
  await last(page).locator('summary').click();
  holds(await last(page).locator('table').innerText(), 'self check input');
  await unharmed(page);
});
await step('a rail that blocks the question is named', async () => {
  await say(page, 'a forbidden thing');
  holds(await words(page), "I can't respond");
  equal(await badge(page), 'Blocked by self check input');
});
await step('one that blocks in mid-stream leaves what was allowed', async () => {
  const text = 'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen';
  await say(page, `say ${text} ${text} for~bidden ${text}`);
  holds(await words(page), 'one two three');
  lacks(await words(page), 'forbidden');
  equal(await badge(page), 'Blocked by self check output');
  await page.screenshot({ path: `${shots}/guardrail-chat.png` });
});
await step('text arrives while it is made', async () => {
  await page.fill('#message', `say ${'one two three four five six seven eight '.repeat(200)}`);
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('#talk li:last-child .words').textContent.length > 20);
  equal(await page.locator('#stop').isVisible(), true, 'it is not over');
});
await step('and stops when it should', async () => {
  await page.click('#stop');
  await page.waitForSelector('#send:visible');
  holds(await page.inputValue('#message'), 'say one two');
  equal(await page.locator('#talk li.coming').count(), 0);
});
await step('what a rail changed is said so, and a whole answer is shown as well', async () => {
  await page.selectOption('#configuration', 'masking');
  equal(await page.locator('#talk li').count(), 0, 'another configuration is another conversation');
  await page.uncheck('#stream');
  await say(page, 'I am ann@example.com');
  equal(await words(page), 'echo: I am <EMAIL_ADDRESS>');
  equal(await badge(page), 'Modified by rails');
});
await step('a conversation goes on', async () => {
  await page.selectOption('#configuration', 'dialog');
  await page.check('#stream');
  await say(page, 'hello');
  equal(await words(page), 'Hello and welcome!');
  await say(page, 'how much is it?');
  holds(await words(page), '42 euros');
});
await step('a refusal of the endpoint is shown, and the question is kept', async () => {
  await page.selectOption('#configuration', 'plain');
  await say(page, 'status 429');
  holds(await page.innerText('#problem'), 'as asked');
  equal(await page.inputValue('#message'), 'status 429');
  equal(await page.locator('#talk li').count(), 0);
});
await step('what was not answered is not part of the conversation, what was is', async () => {
  await say(page, 'one');
  await say(page, 'two');
  const { bodies } = await (await fetch(`http://${upstream}/seen`)).json();
  const sent = bodies.at(-1).body.messages.filter((each) => each.role !== 'system').map((each) => each.content);
  equal(sent, ['one', 'echo: one', 'two']);
});
await step('all of it can be reached by keyboard', async () => {
  await page.click('h1');
  const reached = [];
  for (let i = 0; i < 14; ++i) {
    await page.keyboard.press('Tab');
    reached.push(await page.evaluate(() => document.activeElement.id || document.activeElement.tagName));
  }
  for (const id of ['configuration', 'fresh', 'talk', 'message', 'stream', 'send']) holds(reached.join(' '), id);
});
await step('it is sound: policy, size, labels, one heading', async () => {
  const sizes = [];
  page.on('response', async (each) => sizes.push((await each.body()).length));
  const answer = await page.goto('/');
  holds(answer.headers()['content-security-policy'], "default-src 'none'");
  await page.waitForLoadState('networkidle');
  const whole = sizes.reduce((a, b) => a + b, 0);
  if (whole > 50_000) throw new Error(`${whole} bytes`);
  const lacking = await page.evaluate(() => {
    const out = [];
    if (!document.documentElement.lang) out.push('lang');
    if (document.querySelectorAll('h1').length !== 1) out.push('h1');
    for (const each of document.querySelectorAll('input, select, textarea')) if (!each.labels.length) out.push(`no label: ${each.id}`);
    const ids = [...document.querySelectorAll('[id]')].map((each) => each.id);
    if (new Set(ids).size !== ids.length) out.push('an id twice');
    return out;
  });
  equal(lacking, []);
});
await step('on a phone, in the dark, nothing is wider than the screen', async () => {
  const phone = await open('/?config_id=streaming', { viewport: { width: 360, height: 700 }, colorScheme: 'dark', hasTouch: true });
  await phone.fill('#message', 'a forbidden thing');
  await phone.tap('#send');
  await phone.waitForSelector('.rails');
  await last(phone).locator('summary').click();
  equal(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  await phone.screenshot({ path: `${shots}/guardrail-chat-phone.png` });
});
await step('nothing went wrong on the way', async () => equal(faults, []));
await browser.close();
process.exit(failed ? 1 : 0);
