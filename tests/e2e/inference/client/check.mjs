// What the scripts of this folder share.
import OpenAI from 'openai';

export const client = url => new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });

export async function check(what, body) {
  try {
    await body();
    console.log(`ok ${what}`);
  } catch (error) {
    console.log(`not ok ${what}\n${error.stack}`);
    process.exitCode = 1;
  }
}

/** The figure of a metric with at most one label. */
export async function metric(url, name) {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split('\n').find(each => each.startsWith(`${name}{`) || each.startsWith(`${name} `));
  return line === undefined ? NaN : Number(line.slice(line.lastIndexOf(' ')));
}

export async function until(what, holds) {
  for (let i = 0; i < 200; ++i) {
    if (await holds()) return;
    await new Promise(done => setTimeout(done, 25));
  }
  throw new Error(`in 5 s it was not seen that ${what}`);
}
