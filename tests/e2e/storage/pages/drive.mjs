// Drives Chromium through the pages: URL=http://… SHOTS=folder COMMIT=id [STORED=1] node drive.mjs
// STORED leaves out what does not depend on where things are stored: looks, keyboard, life without scripts.
import { chromium } from "playwright-core";
import { equal, failed, guard, holds, lacks, page_is_sound, step, unharmed } from "./checks.mjs";

const { URL: base, SHOTS: shots, COMMIT: tip, STORED: stored } = process.env;
const look = stored ? async () => {} : step;
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: process.getuid() === 0 ? ["--no-sandbox"] : [] });
const faults = [];
const open = async (options = {}) => {
  const context = await browser.newContext({ baseURL: base, viewport: { width: 1280, height: 860 }, ...options });
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  guard(page, base, faults);
  return page;
};
const sign_in = async (page, password = "correct-horse") => {
  await page.goto("/-/sign-in");
  await page.fill("#name", "ada");
  await page.fill("#password", password);
  await page.click("main button");
};
const text = (page, where = "main") => page.locator(where).innerText();
const home = "/ada/support-conversations";
const page = await open();

await step("anybody sees what is public and nothing else", async () => {
  await page.goto("/");
  holds(await text(page), "ada/support-conversations");
  lacks(await text(page), "llama-3-lora");
  equal((await page.goto("/ada/llama-3-lora")).url(), `${base}/-/sign-in?next=%2Fada%2Fllama-3-lora`);
  equal((await page.goto("/nobody/nothing")).url(), `${base}/-/sign-in?next=%2Fnobody%2Fnothing`, "no name leaks");
  equal((await page.goto("/nobody")).url(), `${base}/-/sign-in?next=%2Fnobody`, "no name leaks");
});
await step("a wrong password is refused", async () => {
  await sign_in(page, "wrong");
  equal(await page.locator(".notice.bad").count(), 1);
  equal(await page.inputValue("#name"), "ada");
});
await step("signing in leads back", async () => {
  await page.goto("/ada/llama-3-lora");
  await page.fill("#name", "ada");
  await page.fill("#password", "correct-horse");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${base}/ada/llama-3-lora`);
});
const cookies = await page.context().cookies();
await step("the session's cookie is out of reach", async () => {
  const cookie = cookies.find((each) => each.name === "stackgate-session");
  equal([cookie.httpOnly, cookie.sameSite, cookie.path], [true, "Lax", "/"]);
});
await step("signing in leads nowhere else", async () => {
  equal((await page.goto("/-/sign-in?next=//evil.example/x")).url(), `${base}/`);
});

await step("the list is searched", async () => {
  await page.goto("/");
  holds(await text(page), "llama-3-lora");
  await page.keyboard.press("/");
  await page.keyboard.type("eval");
  await page.keyboard.press("Enter");
  await page.waitForURL(/q=eval/);
  holds(await text(page), "eval-prompts");
  lacks(await text(page), "llama-3-lora");
  await page.goto(`/?q=${encodeURIComponent("<script>alert(1)</script>")}`);
  holds(await text(page), "<script>alert(1)</script>");
});
await step("a repository is created", async () => {
  await page.click("text=New");
  await page.fill("#repository", "fresh");
  await page.fill("#description", "Made in a browser");
  await page.check("input[value=dataset]");
  await page.click("text=Create repository");
  await page.waitForURL(`${base}/ada/fresh`);
  holds(await text(page), "Made in a browser");
  holds(await text(page), "Initial commit");
});
await step("a taken or bad name is explained", async () => {
  await page.goto("/-/new");
  await page.fill("#repository", "FRESH");
  await page.click("text=Create repository");
  equal(await page.locator(".notice.bad").count(), 1);
  await page.fill("#repository", "settings");
  await page.click("text=Create repository");
  holds(await text(page, ".notice.bad"), "reserved");
});
await step("files are uploaded, large ones to LFS", async () => {
  await page.goto("/ada/fresh");
  await page.click("text=Upload files");
  await page.fill("#folder", "in/here");
  await page.fill("#message", "Bring files");
  await page.setInputFiles("#files", [
    { name: "small.txt", mimeType: "text/plain", buffer: Buffer.from("small\n") },
    { name: "weights <i>.bin", mimeType: "application/octet-stream", buffer: Buffer.alloc(3_000_000, 7) }]);
  holds(await text(page, "[data-chosen]"), "3.0 MB");
  await page.click("text=Commit files");
  await page.waitForURL(/tree\/main\/in\/here/);
  holds(await text(page), "weights <i>.bin");
  equal(await page.locator(".badge.lfs").count(), 1);
  await page.click("text=weights <i>.bin");
  holds(await text(page), "Git LFS");
  holds(await text(page), "3,000,000 bytes");
  await page.goto("/ada/fresh/blob/main/.gitattributes");
  holds(await text(page), "filter=lfs");
});
await step("what is downloaded is what was uploaded", async () => {
  const file = await page.request.get("/ada/fresh/raw/main/in/here/weights%20%3Ci%3E.bin?download=1");
  equal((await file.body()).equals(Buffer.alloc(3_000_000, 7)), true);
  holds(file.headers()["content-disposition"], "attachment");
});
await step("a bad upload is explained and nothing is committed", async () => {
  await page.goto("/ada/fresh/upload/main");
  await page.fill("#folder", "../out");
  await page.setInputFiles("#files", [{ name: "x.txt", mimeType: "text/plain", buffer: Buffer.from("x") }]);
  await page.click("text=Commit files");
  await page.waitForFunction(() => document.querySelector("[data-status]").textContent !== "");
  holds(await text(page, "[data-status]"), "..");
  await page.goto("/ada/fresh/commits/main");
  equal(await page.locator(".commits li").count(), 2);
});
await step("what lies in LFS is shown as other files are", async () => {
  const picture = await (await page.request.get(`${home}/raw/main/docs/picture.png`)).body();
  const header = Buffer.from(JSON.stringify({ "large.weight": { dtype: "F32", shape: [1000, 300], data_offsets: [0, 1_200_000] } }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  await page.goto("/ada/fresh/upload/main");
  await page.fill("#folder", "large");
  await page.setInputFiles("#files", [
    { name: "picture.png", mimeType: "image/png", buffer: Buffer.concat([picture, Buffer.alloc(1_200_000)]) },
    { name: "rows.jsonl", mimeType: "application/jsonl", buffer: Buffer.from('{"prompt":"asked often","answer":"yes"}\n'.repeat(40_000)) },
    { name: "weights.safetensors", mimeType: "application/octet-stream", buffer: Buffer.concat([length, header, Buffer.alloc(1_200_000)]) }]);
  await page.click("text=Commit files");
  await page.waitForURL(/tree\/main\/large/);
  equal(await page.locator(".badge.lfs").count(), 3);
  await page.goto("/ada/fresh/blob/main/large/picture.png");
  equal(await page.locator(".picture img").evaluate(async (image) => { await image.decode(); return image.naturalWidth; }), 160);
  await page.goto("/ada/fresh/blob/main/large/rows.jsonl");
  holds(await text(page), "asked often");
  await page.goto("/ada/fresh/blob/main/large/weights.safetensors");
  holds(await text(page), "large.weight");
});

await step("the home has files, last commits, README and the address to clone", async () => {
  await page.goto(home);
  const all = await text(page);
  for (const part of ["Support conversations & an adapter <b>trained</b> on them", "src", "Count rows that are not empty", "37 commits", "remove names"]) holds(all, part);
  equal(await page.inputValue("#clone"), `${base}${home}.git`);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: base });
  await page.click("[data-copy=clone]");
  await page.waitForSelector("text=Copied");
  equal(await page.evaluate(() => navigator.clipboard.readText()), `${base}${home}.git`);
});
await step("the README's links and pictures stay in the repository", async () => {
  equal(await page.getAttribute(".prose a >> text=the rows", "href"), `${home}/blob/main/data/train.jsonl`);
  equal(await page.locator(".prose img").evaluate((image) => image.complete && image.naturalWidth), 160);
  equal(await page.locator(".prose a >> text=elsewhere").getAttribute("href"), "https://tracker.example/pixel.png");
  equal(await page.locator(".prose script, .prose svg, .prose [onerror]").count(), 0);
  await page.click(".prose a >> text=a note");
  await page.click(".prose a >> text=up");
  await page.waitForURL(`${base}${home}/blob/main/README.md`);
});
await step("branches and tags are switched", async () => {
  await page.goto(`${home}/tree/main/src`);
  await page.click(".switcher summary");
  await page.click(".switcher >> text=feature/shorter");
  await page.waitForURL(`${base}${home}/tree/feature%2Fshorter/src`);
  await page.goto(`${home}/tree/feature/shorter/src`);
  holds(await text(page), "train.py");
  await page.goto(`${home}/tree/v1.0`);
  holds(await text(page), "empty.txt");
  await page.goto(`${home}/refs`);
  holds(await text(page), "v1.0");
});
await step("text has numbered lines", async () => {
  await page.goto(`${home}/blob/main/src/train.py#L4`);
  equal(await page.locator(".code span").count(), 11);
  holds(await text(page, "#L4"), "def main");
});
await step("rows of JSON Lines and CSV are shown", async () => {
  await page.goto(`${home}/blob/main/data/train.jsonl`);
  equal(await page.locator(".data thead th").allInnerTexts().then((all) => all.slice(1)), ["id", "prompt", "completion", "language", "score"]);
  equal(await page.locator(".data tbody tr").count(), 50);
  holds(await text(page), "The first 50 rows");
  await page.click("text=Source");
  holds(await text(page, ".code"), "\"id\": 0");
  await page.goto(`${home}/blob/main/data/table.csv`);
  equal(await page.locator(".data tbody tr").first().locator("td").allInnerTexts(), ["1", "Ann", "Berlin, Mitte", "said \"yes\""]);
});
await step("tensors are shown", async () => {
  await page.goto(`${home}/blob/main/adapter/adapter_model.safetensors`);
  const all = await text(page);
  for (const part of ["8,192", "base_model.model.layers.0.self_attn.q_proj.lora_A.weight", "8 × 64", "rank"]) holds(all, part);
});
await step("pictures are shown, binaries are not", async () => {
  await page.goto(`${home}/blob/main/docs/picture.png`);
  equal(await page.locator(".picture img").evaluate((image) => image.naturalWidth), 160);
  await page.goto(`${home}/blob/main/binary.bin`);
  holds(await text(page), "binary");
});
await step("history has pages", async () => {
  await page.goto(`${home}/commits/main`);
  equal(await page.locator(".commits li").count(), 30);
  await page.click("text=Older");
  equal(await page.locator(".commits li").count(), 7);
  holds(await text(page), "Add the conversations");
  await page.goto(`${home}/commits/main/src/train.py`);
  equal(await page.locator(".commits li").count(), 2);
});
await step("a commit shows what changed", async () => {
  await page.goto(`${home}/commit/${tip}`);
  const all = await text(page);
  for (const part of ["Count rows that are not empty <script>alert(1)</script>", "A longer explanation <b>here</b>.", "2 files changed", "deleted", "Ada <b>Lovelace</b>".replaceAll(/[<>]/g, "").slice(0, 3)]) holds(all, part);
  equal(await page.locator(".diff .plus").count(), 2);
  equal(await page.locator(".diff .minus").count(), 2);
});

