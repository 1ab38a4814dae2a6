// Clients that read nothing of their streams: slow.mjs URL MODEL PID
import { strict as assert } from 'node:assert';
import fs from 'node:fs';
import net from 'node:net';
import { check, client, metric, until } from './check.mjs';

const [url, model, pid] = process.argv.slice(2);
const openai = client(url);
const resident = () => Number(/VmRSS:\s*(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
const quick = () => openai.completions.create({ model, prompt: 'abc', max_tokens: 20, ignore_eos: true }, { timeout: 10_000, maxRetries: 0 });
const choices = 128, tokens = 240;
// Some 40 MB each, far beyond what the kernel keeps for a connection.
const body = JSON.stringify({ model, prompt: 'abc', n: choices, max_tokens: tokens, ignore_eos: true, stream: true, logprobs: 20, seed: 5 });

/// A connection that has asked and of which nothing is read.
function begin() {
  const { hostname, port } = new URL(url);
  const socket = net.connect({ host: hostname, port, highWaterMark: 1024 });
  socket.pause();
  socket.on('error', () => {});
  socket.write(`POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  return socket;
}
const generated = () => metric(url, 'generation_tokens_total');
/// Until no more is generated for a second.
async function held() {
  for (let before = -1, now = await generated(); now !== before;) {
    await new Promise(done => setTimeout(done, 1000));
    [before, now] = [now, await generated()];
  }
  return generated();
}

await quick();
const before = resident(), slow = [];
await check('streams that nobody reads are held', async () => {
  for (let i = 0; i < 4; ++i) slow.push(begin());
  await until('they have begun', async () => await generated() > 1000);
  const until_now = await held();
  assert.ok(until_now < 4 * choices * tokens, `${until_now} tokens were generated: all of them`);
});
await check('they stop nobody', async () => {
  const all = await Promise.all([...Array(8)].map(quick));
  assert.ok(all.every(each => each.usage.completion_tokens === 20));
});
await check('they take no memory', async () => {
  const grown = resident() - before;
  assert.ok(grown < 48, `${grown.toFixed(0)} MiB more`);
});
await check('one that reads on gets all of it', async () => {
  let text = '';
  const count = Array(choices).fill(0);
  const line = /^data: (.*)$/;
  const reader = slow[0];
  reader.setEncoding('utf8');
  let done = false, rest = '';
  for await (const piece of reader) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop();
    for (const each of lines) {
      const found = line.exec(each.trimEnd());
      if (!found) continue;
      if (found[1] === '[DONE]') { done = true; continue; }
      for (const choice of JSON.parse(found[1]).choices) count[choice.index] += choice.logprobs.tokens.length;
    }
  }
  assert.ok(done, 'the stream ends');
  assert.deepEqual(count, Array(choices).fill(tokens));
});
await check('those that leave free their places', async () => {
  for (const socket of slow) socket.destroy();
  await until('nothing runs or waits', async () =>
    await metric(url, 'num_requests_running') === 0 && await metric(url, 'num_requests_waiting') === 0);
});
