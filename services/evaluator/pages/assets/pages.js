// Everything works without this file; with it a page of a running evaluation changes by itself.
"use strict";

const live = document.querySelector("[data-live]");

async function look() {
  try {
    const reply = await fetch(live.dataset.live, { headers: { Accept: "text/html" } });
    if (reply.ok) {
      const text = await reply.text();
      // What is read by a screen reader again is what changed.
      if (text !== look.last) live.innerHTML = text;
      look.last = text;
    }
  } catch {
    // The server is away: the next look may find it.
  }
  const part = live.querySelector("[data-state]");
  if (!part || part.dataset.state !== "final") setTimeout(look, 2000);
}

if (live) setTimeout(look, 2000);