await step("names of any bytes are shown as they are, and open", async () => {
  await page.goto(`${home}/tree/main/names`);
  const names = (await page.locator(".files .file a").allInnerTexts()).slice(1);  // after ".."
  for (const name of ["<img src=x onerror=\"alert(1)\">.txt", "a b#c?d%e&f%2Fg.txt", "日本語.txt", "caf\\xe9.txt", "exe.\\xe2\\x80\\xaefdp", "'\"quotes\".txt"]) holds(JSON.stringify(names), JSON.stringify(name).slice(1, -1));
  const contents = [];
  for (let i = 0; i < names.length; ++i) {
    await page.goto(`${home}/tree/main/names`);
    await page.locator(".files .file a").nth(i + 1).click();
    const shown = await text(page, ".code");
    await page.click("text=Raw");
    equal((await text(page, "body")).trim(), shown.trim(), names[i]);
    contents.push(shown.trim());
  }
  equal(contents.sort(), ["awkward", "five", "four", "one", "six", "three"]);
  await page.goto(`${home}/blob/main/names/${encodeURIComponent("a b#c?d%e&f%2Fg.txt")}`);
  holds(await text(page, ".code"), "awkward");
});
await step("files of users do nothing on this server", async () => {
  for (const [path, type] of [["evil/page.html", "text/plain"], ["evil/picture.svg", "text/plain"], ["evil/script.js", "text/plain"], ["evil/fake.png", "text/plain"]]) {
    const response = await page.goto(`${home}/raw/main/${path}`);
    holds(response.headers()["content-type"], type);
    holds(response.headers()["content-security-policy"], "sandbox");
    equal(response.headers()["x-content-type-options"], "nosniff");
    await unharmed(page);
  }
  for (const path of ["evil/page.html", "evil/picture.svg", "evil/embeds.md", "evil/fake.png", "evil/script.js", "README.md", "data/train.jsonl", "data/table.csv"]) {
    await page.goto(`${home}/blob/main/${path}`);
    await page.waitForTimeout(50);
    await unharmed(page);
  }
  await page.goto(`${home}/blob/main/evil/embeds.md`);
  equal(await page.locator(".prose img").evaluate((image) => image.naturalWidth), 0, "an SVG picture");
});

