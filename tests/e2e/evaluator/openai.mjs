// OpenAI's client beside the evaluator: openai.mjs requests|answers URL FOLDER
//   requests  asks the endpoint, which keeps what it is asked, for what the evaluator was to ask, and compares both
//   answers   asks the model, and compares with the records of the evaluator's samples
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import OpenAI from 'openai';
import { check } from './check.mjs';

const [mode, url, folder] = process.argv.slice(2);
const openai = new OpenAI({ apiKey: 'sk-second', baseURL: `${url}/v1`, maxRetries: 0 });
const read = name => readFileSync(`${folder}/${name}`, 'utf8');
const lines = name => read(name).trim().split('\n').map(line => JSON.parse(line));
const rows = lines('rows/test.jsonl');
const documents = lines('rows/corpus.jsonl'), queries = lines('rows/queries.jsonl').map(each => each.text);
const model = mode === 'answers' ? 'tiny' : 'main-model';
const seed = 1234;

// What a reader of the documentation would write; nothing of it is taken from the evaluator's requests.
const score = prompt => openai.completions.create({ model, prompt, max_tokens: 1, temperature: 0, echo: true, logprobs: 1, seed });
const complete = prompt => openai.completions.create({ model, prompt, max_tokens: 12, temperature: 0, stop: ['\n', 'wish'], seed });
const chat = content => openai.chat.completions.create({
  model, messages: [{ role: 'user', content }], max_tokens: 12, temperature: 0.25, top_p: 0.5, stop: ['\n', 'wish'], seed });
const call = row => openai.chat.completions.create({ model, messages: row.messages, tools: row.tools, max_tokens: 256, temperature: 0, seed });
const embed = input => openai.embeddings.create({ model, input, encoding_format: 'float' });

/** Members in order of their names, so that equal meanings are equal texts. */
const sorted = value => Array.isArray(value) ? value.map(sorted)
  : value !== null && typeof value === 'object' ? Object.fromEntries(Object.keys(value).sort().map(key => [key, sorted(value[key])])) : value;
const seen = async () => (await fetch(`${url}/seen`)).json();
const meanings = asked => asked.bodies.map(each => JSON.stringify(sorted(each))).sort();

/** `ask` is the client's side of the evaluation; paths, keys and bodies must be the evaluator's, each as often. */
async function compare(name, ask) {
  await fetch(`${url}/reset`);
  await ask();
  const theirs = JSON.parse(read(`asked/${name}.json`));
  assert.ok(theirs.bodies.length > 0);
  assert.deepEqual(meanings(theirs), meanings(await seen()));
}

async function requests() {
  await check('choices: echo, log-probabilities and one token, after a probe without a seed', () => compare('ends', async () => {
    await openai.completions.create({ model, prompt: 'The capital of France is Paris.', max_tokens: 1, temperature: 0, echo: true, logprobs: 1 });
    for (const { start, ends } of rows) for (const end of ends) await score(`${start} ${end}`);
  }));
  await check('completions', () => compare('completed', async () => { for (const { start } of rows) await complete(start); }));
  await check('chats', () => compare('chat', async () => { for (const { start } of rows) await chat(start); }));
  await check('tools, calls of them and their results', () => compare('calls', async () => { for (const row of lines('rows/calls.jsonl')) await call(row); }));
  await check('embeddings', () => compare('searched', async () => {
    await embed(documents.map(each => each.text));
    for (const query of queries) await embed([query]);
  }));
  await check('what the evaluator asks for, the client reads', async () => {
    for (const { body } of JSON.parse(read('asked/ends.json')).bodies) {
      const { logprobs } = (await openai.completions.create(body)).choices[0];
      assert.equal(logprobs.tokens.length, logprobs.token_logprobs.length);
      assert.equal(logprobs.token_logprobs[0], null);
    }
  });
}

const records = name => JSON.parse(read(`records/${name}.json`)).data.map(each => each.record);
const normal = vector => { const length = Math.hypot(...vector); return vector.map(each => each / length); };
const cosine = (a, b) => a.reduce((sum, each, i) => sum + each * b[i], 0);

async function answers() {
  await check('log-probabilities of choices', async () => {
    const found = records('ends');
    for (const [i, { start, ends }] of rows.entries()) for (const [j, end] of ends.entries()) {
      const prompt = `${start} ${end}`;
      const { tokens, token_logprobs, text_offset } = (await score(prompt)).choices[0].logprobs;
      const length = text => [...text].length;
      // A token over the boundary belongs to what follows it.
      const sum = token_logprobs.reduce((all, each, k) =>
        text_offset[k] + length(tokens[k]) > length(start) && text_offset[k] < length(prompt) ? all + each : all, 0);
      assert.ok(Math.abs(sum - found[i].resps[j][0]) < 1e-3, `row ${i}, end ${j}: ${sum}, and the evaluator's ${found[i].resps[j][0]}`);
    }
  });
  for (const [name, ask, text] of [['completed', complete, choice => choice.text], ['chat', chat, choice => choice.message.content]])
    await check(`texts: ${name}`, async () => {
      const found = records(name);
      for (const [i, { start }] of rows.entries()) assert.equal(text((await ask(start)).choices[0]), found[i].resps[0], `row ${i}`);
      assert.ok(found.some(each => each.resps[0].length > 3), 'all of them are empty');
    });
  await check('vectors: the same document is the nearest', async () => {
    const found = records('searched');
    const vectors = (await embed(documents.map(each => each.text))).data.map(each => normal(each.embedding));
    for (const [i, query] of queries.entries()) {
      const vector = normal((await embed([query])).data[0].embedding);
      const best = vectors.map((each, j) => [cosine(vector, each), documents[j]._id]).sort((a, b) => b[0] - a[0]);
      assert.deepEqual(found[i].retrieved.slice(0, 3).map(each => each.document), best.slice(0, 3).map(each => each[1]), `query ${i}`);
    }
  });
}

await (mode === 'answers' ? answers : requests)();
