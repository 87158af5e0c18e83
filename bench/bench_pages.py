"""The pages in a browser: a steward with a keyboard, and a question that is dragged.

    python bench/bench_pages.py [steward] [slider] [--cases 40] [--waiting 2000]
        [--moves 200] [--runs 8]

`steward`: labelled cases of namesakes, decided by a scripted model of keys in Chromium: keys a
case, the time from a decision's request to its answer, and whether undoing all of them restores
every answer at (now, now); with nothing else in the queue, and with `--waiting` more cases.
`slider`: moves of the plane's question faster than answers come; every answer that a reader could
have seen is compared with the store at the (valid, tx) printed with it.
"""

from __future__ import annotations

import os
import random
import shutil
import socket
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tenure import EntityRef, Memory, Policy, connect
from tenure.bench.bench_server import Site
from tenure.bench.script import parser_of, run_parts
from tenure.faces.http.control import ControlFile
from tenure.schema.policy import ResolutionPolicy

KEYS_A_CASE = 3
DECISION_P95_MS = 150.0
LABEL_KEYS = ("1", "2", "n", "u")
"""What is right for a case: the first candidate, the second, neither, or not to be known."""

DRAG = """(days) => {
  const seen = window.seen = [];
  new MutationObserver(() => {
    const plane = document.getElementById("plane");
    const answer = plane && plane.querySelector(".answer");
    if (answer) seen.push([plane.dataset.valid, plane.dataset.tx, answer.textContent]);
  }).observe(document.body, {childList: true, subtree: true});
  let move = 0;
  return new Promise((resolve) => {
    const drag = () => {
      if (move === days.length) return resolve();
      const field = document.querySelector("input[name=valid]");
      field.value = days[move++];
      field.dispatchEvent(new Event("change", {bubbles: true}));
      setTimeout(drag, 15 + (move * 37) % 300);
    };
    drag();
  });
}"""
"""Moves the question at an uneven pace, so that some answers are overtaken and some arrive."""