await step("settings are kept", async () => {
  await page.goto("/ada/fresh/settings");
  await page.fill("#description", "Changed \"quoted\" <b>");
  await page.uncheck("[name=private]");
  await page.click("text=Save");
  await page.waitForSelector(".notice.good");
  equal(await page.inputValue("#description"), "Changed \"quoted\" <b>");
  equal(await page.isChecked("[name=private]"), false);
});
await step("a renamed repository is found under both names", async () => {
  await page.fill("#new-name", "renamed");
  await page.click("main button:has-text('Rename')");
  await page.waitForURL(/ada\/renamed\/settings/);
  equal((await page.goto("/ada/fresh/tree/main/in")).url(), `${base}/ada/renamed/tree/main/in`);
});
await step("deleting asks for the name", async () => {
  await page.goto("/ada/renamed/settings");
  equal(await page.isDisabled("button.danger"), true);
  await page.fill("#confirm", "ada/renamed");
  await page.click("button.danger");
  await page.waitForURL(`${base}/?done=deleted`);
  equal((await page.goto("/ada/renamed")).status(), 404);
});

let secret = "";
await step("a token is shown once and works", async () => {
  await page.goto("/-/tokens");
  await page.fill("#token-name", "e2e <b>");
  await page.selectOption("#scope", "read");
  await page.click("text=Create token");
  secret = await page.inputValue("#secret");
  equal((await fetch(`${base}/api/v1/user`, { headers: { Authorization: `Bearer ${secret}` } })).status, 200);
  await page.goto("/-/tokens");
  lacks(await page.content(), secret);
  holds(await text(page), "e2e <b>");
});
await step("with a token files are fetched, but no tokens are managed", async () => {
  const as = { headers: { Authorization: `Bearer ${secret}` }, redirect: "manual" };
  equal((await fetch(`${base}/ada/llama-3-lora/raw/main/README.md`, as)).status, 200);
  equal((await fetch(`${base}/-/tokens`, as)).status, 403);
});
await step("a revoked token works no more", async () => {
  await page.click("text=Revoke");
  await page.waitForSelector(".notice.good");
  equal((await fetch(`${base}/api/v1/user`, { headers: { Authorization: `Bearer ${secret}` } })).status, 401);
});

