// Shows our answers to OpenAI's client, through its own `fetch`, and keeps what it sends: client.mjs ANSWERS REQUESTS
import { strict as assert } from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';
import OpenAI from 'openai';

const answers = new Map(
  readFileSync(process.argv[2], 'utf8').trim().split('\n').map(line => JSON.parse(line)).map(({ name, body }) => [name, body]));
const sent = [];
let next;
const client = new OpenAI({
  apiKey: 'none', baseURL: 'http://stackgate.test/v1', maxRetries: 0,
  fetch: async (url, options) => {
    sent.push({ path: new URL(url).pathname.slice(3), body: options.body ? JSON.parse(options.body) : null });
    const { name, status = 200, cut } = next;
    const type = name.endsWith('stream') ? 'text/event-stream' : 'application/json';
    const bytes = new TextEncoder().encode(answers.get(name));
    // Streams come in pieces of any size.
    const body = cut ? new ReadableStream({ start(to) {
      for (let at = 0; at < bytes.length; at += cut) to.enqueue(bytes.slice(at, at + cut));
      to.close();
    } }) : bytes;
    return new Response(body, { status, headers: { 'content-type': type } });
  },
});

async function check(what, body) {
  try {
    await body();
    console.log(`ok ${what}`);
  } catch (error) {
    console.log(`not ok ${what}\n${error.stack}`);
    process.exitCode = 1;
  }
}
const given = (name, more = {}) => { next = { name, ...more }; };
const messages = [{ role: 'user', content: 'hi' }];
const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: { a: { type: 'integer' } } } } }];
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, prompt_tokens_details: { cached_tokens: 1 } };

await check('a completion with log-probabilities', async () => {
  given('completion');
  const got = await client.completions.create({ model: 'base', prompt: [1, 2, 3], logprobs: 2, echo: false, seed: 1, stop: ['\n'], peft_name: 'a' });
  assert.equal(got.object, 'text_completion');
  assert.equal(got.choices[0].text, 'éx');
  assert.equal(got.choices[0].finish_reason, 'stop');
  assert.deepEqual(got.choices[0].logprobs.tokens, ['é', 'x']);
  assert.equal(got.choices[0].logprobs.token_logprobs[0], got.choices[0].logprobs.top_logprobs[0]['é']);
  assert.deepEqual(got.usage, usage);
});
await check('a completion as a stream', async () => {
  given('completion stream', { cut: 5 });
  let text = '', last;
  for await (const chunk of await client.completions.create({ model: 'base', prompt: 'p', stream: true, stream_options: { include_usage: true } })) {
    text += chunk.choices[0]?.text ?? '';
    last = chunk;
  }
  assert.equal(text, 'éx');
  assert.deepEqual(last.usage, usage);
});
await check('a chat', async () => {
  given('chat');
  const got = await client.chat.completions.create({ model: 'base', messages, logprobs: true, top_logprobs: 2, max_completion_tokens: 9, user: 'u', store: false });
  assert.equal(got.choices[0].message.content, 'éx');
  assert.deepEqual(got.choices[0].logprobs.content[0].bytes, [195, 169]);
  assert.equal(got.choices[0].logprobs.content[0].top_logprobs.length, 2);
});
await check('a chat as a stream, put together by the client', async () => {
  given('chat stream', { cut: 7 });
  const stream = client.chat.completions.stream({ model: 'base', messages, logprobs: true, top_logprobs: 2, stream_options: { include_usage: true } });
  const got = await stream.finalChatCompletion();
  assert.equal(got.choices[0].message.content, 'éx');
  assert.equal(got.choices[0].finish_reason, 'stop');
  assert.equal(got.choices[0].logprobs.content.length, 2);
  assert.deepEqual(await stream.totalUsage().then(({ total_tokens }) => total_tokens), 5);
});
await check('a tool call', async () => {
  given('tool');
  const got = await client.chat.completions.create({ model: 'base', messages, tools, tool_choice: 'required', parallel_tool_calls: false });
  assert.equal(got.choices[0].message.content, null);
  assert.deepEqual(JSON.parse(got.choices[0].message.tool_calls[0].function.arguments), { a: 1 });
});
await check('a tool call as a stream', async () => {
  given('tool stream', { cut: 11 });
  const got = await client.chat.completions.stream({ model: 'base', messages, tools }).finalChatCompletion();
  const [call] = got.choices[0].message.tool_calls;
  assert.equal(call.id, 'call_1');
  assert.deepEqual(call.function.arguments, '{"a":1}');
  assert.equal(got.choices[0].finish_reason, 'tool_calls');
});
await check('an error within a stream', async () => {
  given('broken stream');
  const stream = await client.chat.completions.create({ model: 'base', messages, stream: true });
  await assert.rejects(async () => { for await (const _ of stream); }, error => error.error?.message === 'the server stops' || /the server stops/.test(error.message));
});
await check('the models', async () => {
  given('models');
  const got = [];
  for await (const model of client.models.list()) got.push(model);
  assert.deepEqual(got.map(({ id, owned_by, parent }) => [id, owned_by, parent]), [['base', 'stackgate', null], ['a', 'peft', 'base']]);
});
await check('embeddings, which the client asks for in base64', async () => {
  given('embeddings base64');
  const got = await client.embeddings.create({ model: 'base', input: 'x' });
  assert.equal(sent.at(-1).body.encoding_format, 'base64');
  assert.deepEqual([...got.data[0].embedding], [0.5, -0.25]);
  given('embeddings');
  assert.deepEqual((await client.embeddings.create({ model: 'base', input: ['x'], encoding_format: 'float' })).data[0].embedding, [0.5, -0.25]);
});
await check('refusals', async () => {
  given('no model', { status: 404 });
  await assert.rejects(client.completions.create({ model: 'x', prompt: 'p' }), error =>
    error instanceof OpenAI.NotFoundError && error.param === 'model' && error.type === 'NotFoundError' && error.code === 404);
  given('faults', { status: 400 });
  await assert.rejects(client.completions.create({ model: 'x', prompt: 'p' }), error =>
    error instanceof OpenAI.BadRequestError && error.param === 'n');
});
await check('a schema for the answer', async () => {
  given('chat');
  await client.chat.completions.create({ model: 'base', messages, response_format: { type: 'json_schema', json_schema: { name: 'n', strict: true, schema: tools[0].function.parameters } } });
});
writeFileSync(process.argv[3], sent.filter(({ body }) => body).map(each => JSON.stringify(each) + '\n').join(''));
