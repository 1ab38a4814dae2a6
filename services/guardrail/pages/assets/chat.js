// The chat page: asks /v1/chat/completions, shows the answer as it comes and what the rails did.
"use strict";

const part = (id) => document.getElementById(id);
const [select, about, talk, form, field, stop, send, problem] =
  ["configuration", "about", "talk", "form", "message", "stop", "send", "problem"].map(part);
let configurations = [];
let messages = [];
let state = {};
let request = null;

function element(name, text, className) {
  const out = document.createElement(name);
  if (text !== undefined) out.textContent = text;
  if (className) out.className = className;
  return out;
}

function report(text) {
  problem.textContent = text;
  problem.hidden = !text;
}

// --- configurations and challenges
function describe() {
  const chosen = configurations.find((each) => each.id === select.value);
  const rails = Object.entries(chosen?.rails ?? {}).filter(([, flows]) => flows.length)
    .map(([where, flows]) => `${where.replace("_", " ")}: ${flows.join(", ")}`);
  const parts = [chosen?.description, rails.length ? `Rails: ${rails.join("; ")}.` : chosen && "No rails."];
  if (chosen && !chosen.valid) parts.push(`Its files do not compile; the last valid state answers: ${chosen.error}`);
  about.textContent = parts.filter(Boolean).join(" ");
}

async function json(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address} was answered with ${answer.status}`);
  return answer.json();
}

async function begin() {
  try {
    configurations = await json("v1/rails/configs");
    select.replaceChildren(...configurations.map(({ id, served }) => {
      const option = element("option", served ? id : `${id} (does not compile)`);
      option.value = id;
      option.disabled = !served;
      return option;
    }));
    const wanted = new URLSearchParams(location.search).get("config_id") ?? "default";
    const served = configurations.filter((each) => each.served);
    select.value = (served.find((each) => each.id === wanted) ?? served[0])?.id ?? "";
    select.disabled = send.disabled = !served.length;
    if (!served.length) report("There is no configuration to chat with.");
    describe();
    const challenges = await json("v1/challenges");
    part("challenges").hidden = !challenges.length;
    part("challenges").querySelector("dl").append(...challenges.flatMap((each) =>
      [element("dt", String(each.name ?? each.id ?? "")), element("dd", String(each.description ?? ""))]));
  } catch (error) {
    report(`The server cannot be asked: ${error.message}.`);
  }
}

// --- one message and what the rails did with it
const milliseconds = (seconds) => `${(1000 * seconds).toFixed(seconds < 0.01 ? 1 : 0)} ms`;

function railsTable(rails) {
  const table = element("table");
  const head = table.createTHead().insertRow();
  for (const name of ["Rail", "Kind", "Result", "Time"]) {
    const cell = element("th", name);
    cell.scope = "col";
    head.append(cell);
  }
  const body = table.createTBody();
  for (const rail of rails) {
    const row = body.insertRow();
    row.insertCell().textContent = rail.name;
    row.insertCell().textContent = rail.type;
    row.insertCell().append(element("span", rail.stop ? "blocked" : "passed", rail.stop ? "badge bad" : "badge"));
    row.insertCell().textContent = milliseconds(rail.duration ?? 0);
  }
  return table;
}

function addMessage(who, text) {
  const item = element("li", undefined, who);
  item.append(element("h2", who === "user" ? "You" : "Assistant"));
  const words = item.appendChild(element("p", text, "words"));
  talk.append(item);
  item.scrollIntoView({ block: "end" });
  return { item, words };
}

const badges = { passed: "Passed", modified: "Modified by rails", blocked: "Blocked", failed: "Failed", exception: "Exception" };

function addRails(item, guardrails, took) {
  const { status = "passed", rail, log } = guardrails;
  const line = element("p", undefined, "rails");
  const words = status === "blocked" && rail ? `Blocked by ${rail}` : badges[status] ?? status;
  line.append(element("span", words, `badge ${{ blocked: "bad", failed: "bad", modified: "changed" }[status] ?? "good"}`));
  line.append(element("span", milliseconds(took), "quiet"));
  item.append(line);
  const rails = (log?.activated_rails ?? []).filter((each) => each.type !== "generation");
  if (!rails.length) return;
  const details = element("details");
  details.append(element("summary", `${rails.length} rail${rails.length === 1 ? "" : "s"} acted`), railsTable(rails));
  item.append(details);
}

// --- answers
function failureOf(body, status) {
  const text = body?.error?.message ?? body?.detail ?? body?.message;
  return new Error(typeof text === "string" ? text : `The server answered ${status}.`);
}

async function* events(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    held += value;
    for (let end = held.indexOf("\n\n"); end >= 0; end = held.indexOf("\n\n")) {
      const line = held.slice(0, end);
      held = held.slice(end + 2);
      if (line.startsWith("data: ") && line !== "data: [DONE]") yield JSON.parse(line.slice(6));
    }
  }
}

async function readStream(answer, show) {
  let text = "";
  let guardrails = null;
  for await (const event of events(answer)) {
    if (event.error?.type === "guardrails_violation") return { text, guardrails: { status: "blocked", rail: event.error.param } };
    if (event.error) throw failureOf(event);
    const words = event.choices[0]?.delta.content;
    if (words) show(text += words);
    guardrails = event.guardrails ?? guardrails;
  }
  if (!guardrails) throw new Error("The answer ended early.");
  return { text, guardrails };
}

async function readWhole(answer) {
  const body = await answer.json();
  return { text: body.choices[0].message.content ?? "", guardrails: body.guardrails };
}

async function ask(show) {
  const stream = part("stream").checked;
  const answer = await fetch("v1/chat/completions", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    signal: request.signal,
    body: JSON.stringify({
      stream, messages,
      guardrails: { config_id: select.value, state, options: { log: { activated_rails: true } } },
    }),
  });
  if (!answer.ok) throw failureOf(await answer.json().catch(() => null), answer.status);
  return stream ? readStream(answer, show) : readWhole(answer);
}

function busy(now) {
  stop.hidden = !now;
  send.hidden = now;
  talk.setAttribute("aria-busy", String(now));
}

async function sendMessage(text) {
  report("");
  messages.push({ role: "user", content: text });
  const asked = addMessage("user", text);
  const { item, words } = addMessage("assistant", "");
  item.classList.add("coming");
  const began = performance.now();
  const ours = request = new AbortController();
  busy(true);
  try {
    const { text: said, guardrails } = await ask((so_far) => {
      if (ours !== request) return;
      words.textContent = so_far;
      item.scrollIntoView({ block: "end" });
    });
    if (ours !== request) return;
    words.textContent = said;
    addRails(item, guardrails, (performance.now() - began) / 1000);
    messages.push({ role: "assistant", content: said });
    state = guardrails.state ?? {};
    item.scrollIntoView({ block: "end" });
  } catch (error) {
    if (ours !== request) return;
    // What was not answered is not part of the conversation.
    messages.pop();
    asked.item.remove();
    item.remove();
    field.value ||= text;
    if (error.name !== "AbortError") report(error.message);
  }
  item.classList.remove("coming");
  request = null;
  busy(false);
  field.focus();
}

function startAnew() {
  request?.abort();
  request = null;
  messages = [];
  state = {};
  talk.replaceChildren();
  report("");
  busy(false);
  field.focus();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = field.value.trim();
  if (!text || request) return;
  field.value = "";
  sendMessage(text);
});
field.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
stop.addEventListener("click", () => request?.abort());
part("fresh").addEventListener("click", startAnew);
select.addEventListener("change", () => {
  startAnew();
  describe();
});
begin();
