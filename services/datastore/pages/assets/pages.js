// Everything works without this file; it saves a click here and there.
"use strict";

// Buttons that need a script are hidden where there is none.
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy);
    let done = false;
    try {
      await navigator.clipboard.writeText(field.value);
      done = true;
    } catch {
      field.focus();
      field.select();
      done = document.execCommand("copy");
    }
    const label = button.textContent;
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    setTimeout(() => { button.textContent = label; }, 1600);
  });
}

// One menu open at a time; Escape and a click elsewhere close it.
const menus = [...document.querySelectorAll("details.menu")];
document.addEventListener("click", (event) => {
  for (const menu of menus) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    for (const menu of menus) {
      if (menu.open && menu.contains(document.activeElement)) menu.querySelector("summary").focus();
      menu.open = false;
    }
  }
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    document.getElementById("search").focus();
  }
});

// A button that must not be pressed by accident waits for the right word.
for (const field of document.querySelectorAll("input[data-confirm]")) {
  const button = field.form.querySelector("button");
  const check = () => { button.disabled = field.value !== field.dataset.confirm; };
  field.addEventListener("input", check);
  check();
}

// Upload: how far it is.
const upload = document.querySelector("form[data-upload]");
if (upload) {
  const files = upload.querySelector("input[type=file]");
  const chosen = upload.querySelector("[data-chosen]");
  const drop = upload.querySelector(".drop");
  const bar = upload.querySelector("progress");
  const status = upload.querySelector("[data-status]");
  const say = () => {
    const bytes = [...files.files].reduce((sum, file) => sum + file.size, 0);
    const words = bytes < 1e3 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB`
      : bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
    chosen.textContent = files.files.length ? `${[...files.files].map((file) => file.name).slice(0, 5).join(", ")}${files.files.length > 5 ? ", …" : ""} (${words})` : "";
  };
  files.addEventListener("change", say);
  for (const kind of ["dragover", "dragenter"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    files.files = event.dataTransfer.files;
    say();
  });
  upload.addEventListener("submit", (event) => {
    if (!files.files.length) return;
    event.preventDefault();
    const request = new XMLHttpRequest();
    const button = upload.querySelector("button[type=submit]");
    button.disabled = true;
    bar.hidden = false;
    request.upload.addEventListener("progress", (at) => {
      if (!at.lengthComputable) return;
      bar.max = at.total;
      bar.value = at.loaded;
      status.textContent = at.loaded < at.total ? `${Math.floor(100 * at.loaded / at.total)} %` : "Committing…";
    });
    request.addEventListener("load", () => {
      if (request.status >= 200 && request.status < 300 && request.responseURL) {
        location.assign(request.responseURL);
        return;
      }
      const page = new DOMParser().parseFromString(request.responseText, "text/html");
      const message = page.querySelector(".notice.bad, .lost h1 + p");
      status.textContent = message ? message.textContent : `The server answered ${request.status}.`;
      bar.hidden = true;
      button.disabled = false;
    });
    request.addEventListener("error", () => {
      status.textContent = "The connection broke; nothing was committed.";
      bar.hidden = true;
      button.disabled = false;
    });
    request.open("POST", upload.action);
    request.send(new FormData(upload));
  });
}