await step("forms from elsewhere are refused", async () => {
  const cookie = cookies.filter((each) => each.name === "stackgate-session").map((each) => `${each.name}=${each.value}`)[0];
  await page.goto("/-/new");
  const token = await page.locator("main [name=token]").inputValue();
  const send = (headers, body) => fetch(`${base}/-/new`, { method: "POST", redirect: "manual", headers: { Cookie: cookie, ...headers }, body: new URLSearchParams(body) });
  equal((await send({}, { owner: "ada", name: "forged" })).status, 403, "no token");
  equal((await send({}, { owner: "ada", name: "forged", token: "0".repeat(64) })).status, 403, "a wrong token");
  equal((await send({ Origin: "https://evil.example" }, { owner: "ada", name: "forged", token })).status, 403, "another origin");
  equal((await send({ "Sec-Fetch-Site": "cross-site" }, { owner: "ada", name: "forged", token })).status, 403, "another site");
  const parts = new FormData();
  parts.append("files", new Blob(["x"]), "x.txt");
  equal((await fetch(`${base}${home}/upload/main`, { method: "POST", headers: { Cookie: cookie }, body: parts })).status, 403, "upload without token");
  equal((await page.goto("/ada/forged")).status(), 404);
});

const sound = ["/", "/ada", "/-/new", "/-/tokens", home, `${home}/tree/main/names`, `${home}/blob/main/src/train.py`, `${home}/blob/main/data/train.jsonl`, `${home}/blob/main/adapter/adapter_model.safetensors`,
  `${home}/commits/main`, `${home}/commit/${tip}`, `${home}/refs`, `${home}/settings`, `${home}/upload/main`];
