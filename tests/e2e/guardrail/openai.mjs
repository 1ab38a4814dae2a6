// OpenAI's client against a guardrail: openai.mjs URL UPSTREAM
import { strict as assert } from 'node:assert';
import OpenAI from 'openai';
import { check, client, until } from './check.mjs';

const [url, upstream] = process.argv.slice(2);
const openai = client(url);
const body = (config_id, content, more) => ({ model: 'main-model', messages: [{ role: 'user', content }], guardrails: { config_id }, ...more });
const ask = (config_id, content, more, options) => openai.chat.completions.create(body(config_id, content, more), options);
const refusal = "I'm sorry, I can't respond to that.";
const tools = [{ type: 'function', function: { name: 'lookup', parameters: { type: 'object' } } }];
const words = 'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen';
const seen = async () => (await fetch(`http://${upstream}/seen`)).json();
const forget = () => fetch(`http://${upstream}/reset`);
async function streamed(config_id, content, more) {
  const out = { text: '', ids: new Set(), chunks: 0, calls: [] };
  for await (const chunk of await ask(config_id, content, { stream: true, ...more })) {
    out.ids.add(chunk.id);
    ++out.chunks;
    const choice = chunk.choices[0];
    out.text += choice?.delta.content ?? '';
    for (const call of choice?.delta.tool_calls ?? []) {
      const into = out.calls[call.index] ??= { name: '', arguments: '' };
      into.name += call.function.name ?? '';
      into.arguments += call.function.arguments ?? '';
    }
    out.reason = choice?.finish_reason ?? out.reason;
    out.usage = chunk.usage ?? out.usage;
    out.guardrails = chunk.guardrails ?? out.guardrails;
  }
  return out;
}
const failure = promise => promise.then(() => assert.fail('it was answered'), error => error);

await check('the models are the endpoint\'s', async () => {
  assert.deepEqual((await openai.models.list()).data.map(each => each.id), ['main-model']);
});

await check('a chat, whole', async () => {
  const got = await ask('strict', 'Hello');
  assert.equal(got.object, 'chat.completion');
  assert.equal(got.choices[0].message.content, 'echo: Hello');
  assert.equal(got.choices[0].finish_reason, 'stop');
  assert.equal(got.usage.total_tokens, got.usage.prompt_tokens + got.usage.completion_tokens);
  assert.equal(got.guardrails.status, 'passed');
});

await check('a refusal is an answer that the content filter ended', async () => {
  const got = await ask('strict', 'a forbidden thing');
  assert.equal(got.choices[0].message.content, refusal);
  assert.equal(got.choices[0].finish_reason, 'content_filter');
  assert.deepEqual([got.guardrails.status, got.guardrails.rail], ['blocked', 'self check input']);
});

await check('a stream, with and without rails, has one id and its usage', async () => {
  for (const config of ['plain', 'streaming']) {
    const got = await streamed(config, `say ${words}`, { stream_options: { include_usage: true } });
    assert.equal(got.text, words);
    assert.equal(got.ids.size, 1);
    assert.equal(got.reason, 'stop');
    assert.ok(got.usage.total_tokens >= 0);
    assert.ok(got.chunks >= (config === 'plain' ? 16 : 5), `${got.chunks} chunks`);
  }
  assert.equal((await streamed('streaming', 'forbidden')).text, refusal);
});

await check('a violation in mid-stream is an error of the client\'s, after what was allowed', async () => {
  let text = '';
  const error = await failure((async () => {
    for await (const chunk of await ask('streaming', `say ${words} ${words} for~bidden ${words}`, { stream: true })) text += chunk.choices[0].delta.content ?? '';
  })());
  assert.ok(error instanceof OpenAI.APIError, error.stack);
  assert.deepEqual([error.type, error.code, error.param], ['guardrails_violation', 'content_blocked', 'self check output']);
  assert.ok(text.startsWith('one two') && !text.includes('forbidden'), text);
});

await check('a model that breaks in mid-stream is an error, too, and not the end of an answer', async () => {
  for (const how of ['break', 'cut']) {
    let text = '';
    const error = await failure((async () => {
      for await (const chunk of await ask('plain', `${how} 4 say ${words}`, { stream: true })) text += chunk.choices[0].delta.content ?? '';
    })());
    assert.ok(error instanceof OpenAI.APIError, error.stack);
    assert.equal(text.trim(), 'one two three four');
  }
});

await check('the endpoint\'s refusals keep their status, their words and Retry-After', async () => {
  const limited = await failure(ask('plain', 'status 429'));
  assert.ok(limited instanceof OpenAI.RateLimitError, limited.stack);
  assert.equal(limited.headers.get('retry-after'), '7');
  const wrong = await failure(ask('plain', 'status 400'));
  assert.ok(wrong instanceof OpenAI.BadRequestError, wrong.stack);
  assert.match(wrong.message, /as asked/);
  const late = await failure(ask('plain', 'status 429', { stream: true }));
  assert.ok(late instanceof OpenAI.RateLimitError, late.stack);
  assert.equal(late.headers.get('retry-after'), '7');
});

await check('faults of a request name the member', async () => {
  const unknown = await failure(ask('plai', 'Hello'));
  assert.ok(unknown instanceof OpenAI.UnprocessableEntityError, unknown.stack);
  assert.equal(unknown.param, 'config_id');
  assert.match(unknown.message, /plain/);
  assert.ok(await failure(openai.chat.completions.create({ model: 'm', messages: [] })) instanceof OpenAI.BadRequestError);
});

await check('calls of tools pass, whole and streamed, and their results go back', async () => {
  const whole = await ask('plain', 'use the tool', { tools });
  assert.equal(whole.choices[0].finish_reason, 'tool_calls');
  assert.deepEqual(whole.choices[0].message.tool_calls[0], { id: 'call_1', type: 'function', function: { name: 'lookup', arguments: '{"q":"x"}' } });
  for (const config of ['plain', 'limits']) {
    const got = await streamed(config, 'use the tool', { tools });
    assert.deepEqual([got.reason, ...got.calls], ['tool_calls', { name: 'lookup', arguments: '{"q":"x"}' }], config);
  }
  const final = await openai.chat.completions.stream(body('plain', 'use the tool', { tools })).finalMessage();
  assert.equal(final.tool_calls[0].function.arguments, '{"q":"x"}');
  await forget();
  const after = await openai.chat.completions.create({ ...body('plain', 'use the tool', { tools }), messages: [
    { role: 'user', content: 'use the tool' }, whole.choices[0].message, { role: 'tool', tool_call_id: 'call_1', content: 'found it' }] });
  assert.equal(after.choices[0].message.content, 'echo: found it');
  assert.equal((await seen()).bodies.at(-1).body.messages.at(-1).tool_call_id, 'call_1');
});

await check('a client that does not wait ends the endpoint\'s call', async () => {
  await forget();
  const error = await failure(ask('plain', 'slow 20000', {}, { timeout: 300 }));
  assert.ok(error instanceof OpenAI.APIConnectionTimeoutError, error.stack);
  await until('the endpoint saw it leave', async () => (await seen()).left_streams === 1);
});

await check('a client that leaves a stream ends it, with rails and without', async () => {
  for (const config of ['plain', 'streaming']) {
    await forget();
    const stream = await ask(config, `say ${`${words} `.repeat(100)}`, { stream: true });
    for await (const chunk of stream) if (chunk.choices[0].delta.content) break;
    stream.controller.abort();
    await until(`the endpoint saw it leave (${config})`, async () => (await seen()).left_streams === 1);
  }
});
