// A guardrail with places for two calls of models and for two that wait: overload.mjs URL UPSTREAM
import { strict as assert } from 'node:assert';
import { check, client, metric, until } from './check.mjs';

const [url, upstream] = process.argv.slice(2);
const openai = client(url);
const ask = (content, options) => openai.chat.completions.create({ model: 'm', messages: [{ role: 'user', content }], guardrails: { config_id: 'plain' } }, options);
const seen = async () => (await fetch(`http://${upstream}/seen`)).json();
const waiting = () => metric(url, 'stackgate_guardrail_model_calls_waiting');

await check('what no place waits for is 503 at once, with Retry-After; the others are answered', async () => {
  const began = performance.now();
  const all = await Promise.all([...Array(24)].map(() => ask('slow 3000').then(
    () => ({ status: 200 }), error => ({ status: error.status, after: error.headers?.get('retry-after'), took: performance.now() - began }))));
  const refused = all.filter(each => each.status !== 200);
  assert.equal(all.length - refused.length, 4, JSON.stringify(all));
  for (const each of refused) {
    assert.equal(each.status, 503);
    assert.match(each.after ?? '', /^[0-9]+$/);
    assert.ok(each.took < 2500, `${each.took} ms`);
  }
});

await check('afterwards there is room', async () => {
  assert.equal((await ask('Hello')).choices[0].message.content, 'echo: Hello');
});

await check('who leaves gives up a place, in the queue and before the endpoint', async () => {
  await fetch(`http://${upstream}/reset`);
  const start = (controller) => [1, 2].map(() => ask('slow 30000', { signal: controller.signal }).catch(error => error.name));
  const [before, behind] = [new AbortController(), new AbortController()];
  const all = start(before);
  await until('two are asked', async () => (await seen()).bodies.length === 2);
  all.push(...start(behind));
  await until('two wait', async () => await waiting() === 2);
  behind.abort();
  await until('nobody waits', async () => await waiting() === 0);
  assert.equal((await seen()).left_streams, 0, 'the others go on');
  before.abort();
  await Promise.all(all);
  await until('the endpoint saw both leave', async () => (await seen()).left_streams === 2);
  assert.equal((await seen()).bodies.length, 2, 'who waited was never sent');
  assert.equal((await ask('Hello')).choices[0].message.content, 'echo: Hello');
});
