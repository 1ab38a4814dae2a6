// A server that computes one sequence and lets one request wait: queue.mjs URL MODEL
import { strict as assert } from 'node:assert';
import { check, client, metric, until } from './check.mjs';

const [url, model] = process.argv.slice(2);
const openai = client(url);
const ask = max_tokens => openai.completions.create({ model, prompt: 'abc', max_tokens, ignore_eos: true });

await check('a full queue is 429 with Retry-After, and empties', async () => {
  const all = await Promise.allSettled([...Array(40)].map(() => ask(200)));
  const refused = all.filter(each => each.status === 'rejected').map(each => each.reason);
  assert.ok(refused.length > 0 && refused.length < 40, `${refused.length} of 40`);
  for (const error of refused) {
    assert.equal(error.status, 429);
    assert.equal(error.headers.get('retry-after'), '1');
  }
  assert.equal((await ask(3)).usage.completion_tokens, 3);
  await until('nothing waits', async () => await metric(url, 'num_requests_waiting') === 0);
});

await check('the client\'s own retries get through', async () => {
  const patient = client(url).withOptions({ maxRetries: 10 });
  const all = await Promise.all([...Array(6)].map(() => patient.completions.create({ model, prompt: 'abc', max_tokens: 50, ignore_eos: true })));
  assert.ok(all.every(each => each.usage.completion_tokens === 50));
});