await look("every page is small, labelled and under the policy", async () => {
  for (const path of sound) await page_is_sound(page, path);
});
await step("what is not there has a page of its own", async () => {
  for (const path of ["/ada/none", `${home}/tree/none`, `${home}/blob/main/none.txt`, `${home}/commit/0000000000`, "/none"]) {
    const response = await page.goto(path);
    equal(response.status(), 404, path);
    equal(await page.locator(".lost h1").count(), 1, path);
  }
});

await look("everything works by keyboard alone", async () => {
  const keys = await open();
  const focused = () => keys.evaluate(() => [document.activeElement.tagName, document.activeElement.textContent.trim() || document.activeElement.id].join(" "));
  const autofocus = () => keys.waitForFunction(() => document.activeElement?.tagName === "INPUT"); // comes after the page
  const tab_to = async (label) => {
    for (let i = 0; i < 80; ++i) {
      await keys.keyboard.press("Tab");
      const seen = await keys.evaluate(() => {
        if (document.activeElement === document.body) return true;  // between the last and the first
        const style = getComputedStyle(document.activeElement); return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1; });
      if (!seen) throw new Error(`no focus to be seen at ${await focused()}`);
      if ((await focused()).endsWith(label)) return;
    }
    throw new Error(`"${label}" is not reached`);
  };
  await keys.goto("/");
  await keys.keyboard.press("Tab");
  equal(await focused(), "A Skip to content");
  await keys.keyboard.press("Enter");
  equal(await keys.evaluate(() => document.activeElement.id), "main");
  await keys.goto("/-/sign-in");
  await autofocus();
  await keys.keyboard.type("ada");
  await keys.keyboard.press("Tab");
  await keys.keyboard.type("correct-horse");
  await keys.keyboard.press("Enter");
  await keys.waitForURL(`${base}/`);
  await tab_to("New");
  await keys.keyboard.press("Enter");
  await keys.waitForURL(`${base}/-/new`);
  await autofocus();
  await keys.keyboard.type("by-keyboard");
  await keys.keyboard.press("Enter");
  await keys.waitForURL(`${base}/ada/by-keyboard`);
  await tab_to("Settings");
  await keys.keyboard.press("Enter");
  await keys.waitForURL(/settings/);
  await tab_to("confirm");
  await keys.keyboard.type("ada/by-keyboard");
  await keys.keyboard.press("Enter");
  await keys.waitForURL(`${base}/?done=deleted`);
  await tab_to("ada/support-conversations");
  await keys.keyboard.press("Enter");
  await keys.waitForURL(`${base}/ada/support-conversations`);
  await tab_to("main");
  await keys.keyboard.press("Enter");
  await tab_to("feature/shorter");
  await keys.keyboard.press("Escape");
  equal(await focused(), "SUMMARY main");
  await tab_to("ada");
  await keys.context().close();
});
await look("everything works without scripts", async () => {
  const plain = await open({ javaScriptEnabled: false });
  await sign_in(plain);
  await plain.goto("/-/new");
  await plain.fill("#repository", "plain");
  await plain.click("text=Create repository");
  await plain.goto("/ada/plain/upload/main");
  await plain.setInputFiles("#files", [{ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("a\n") }, { name: "big.bin", mimeType: "application/octet-stream", buffer: Buffer.alloc(1_500_000, 1) }]);
  await plain.click("text=Commit files");
  holds(await text(plain), "big.bin");
  holds(await text(plain), "committed");
  equal(await plain.locator("button[data-copy]").isVisible(), false);
  await plain.goto("/ada/plain/settings");
  await plain.fill("#confirm", "ada/other");
  await plain.click("button.danger");
  holds(await text(plain), "Nothing was deleted");
  await plain.goto("/ada/plain/settings");
  await plain.fill("#confirm", "ada/plain");
  await plain.click("button.danger");
  holds(await text(plain), "deleted");
  await plain.context().close();
});

