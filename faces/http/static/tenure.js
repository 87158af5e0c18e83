"use strict";
// Keys press what a page shows: an element with data-key="y" is clicked by y. Without this script
// the buttons and links remain.
(() => {
  const typing = (node) => node.closest("input, textarea, select, [contenteditable]");

  const showKeys = () => {
    const list = document.getElementById("key-list");
    const dialog = document.getElementById("keys");
    list.replaceChildren();
    for (const node of document.querySelectorAll("[data-key]")) {
      const term = document.createElement("dt");
      const words = document.createElement("dd");
      term.textContent = node.dataset.key;
      words.textContent = node.getAttribute("aria-label") || node.textContent.trim() || "search";
      list.append(term, words);
    }
    dialog.showModal();
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    if (event.key === "?") return showKeys();
    const node = document.querySelector(`[data-key~="${CSS.escape(event.key)}"]`);
    if (!node) return;
    event.preventDefault();
    if (node.matches("input")) node.focus();
    else node.click();
  });
})();

// A question about time is answered in place, and the address changes in the same step. Without
// this script its form and links lead to pages.
(() => {
  const here = () => document.getElementById("plane");
  if (!here()) return;
  let turn = 0;
  let steps = Promise.resolve();

  const ask = async (url) => {
    const mine = ++turn;
    const answer = await fetch(url, { headers: { accept: "text/html" } }).catch(() => null);
    if (mine !== turn) return;
    if (!answer || !answer.ok) return location.assign(url);
    const html = await answer.text();
    if (mine !== turn) return;
    const page = new DOMParser().parseFromString(html, "text/html");
    document.title = page.title;
    for (const name of ["valid", "tx"]) {
      document.querySelector(`.asking [name=${name}]`).value =
        page.querySelector(`.asking [name=${name}]`).value;
    }
    here().replaceWith(page.getElementById("plane"));
    history.pushState(null, "", answer.url);
  };

  const form = document.querySelector(".asking");
  const askForm = () => ask(`${form.getAttribute("action")}?${new URLSearchParams(new FormData(form))}`);
  form.addEventListener("change", askForm);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    askForm();
  });

  document.addEventListener("click", (event) => {
    const link = event.target.closest("#plane nav a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    // Each press takes its step from where the one before it has led.
    const key = link.dataset.key;
    steps = steps.then(() => {
      const step = key ? document.querySelector(`#plane [data-key=${key}]`) : link;
      return step ? ask(step.href) : null;
    });
  });

  const askPoint = (event) => {
    const picture = event.target.closest("#plane svg");
    if (!picture) return;
    const box = picture.getBoundingClientRect();
    const view = picture.viewBox.baseVal;
    const x = Math.round(((event.clientX - box.left) * view.width) / box.width);
    const y = Math.round(((event.clientY - box.top) * view.height) / box.height);
    if (x < 0 || y < 0) return;
    ask(`${picture.parentElement.dataset.point}&${new URLSearchParams({ x, y })}`);
  };
  document.addEventListener("click", askPoint);
  document.addEventListener("pointermove", (event) => {
    if (event.buttons === 1) askPoint(event);
  });

  addEventListener("popstate", () => location.reload());
})();

// A table of many rows gets a field that leaves those with all the words typed in.
(() => {
  const MANY = 8;
  for (const table of document.querySelectorAll(".wide > table:not(.compared, #plane table)")) {
    const rows = [...table.tBodies[0].rows];
    if (rows.length < MANY) continue;
    const field = document.createElement("input");
    field.type = "search";
    field.className = "filter";
    field.placeholder = `Filter ${rows.length} rows`;
    field.setAttribute("aria-label", field.placeholder);
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/);
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
    });
    table.parentElement.before(field);
  }
})();
