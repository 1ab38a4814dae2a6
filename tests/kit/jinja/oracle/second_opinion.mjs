// npm's Jinja of the Hugging Face clients: JSON lines {"template", "context"} in, {"text"} or {"fault"} out.
// It has raise_exception and a strftime_now of its own, by the machine's clock.
import readline from 'node:readline';
import { Template } from '@huggingface/jinja';

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { template, context } = JSON.parse(line);
  let out;
  try {
    out = { text: new Template(template).render(context) };
  } catch (error) {
    out = { fault: String(error.message) };
  }
  console.log(JSON.stringify(out));
}
