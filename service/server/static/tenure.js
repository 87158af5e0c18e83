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
    const node = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (!node) return;
    event.preventDefault();
    if (node.matches("input")) node.focus();
    else node.click();
  });
})();
