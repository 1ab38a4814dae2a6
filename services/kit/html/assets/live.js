// Everything works without this file; with it a page of what is under way changes by itself.
"use strict";

const live = document.querySelector("[data-live]");

function renew(text) {
  const made = document.createElement("template");
  made.innerHTML = text;
  const fresh = made.content.firstElementChild;
  const shown = live.firstElementChild;
  const parts = fresh.querySelectorAll("[data-part]");
  if (!parts.length || !shown) return live.replaceChildren(fresh);
  shown.dataset.state = fresh.dataset.state;
  // What is read by a screen reader again, or loses its place, is what changed.
  for (const part of parts) {
    const old = shown.querySelector(`[data-part="${part.dataset.part}"]`);
    if (old && old.outerHTML !== part.outerHTML) old.replaceWith(part);
  }
}

async function look() {
  try {
    const reply = await fetch(live.dataset.live, { headers: { Accept: "text/html" } });
    if (reply.ok) {
      const text = await reply.text();
      if (text !== look.last) renew(text);
      look.last = text;
    }
  } catch {
    // The server is away: the next look may find it.
  }
  const part = live.querySelector("[data-state]");
  if (!part || part.dataset.state !== "final") setTimeout(look, 2000);
}

if (live) setTimeout(look, 2000);
