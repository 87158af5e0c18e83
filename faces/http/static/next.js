"use strict";
// The next case is fetched while this one is read, so that it shows at once when this one is
// decided or skipped. Pages say no-store: what is fetched stays in the memory of this document
// alone, for half a minute, and what the server answers to the decision takes its place.
// Without this script every decision leads to a page as before.
(() => {
  const FRESH_MS = 30000;
  const AS_PAGE = { accept: "text/html" };
  let next = null;
  let turn = 0;

  const fetchNext = async () => {
    next = null;
    const link = document.querySelector("main a[rel=next]");
    if (!link) return;
    const url = link.href;
    const began = Date.now();
    const answer = await fetch(url, { headers: AS_PAGE }).catch(() => null);
    if (!answer || !answer.ok || answer.redirected) return;
    next = { url, html: await answer.text(), began };
    link.dataset.fetched = "";
  };

  const takeNext = () => {
    const page = next && Date.now() - next.began < FRESH_MS ? next : null;
    next = null;
    return page;
  };

  const show = (html, url, push) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    document.title = page.title;
    document.querySelector("main").replaceWith(page.querySelector("main"));
    if (push) history.pushState(null, "", url);
    else history.replaceState(null, "", url);
    scrollTo(0, 0);
  };

  const settle = () => {
    return fetchNext();
  };

  document.addEventListener("submit", async (event) => {
    const form = event.target.closest(".decide form");
    const page = form && takeNext();
    if (!page) return;
    event.preventDefault();
    const mine = ++turn;
    const body = new URLSearchParams(new FormData(form));
    const sent = fetch(form.action, { method: "POST", body, headers: AS_PAGE });
    show(page.html, page.url, true);

    const answer = await sent.catch(() => null);
    if (!answer) return location.reload();
    const html = await answer.text();
    if (mine !== turn) return;
    show(html, answer.ok ? answer.url : location.href, false);
    settle();
  });

  document.addEventListener("click", (event) => {
    const link = event.target.closest("main nav.steps a, main a[rel=next]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (!next || next.url !== link.href) return;
    const page = takeNext();
    if (!page) return;
    event.preventDefault();
    ++turn;
    show(page.html, page.url, true);
    settle();
  });

  addEventListener("popstate", () => location.reload());
  fetchNext();
})();
