// Calls of tools that a model begins by itself, of a model whose every token would be "<tool_call>": calls.mjs URL MODEL
import { strict as assert } from 'node:assert';
import { check, client } from './check.mjs';

const [url, model] = process.argv.slice(2);
const openai = client(url);
const mark = 256, blanks = [197, 198, 201, 220]; // token ids; the blanks are tab, newline, return and space
const tools = ['first', 'second'].map(name => ({ type: 'function', function: { name, parameters: { type: 'object', properties: { n: { type: 'integer', minimum: 0, maximum: 9 } }, required: ['n'], additionalProperties: false } } }));
const body = { model, messages: [{ role: 'user', content: 'Hi' }], tools, temperature: 0, max_tokens: 80, stop: ['}}'], include_stop_str_in_output: true,
  logit_bias: Object.fromEntries([[mark, 100], ...blanks.map(id => [id, -100])]) };

await check('a call that the model begins is held to the tools', async () => {
  const { choices: [choice] } = await openai.chat.completions.create(body);
  assert.equal(choice.finish_reason, 'tool_calls', JSON.stringify(choice));
  const [call] = choice.message.tool_calls;
  assert.ok(['first', 'second'].includes(call.function.name));
  assert.deepEqual(Object.keys(JSON.parse(call.function.arguments)), ['n']);
});

await check('so it is in a stream', async () => {
  const calls = [];
  for await (const chunk of await openai.chat.completions.create({ ...body, stream: true })) calls.push(...chunk.choices[0].delta.tool_calls ?? []);
  assert.equal(calls.length, 1);
  assert.ok(JSON.parse(calls[0].function.arguments).n <= 9);
});

await check('without tools, or where none is wanted, text is free', async () => {
  for (const more of [{ tools: undefined }, { tool_choice: 'none' }]) {
    const { choices: [choice] } = await openai.chat.completions.create({ ...body, ...more, max_tokens: 3 });
    assert.equal(choice.message.content, '<tool_call>'.repeat(3));
  }
});