const looks = [["list", "/"], ["sign-in", "/-/sign-in"], ["home", home], ["folder", `${home}/tree/main/names`], ["text", `${home}/blob/main/src/train.py`], ["rows", `${home}/blob/main/data/train.jsonl`],
  ["tensors", `${home}/blob/main/adapter/adapter_model.safetensors`], ["picture", `${home}/blob/main/docs/picture.png`], ["history", `${home}/commits/main`], ["commit", `${home}/commit/${tip}`], ["refs", `${home}/refs`],
  ["settings", `${home}/settings`], ["upload", `${home}/upload/main`], ["tokens", "/-/tokens"], ["new", "/-/new"], ["lost", "/ada/none"]];
for (const [device, options] of [["desktop", { viewport: { width: 1280, height: 860 } }], ["phone", { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true }]])
  for (const colorScheme of ["light", "dark"])
    await look(`screenshots: ${device}, ${colorScheme}`, async () => {
      const view = await open({ ...options, colorScheme });
      await view.goto("/-/sign-in");
      await view.screenshot({ path: `${shots}/sign-in-${device}-${colorScheme}.png` });
      await sign_in(view);
      await view.waitForURL(`${base}/`);
      for (const [name, path] of looks.filter(([each]) => each !== "sign-in")) {
        await view.goto(path);
        await view.screenshot({ path: `${shots}/${name}-${device}-${colorScheme}.png` });
        const wide = await view.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (wide > 0) throw new Error(`${name} is ${wide} pixels too wide`);
        const low = await view.evaluate(contrast_faults);
        equal(low, [], `${name}: contrast`);
      }
      await view.context().close();
    });

// WCAG 2.2, 1.4.3: 4.5 : 1 for text.
function contrast_faults() {
  const parse = (text) => (text.match(/[\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const out = new Set();
  for (const element of document.querySelectorAll("main *, header *")) {
    if (!element.offsetParent || element.closest(".lost-number, .away, :disabled") || ![...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())) continue;
    let under = element, ground = [255, 255, 255];
    for (; under; under = under.parentElement) {
      const colour = parse(getComputedStyle(under).backgroundColor);
      if (colour.length && (colour.length < 4 || colour[3] > 0.99)) { ground = colour; break; }
    }
    const style = getComputedStyle(element);
    if (style.display === "none" || style.visibility === "hidden") continue;
    const [a, b] = [light(parse(style.color)), light(ground)].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) out.add(`${element.tagName}.${element.className}: ${((a + 0.05) / (b + 0.05)).toFixed(1)}`);
  }
  return [...out];
}

await step("signing out ends the session", async () => {
  await page.goto("/");
  await page.click(".account summary");
  await page.click("text=Sign out");
  await page.waitForSelector("text=Sign in");
  equal((await page.goto("/-/tokens")).url(), `${base}/-/sign-in?next=%2F-%2Ftokens`);
});
await step("who fails too often must wait", async () => {
  const other = await open();
  let status = 0;
  for (let i = 0; i < 12 && status !== 429; ++i) {
    await other.goto("/-/sign-in");
    await other.fill("#name", "somebody");
    await other.fill("#password", `wrong ${i}`);
    const [response] = await Promise.all([other.waitForResponse((each) => each.request().method() === "POST"), other.click("main button")]);
    status = response.status();
    await other.waitForLoadState();
  }
  equal(status, 429);
});
await step("no page ran, asked or broke anything it should not", async () => equal(faults, []));
await browser.close();
process.exit(failed > 0 ? 1 : 0);
