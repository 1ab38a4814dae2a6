// Steps that print "ok NAME" or "not ok NAME: why", and what every page is held against.
export let failed = 0;
export async function step(title, run) {
  try {
    await run();
    console.log(`ok ${title}`);
  } catch (error) {
    failed++;
    console.log(`not ok ${title}: ${String(error.message).split("\n").slice(0, 4).join(" ").slice(0, 500)}`);
  }
}
export function equal(actual, expected, what = "value") {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what}: expected ${b}, got ${a}`);
}
export function holds(text, part) {
  if (!text.includes(part)) throw new Error(`"${part}" is not in "${text.slice(0, 300)}"`);
}
export function lacks(text, part) {
  if (text.includes(part)) throw new Error(`"${part}" is in the text`);
}

// Notes what a page must never do: run what users wrote, ask other servers, break the policy.
export function guard(page, base, faults) {
  page.on("dialog", (dialog) => { faults.push(`a dialog at ${page.url()}`); dialog.dismiss(); });
  page.on("pageerror", (error) => faults.push(`an error at ${page.url()}: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !/the server responded with a status of (4\d\d)/.test(message.text())) faults.push(`at ${page.url()}: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(base) && !request.url().startsWith("data:")) faults.push(`a request to ${request.url()}`);
  });
}

export async function unharmed(page) {
  equal(await page.evaluate(() => window.hacked), undefined, `window.hacked at ${page.url()}`);
}

const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
export async function page_is_sound(page, path, most = 30_000) {
  const response = await page.goto(path);
  equal(response.status(), 200, `${path}: status`);
  const headers = response.headers();
  if (!headers["content-security-policy"]?.startsWith(policy)) throw new Error(`${path}: policy ${headers["content-security-policy"]}`);
  equal(headers["x-content-type-options"], "nosniff", path);
  equal(headers["referrer-policy"], "same-origin", path);
  const size = (await response.body()).length;
  if (size > most) throw new Error(`${path}: ${size} bytes`);
  const lacking = await page.evaluate(() => {
    const out = [];
    if (!document.documentElement.lang) out.push("lang");
    if (!document.title) out.push("title");
    if (document.querySelectorAll("h1").length !== 1) out.push(`${document.querySelectorAll("h1").length} h1`);
    for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea"))
      if (!field.labels.length && !field.getAttribute("aria-label") && !field.closest(".prose")) out.push(`no label: ${field.outerHTML.slice(0, 80)}`);
    for (const image of document.querySelectorAll("img:not([alt])")) out.push(`no alt: ${image.src}`);
    for (const link of document.querySelectorAll("a, button")) if (!link.textContent.trim() && !link.getAttribute("aria-label") && link.offsetParent) out.push(`no name: ${link.outerHTML.slice(0, 80)}`);
    const ids = [...document.querySelectorAll("[id]")].map((it) => it.id);
    if (new Set(ids).size !== ids.length) out.push("an id twice");
    for (const form of document.querySelectorAll("form[method=post]")) if (!form.querySelector("[name=token]")) out.push("a form without token");
    return out;
  });
  equal(lacking, [], path);
  await unharmed(page);
}
