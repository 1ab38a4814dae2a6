// Adapters from a directory: adapters.mjs URL MODEL DIRECTORY SPARE (an adapter's folder to take others from)
import { strict as assert } from 'node:assert';
import { cpSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import OpenAI from 'openai';
import { check, client, until } from './check.mjs';

const [url, model, directory, spare] = process.argv.slice(2);
const openai = client(url);
const names = ['adapter-0', 'adapter-1', 'adapter-2'];
const text = async body => (await openai.completions.create({ prompt: 'The quick brown fox jumps over', max_tokens: 30, temperature: 0, ...body })).choices[0].text;
const states = async () => Object.fromEntries((await (await fetch(`${url}/v1/adapters`)).json()).data.map(each => [each.name, each]));
const listed = async () => (await openai.models.list()).data.map(each => each.id).sort();
const post = (path, body) => fetch(url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body ?? {}) });

await check('adapters are listed below their base', async () => {
  await until('they are there', async () => (await listed()).length === 4);
  assert.deepEqual(await listed(), [...names, model].sort());
  assert.equal((await openai.models.retrieve('adapter-1')).parent, model);
});

let alone;
await check('each answers in its own way, by model or by peft_name', async () => {
  alone = { [model]: await text({ model }) };
  for (const name of names) {
    alone[name] = await text({ model: name });
    assert.equal(await text({ model, peft_name: name }), alone[name]);
  }
  assert.equal(new Set(Object.values(alone)).size, 4);
});

await check('all at once answer as each alone', async () => {
  const all = [...Array(40).keys()].map(i => [model, ...names][i % 4]);
  const got = await Promise.all(all.map(name => text({ model: name })));
  all.forEach((name, i) => assert.equal(got[i], alone[name], `request ${i}`));
});

await check('an adapter that is not there is 404, one that cannot be loaded 503: never the base', async () => {
  await assert.rejects(text({ model: 'adapter-9' }), OpenAI.NotFoundError);
  await assert.rejects(text({ model, peft_name: 'adapter-9' }), OpenAI.NotFoundError);
  await assert.rejects(text({ model: 'adapter-0', peft_name: 'adapter-1' }), OpenAI.BadRequestError);
  cpSync(spare, `${directory}/broken`, { recursive: true });
  writeFileSync(`${directory}/broken/adapter_model.safetensors`, 'no tensors');
  await until('it is refused', async () => (await states()).broken?.state === 'failing');
  assert.ok((await states()).broken.reason.length > 10);
  const error = await text({ model: 'broken' }).then(() => assert.fail('answered'), error => error);
  assert.equal(error.status, 503);
  assert.ok(!(await listed()).includes('broken'));
});

await check('a new version takes the place of an old one', async () => {
  rmSync(`${directory}/adapter-0`, { recursive: true });
  cpSync(`${directory}/adapter-1`, `${directory}/.new`, { recursive: true });
  renameSync(`${directory}/.new`, `${directory}/adapter-0`);
  await until('it answers as the new one', async () => await text({ model: 'adapter-0' }).catch(() => '') === alone['adapter-1']);
});

await check('what is taken away is 404, and the others go on', async () => {
  rmSync(`${directory}/adapter-2`, { recursive: true });
  await until('it is gone', async () => !(await listed()).includes('adapter-2'));
  await assert.rejects(text({ model: 'adapter-2' }), OpenAI.NotFoundError);
  assert.equal(await text({ model: 'adapter-1' }), alone['adapter-1']);
});

await check('vLLM\'s calls load and unload', async () => {
  const loaded = await post('/v1/load_lora_adapter', { lora_name: 'mine', lora_path: spare });
  assert.equal(loaded.status, 200, await loaded.clone().text());
  assert.equal(await loaded.text(), 'Success: LoRA adapter \'mine\' added successfully.');
  assert.ok((await text({ model: 'mine' })).length > 0);
  assert.equal((await post('/v1/load_lora_adapter', { lora_name: 'mine', lora_path: spare })).status, 400);
  assert.equal((await post('/v1/load_lora_adapter', { lora_name: 'other', lora_path: '/etc' })).status, 400);
  assert.equal((await post('/v1/unload_lora_adapter', { lora_name: 'mine' })).status, 200);
  assert.equal((await post('/v1/unload_lora_adapter', { lora_name: 'mine' })).status, 404);
  await assert.rejects(text({ model: 'mine' }), OpenAI.NotFoundError);
});
