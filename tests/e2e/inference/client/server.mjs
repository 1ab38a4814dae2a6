// OpenAI's client against a server: server.mjs URL MODEL
import { strict as assert } from 'node:assert';
import OpenAI from 'openai';
import { check, client, metric, until } from './check.mjs';

const [url, model] = process.argv.slice(2);
const openai = client(url);
const messages = [{ role: 'user', content: 'Hi é' }];
const post = (path, body) => fetch(url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

await check('the model is listed and shown', async () => {
  const listed = await openai.models.list();
  assert.deepEqual(listed.data.map(each => each.id), [model]);
  assert.equal((await openai.models.retrieve(model)).owned_by, 'stackgate');
  assert.equal(listed.data[0].max_model_len, 256);
  await assert.rejects(openai.models.retrieve('nobody'), error =>
    error instanceof OpenAI.NotFoundError && error.type === 'NotFoundError' && error.param === 'model');
});

await check('the licence of the model is shown', async () => {
  const got = await fetch(`${url}/v1/license`);
  assert.equal(got.status, 200);
  const license = await got.json();
  assert.equal(license.path, 'LICENSE');
  assert.equal(license.content, 'Use it as you like.\n');
  assert.equal(license.size, 20);
});

await check('a chat, whole and as a stream, has the same text', async () => {
  const body = { model, messages, max_tokens: 24, seed: 11 };
  const whole = await openai.chat.completions.create(body);
  assert.equal(whole.choices[0].finish_reason, 'length');
  assert.equal(whole.usage.completion_tokens, 24);
  let text = '', role, last, usage;
  for await (const chunk of await openai.chat.completions.create({ ...body, stream: true, stream_options: { include_usage: true } })) {
    role ??= chunk.choices[0]?.delta.role;
    text += chunk.choices[0]?.delta.content ?? '';
    last = chunk.choices[0]?.finish_reason ?? last;
    usage = chunk.usage ?? usage;
  }
  assert.equal(role, 'assistant');
  assert.equal(text, whole.choices[0].message.content);
  assert.equal(last, 'length');
  assert.equal(usage.total_tokens, whole.usage.total_tokens);
});

await check('a seed gives the same text alone and in a crowd', async () => {
  const one = i => openai.completions.create({ model, prompt: 'x'.repeat(1 + i * 3), max_tokens: 20 + i, seed: i, n: 1 + i % 3, temperature: 0.8 });
  const alone = [];
  for (let i = 0; i < 16; ++i) alone.push(await one(i));
  const crowd = await Promise.all([...Array(16).keys()].map(one));
  for (let i = 0; i < 16; ++i) assert.deepEqual(crowd[i].choices, alone[i].choices, `request ${i}`);
});

await check('lm-eval\'s scoring request: echo with log-probabilities, one token, token ids', async () => {
  const prompts = [[72, 101, 108, 108, 111], [1, 2], [65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82]];
  const got = await openai.completions.create({ model, prompt: prompts, max_tokens: 1, temperature: 0, logprobs: 1, echo: true, seed: 1234 });
  assert.deepEqual(got.choices.map(each => each.index), [0, 1, 2]);
  got.choices.forEach(({ logprobs }, i) => {
    assert.equal(logprobs.token_logprobs.length, prompts[i].length + 1);
    assert.equal(logprobs.token_logprobs[0], null);
    assert.equal(logprobs.top_logprobs[0], null);
    for (const top of logprobs.top_logprobs.slice(1)) assert.ok(Object.keys(top).length >= 1 && Object.keys(top).length <= 2);
    // The generated token is the likeliest: its number is the very one of the list.
    assert.equal(logprobs.token_logprobs.at(-1), Math.max(...Object.values(logprobs.top_logprobs.at(-1))));
  });
  // Scored alone, a prompt has the same numbers up to rounding.
  const alone = await openai.completions.create({ model, prompt: prompts[2], max_tokens: 0, logprobs: 1, echo: true });
  alone.choices[0].logprobs.token_logprobs.slice(1).forEach((value, i) =>
    assert.ok(Math.abs(value - got.choices[2].logprobs.token_logprobs[i + 1]) < 1e-3));
});

await check('a continuation is likelier than it was told: prompt log-probabilities agree with the tokens\' own', async () => {
  const first = await openai.completions.create({ model, prompt: [80, 81, 82], max_tokens: 12, temperature: 0, logprobs: 0 });
  const ids = (await (await post('/tokenize', { prompt: '' })).json()).tokens;
  assert.deepEqual(ids, []);
  assert.equal(first.choices[0].logprobs.token_logprobs.length, 12);
});

await check('stop texts end the text, across tokens, and say which it was', async () => {
  const whole = (await openai.completions.create({ model, prompt: 'abc', max_tokens: 40, seed: 5 })).choices[0].text;
  const characters = [...whole];
  const stop = characters.slice(6, 8).join('');
  const cut = (await openai.completions.create({ model, prompt: 'abc', max_tokens: 40, seed: 5, stop: [stop] })).choices[0];
  assert.equal(cut.text, whole.slice(0, whole.indexOf(stop)));
  assert.equal(cut.finish_reason, 'stop');
  assert.equal(cut.stop_reason, stop);
});

await check('JSON by a schema parses and fits it', async () => {
  const schema = { type: 'object', additionalProperties: false, required: ['id', 'tags', 'kind'],
    properties: { id: { type: 'integer', minimum: 1, maximum: 99 }, tags: { type: 'array', items: { type: 'string', maxLength: 4 }, maxItems: 3 }, kind: { enum: ['a', 'b'] } } };
  for (let seed = 0; seed < 8; ++seed) {
    const got = await openai.chat.completions.create({ model, messages, seed, max_tokens: 200, response_format: { type: 'json_schema', json_schema: { name: 'thing', schema } } });
    const value = JSON.parse(got.choices[0].message.content);
    assert.deepEqual(Object.keys(value).sort(), ['id', 'kind', 'tags']);
    assert.ok(value.id >= 1 && value.id <= 99 && ['a', 'b'].includes(value.kind) && value.tags.length <= 3);
  }
});

await check('a tool that is asked for is called, with arguments that fit', async () => {
  const tools = ['first', 'second'].map(name => ({ type: 'function', function: { name, parameters: { type: 'object', properties: { n: { type: 'integer', minimum: 0, maximum: 9 } }, required: ['n'], additionalProperties: false } } }));
  const body = { model, messages, tools, seed: 3, max_tokens: 200 };
  const named = await openai.chat.completions.create({ ...body, tool_choice: { type: 'function', function: { name: 'second' } } });
  const [call] = named.choices[0].message.tool_calls;
  assert.equal(named.choices[0].finish_reason, 'tool_calls');
  assert.equal(call.function.name, 'second');
  assert.ok(JSON.parse(call.function.arguments).n <= 9);
  const calls = [];
  let last;
  for await (const chunk of await openai.chat.completions.create({ ...body, tool_choice: 'required', stream: true })) {
    calls.push(...chunk.choices[0].delta.tool_calls ?? []);
    last = chunk.choices[0].finish_reason ?? last;
  }
  assert.equal(calls.length, 1);
  assert.ok(['first', 'second'].includes(calls[0].function.name));
  assert.equal(last, 'tool_calls');
});

await check('embeddings have length one, as floats and as base64', async () => {
  const got = await openai.embeddings.create({ model, input: ['one', 'two two'] });  // the client asks for base64
  const floats = await openai.embeddings.create({ model, input: ['one', 'two two'], encoding_format: 'float' });
  for (const { index, embedding } of floats.data) {
    assert.ok(Math.abs(Math.hypot(...embedding) - 1) < 1e-4);
    embedding.forEach((value, i) => assert.ok(Math.abs(value - got.data[index].embedding[i]) < 1e-6));
  }
});

await check('texts become tokens and texts again', async () => {
  const { tokens, count, max_model_len } = await (await post('/v1/tokenize', { prompt: 'Grüße 🙂', model })).json();
  assert.equal(tokens.length, count);
  assert.equal(max_model_len, 256);
  assert.equal((await (await post('/detokenize', { tokens })).json()).prompt, 'Grüße 🙂');
  assert.deepEqual(await (await fetch(`${url}/tokenizer_info`)).json(), {});
});

await check('the best of several is the likeliest', async () => {
  const body = { model, prompt: 'best', max_tokens: 6, seed: 9, logprobs: 0 };
  const mean = choice => choice.logprobs.token_logprobs.reduce((a, b) => a + b) / choice.logprobs.token_logprobs.length;
  const all = await openai.completions.create({ ...body, n: 5 });
  const best = await openai.completions.create({ ...body, n: 1, best_of: 5 });
  assert.equal(best.choices.length, 1);
  assert.equal(mean(best.choices[0]), Math.max(...all.choices.map(mean)));
});

await check('what is wrong is told at once, in OpenAI\'s form', async () => {
  const fault = async (path, body, status, param, words) => {
    const answer = await post(path, body);
    const { error } = await answer.json();
    assert.equal(answer.status, status, JSON.stringify(error));
    assert.equal(error.param, param, JSON.stringify(error));
    for (const word of words) assert.ok(error.message.includes(word), `${word} in ${error.message}`);
  };
  await fault('/v1/completions', { model, prompt: 'x', n: 0, temperature: 9, suffix: 's' }, 400, 'n', ['temperature', 'suffix']);
  await fault('/v1/completions', { model, prompt: 'x'.repeat(300) }, 400, 'prompt', ['300', '256']);
  await fault('/v1/completions', { model, prompt: 'x'.repeat(200), max_tokens: 100 }, 400, 'max_tokens', ['200', '256', '56']);
  await fault('/v1/completions', { model: 'nobody', prompt: 'x' }, 404, 'model', ['nobody', 'does not exist']);
  await fault('/v1/completions', { model, peft_name: 'nobody', prompt: 'x' }, 404, 'peft_name', ['nobody']);
  await fault('/v1/chat/completions', { model, messages: [{ content: 'x' }] }, 400, 'messages[0]', []);
  await fault('/v1/chat/completions', { model, messages, response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'string', pattern: '^(?=a)' } } } }, 400, 'response_format.json_schema.schema.pattern', []);
  await fault('/v1/completions', [], 400, null, []);
});