@contextmanager
def signed_in_page(memory: Memory, folder: Path) -> Iterator[tuple[Any, str]]:
    """A page of Chromium, signed in at a server over a memory, and the server's address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
    # A process of its own, as the server of a team is: its answers wait for no lock of this one.
    site = Site(folder, port)
    site.start()
    control = ControlFile(folder / "control.db")

    # Only the superuser of a container needs the sandbox off.
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        page = browser.new_page()
        page.goto(f"{site.url}/")
        page.fill("#code", control.new_code(memory.principal.tenant))
        page.click("main button")
        yield page, site.url
        browser.close()

    control.close()
    site.stop()


def write_cases(memory: Memory, count: int) -> None:
    """Two people of one name and a text that names one of them, for each case."""
    for number in range(count):
        name = f"Mika Rogers{number:04}"
        for place in ("Rome", "Oslo"):
            number_of_register = {"hr": f"{place}-{number}"}
            person = EntityRef(name=name, type="person", external_ids=number_of_register)
            memory.write(person, "office", place)
        memory.write(EntityRef(name=name, type="person"), "title", "counsel")


def answers_now(memory: Memory, entity_ids: list[str]) -> list[object]:
    """What every entity answers at (now, now): who it is, its name and its slots."""
    view = memory.as_of()
    answers: list[object] = []
    for entity_id in entity_ids:
        entity = view.entity(entity_id)
        answers.append((entity.entity_id, entity.name, entity.type, entity.state))
        for slot in ("office", "title"):
            state = view.slot(entity_id, slot)
            span = (state.valid_from, state.valid_until)
            answers.append((slot, state.status, tuple(map(str, state.values)), span))
    return answers


def steward(folder: Path, cases: int, others: int = 0) -> bool:
    """Decide the most pressing cases by keys, then take every decision back."""
    decision_ms: list[float] = []
    undo_ms: list[float] = []
    most_keys, wrong = 0, 0
    # All of them come from one source, which has to wait for a steward from a thousand on.
    policy = Policy(resolution=ResolutionPolicy(source_backlog=cases + others))
    with connect(str(folder / "team.db"), policy=policy) as memory:
        write_cases(memory, cases + others)
        queue = memory.reviews.list()
        waiting = queue[:cases]
        entity_ids = sorted(
            {review.entity_id for review in waiting}
            | {candidate.entity for review in waiting for candidate in review.candidates}
        )
        answers_before = answers_now(memory, entity_ids)

        with signed_in_page(memory, folder) as (page, base):
            page.on("requestfinished", lambda request: _note(request, decision_ms, undo_ms))
            page.goto(f"{base}/reviews")
            page.keyboard.press("o")
            for number in range(len(waiting)):
                page.wait_for_selector("section.decide")
                page.wait_for_load_state()
                case = page.url.partition("?")[0].rpartition("/")[2]
                label = LABEL_KEYS[number % len(LABEL_KEYS)]
                page.keyboard.press(label)
                page.wait_for_url(f"**last={case}**")
                page.wait_for_load_state()
                # The first case took a key to open it from the queue.
                most_keys = max(most_keys, 1 + (number == 0))
                state = memory.reviews.get(case).review.state.value
                expected = {"1": "accepted", "2": "accepted", "n": "rejected", "u": "unsure"}
                wrong += state != expected[label]

            for review in reversed(waiting):
                page.goto(f"{base}/reviews/{review.review_id}")
                if page.locator("[data-key=z]").count():
                    page.keyboard.press("z")
                    page.wait_for_url("**outcome=undo**")
        is_restored = answers_now(memory, entity_ids) == answers_before

    p95 = statistics.quantiles(decision_ms, n=20)[18]
    undo_p95 = statistics.quantiles(undo_ms, n=20)[18]
    print(
        f"{len(waiting)} of {len(queue):,} cases decided by keyboard, {wrong} otherwise than"
        f" labelled, at most {most_keys} keys; {len(decision_ms)} decisions, p50"
        f" {statistics.median(decision_ms):.0f} ms, p95 {p95:.0f} ms; {len(undo_ms)} undos, p50"
        f" {statistics.median(undo_ms):.0f} ms, p95 {undo_p95:.0f} ms;"
        f" undo restores every answer: {is_restored}"
    )
    is_quick = most_keys <= KEYS_A_CASE and p95 <= DECISION_P95_MS
    return len(queue) == cases + others and not wrong and is_quick and is_restored


def _note(request: Any, decision_ms: list[float], undo_ms: list[float]) -> None:
    if request.method == "POST":
        timing = request.timing
        milliseconds = undo_ms if request.url.endswith("/undo") else decision_ms
        milliseconds.append(timing["responseStart"] - timing["requestStart"])


def slider(folder: Path, moves: int, runs: int) -> bool:
    """Drag the plane's question, and compare whatever was shown."""
    shown, wrong = 0, 0
    with connect(str(folder / "team.db")) as memory:
        for month in range(1, 13):
            memory.write(
                "Orchid Foods",
                "pricing_tier",
                f"tier{month}",
                valid_from=f"2026-{month:02}-01T00:00:00Z",
            )
        entity_id = memory.as_of().entity("Orchid Foods").entity_id

        with signed_in_page(memory, folder) as (page, base):
            for run in range(runs):
                rng = random.Random(run)
                days = [
                    f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}T00:00"
                    for _ in range(moves)
                ]
                page.goto(f"{base}/entities/{entity_id}/plane/pricing_tier")
                page.evaluate(DRAG, days)
                page.wait_for_selector(f"#plane[data-valid='{days[-1]}:00Z']")
                for valid, known, sentence in page.evaluate("window.seen"):
                    shown += 1
                    picture = memory.as_of(valid, known).plane(entity_id, "pricing_tier")
                    wrong += picture.sentence != sentence
    print(f"{runs} runs of {moves} moves: {shown} answers shown, {wrong} of another (valid, tx)")
    return shown >= runs and not wrong


def main() -> None:
    """Run the parts that were named, both without a name."""
    parser = parser_of(__doc__, cases=40, waiting=2_000, moves=200, runs=8)
    parser.add_argument("parts", nargs="*", default=["steward", "slider"])
    options = parser.parse_args()

    def run(part: str, folder: Path) -> bool:
        if part != "steward":
            return slider(folder, options.moves, options.runs)
        is_good = steward(folder, options.cases)
        with tempfile.TemporaryDirectory() as long_queue:
            return steward(Path(long_queue), options.cases, options.waiting) and is_good

    run_parts(options.parts, run)


if __name__ == "__main__":
    main()
