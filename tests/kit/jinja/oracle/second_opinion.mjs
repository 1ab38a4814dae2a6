// npm's Jinja of the Hugging Face clients: JSON lines {"template", "context"} in, {"text"} or {"fault"} out.
import readline from 'node:readline';
import { Template } from '@huggingface/jinja';

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { template, context } = JSON.parse(line);
  let out;
  try {
    const globals = { raise_exception: (message) => { throw new Error(message); }, strftime_now: () => '31 Jan 2024' };
    out = { text: new Template(template).render({ ...globals, ...context }) };
  } catch (error) {
    out = { fault: String(error.message) };
  }
  console.log(JSON.stringify(out));
}