await check('a client that leaves frees its place', async () => {
  const stream = await openai.completions.create({ model, prompt: 'long', max_tokens: 250, ignore_eos: true, stream: true });
  const running = [];
  for (let i = 0; i < 4; ++i) running.push(openai.completions.create({ model, prompt: 'long', max_tokens: 250, ignore_eos: true, stream: true }));
  for await (const _ of stream) break;
  stream.controller.abort();
  for (const each of await Promise.all(running)) each.controller.abort();
  await until('nothing runs', async () => await metric(url, 'num_requests_running') === 0 && await metric(url, 'vllm:num_requests_running') === 0);
  await until('the cache is free', async () => await metric(url, 'gpu_cache_usage_perc') === 0);
});

await check('the figures of dashboards are there', async () => {
  for (const name of ['vllm:iteration_tokens_total_count', 'vllm:request_queue_time_seconds_count', 'num_requests_waiting', 'num_request_max', 'prompt_tokens_total', 'generation_tokens_total', 'time_to_first_token_seconds_count', 'e2e_request_latency_seconds_count', 'request_success_total', 'vllm:prefix_cache_hits_total', 'vllm:request_success_total', 'vllm:time_per_output_token_seconds_count'])
    assert.ok(!Number.isNaN(await metric(url, name)), name);
  assert.ok(await metric(url, 'generation_tokens_total') > 100);
  assert.equal((await fetch(`${url}/v1/metrics`)).status, 200);
  // Of whole answers, too, the first token comes before the last.
  const sum = name => metric(url, `vllm:${name}_seconds_sum`);
  const before = await sum('request_decode_time');
  await openai.completions.create({ model, prompt: 'x', max_tokens: 60, ignore_eos: true });
  await until('it is counted', async () => await sum('request_decode_time') > before);
  assert.ok(await sum('time_to_first_token') < await sum('e2e_request_latency'));
});
