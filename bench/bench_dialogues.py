"""Everyday dialogues in which something changes, and what a context of 500 tokens shows of it.

    python -P bench/bench_dialogues.py [--budget 500] [--missed] [--task conversation]

`dialogues.py` has sixty of them, English and German, each with a question. One turn is observed a
day, by the rules, and asked is the person who spoke. Printed are, by part, the share of the values
to show that stand in the context, the share of the values to leave out that stand there none the
less, and the dialogues in which both are right. Half of the dialogues, by a seed, were read by who
mended the rules; the others were only counted, so `--missed` lists the first half alone. Reads no
data.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.table import Table

import tenure
from tenure.bench.dialogues import ENGLISH, GERMAN, SMALL_TALK, Dialogue

SEED = 9
TAKES_BACK = "~"
START = datetime(2026, 1, 5, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a context showed of one dialogue."""

    dialogue: Dialogue
    missing: tuple[str, ...]
    stale: tuple[str, ...]
    context: str


def context_of(turns: Sequence[str], question: str, *, budget: int, task: str) -> str:
    """What stands in the context of the question, without the request."""
    now = START
    with tempfile.TemporaryDirectory() as folder:
        store = tenure.connect(
            str(Path(folder) / "talk.db"), clock=lambda: round(now.timestamp() * 1_000_000)
        )
        with store:
            memory = store.bind(tenure.Principal(tenant="default", user="ann"))
            for turn in turns:
                memory.observe([{"role": "user", "content": turn}])
                now += timedelta(days=1)
            envelope = memory.compile(task, question, user_request=question, budget_tokens=budget)
    blocks = tenure.parse_envelope(envelope.text)
    return "\n".join(block.text for block in blocks if block.section != "request")


def answer_of(dialogue: Dialogue, language: str, *, budget: int, task: str) -> Answer:
    """Observe one dialogue, and ask its question."""
    turns = [turn.removeprefix(TAKES_BACK) for turn in dialogue.turns]
    context = context_of(
        (*SMALL_TALK[language], *turns), dialogue.question, budget=budget, task=task
    )

    rest = context
    for turn, text in zip(dialogue.turns, turns, strict=True):
        if turn.startswith(TAKES_BACK):
            rest = rest.replace(text, "")

    missing = tuple(word for word in dialogue.current if word not in context)
    stale = tuple(word for word in dialogue.stale if word in rest)
    return Answer(dialogue, missing, stale, context)


def parts_of(dialogues: Sequence[Dialogue]) -> dict[str, list[Dialogue]]:
    """The half that was read, and the one that was not."""
    order = list(dialogues)
    random.Random(SEED).shuffle(order)
    half = len(order) // 2
    return {"read": order[:half], "unread": order[half:]}


def row_of(part: str, answers: Sequence[Answer]) -> tuple[str, ...]:
    """The shares of one part."""
    current = sum(len(answer.dialogue.current) for answer in answers)
    missing = sum(len(answer.missing) for answer in answers)
    stale = sum(len(answer.dialogue.stale) for answer in answers)
    exposed = sum(len(answer.stale) for answer in answers)
    right = sum(not answer.missing and not answer.stale for answer in answers)
    return (
        part,
        f"{current - missing}/{current}",
        f"{exposed}/{stale}",
        f"{right}/{len(answers)}",
    )


def main() -> None:
    """Hold every dialogue, ask its question and print the table."""
    parser = argparse.ArgumentParser(description="What a context shows of a changing life.")
    parser.add_argument("--budget", type=int, default=500)
    parser.add_argument("--task", default="conversation")
    parser.add_argument(
        "--missed", action="store_true", help="list what went wrong in the first half"
    )
    parser.add_argument("--contexts", action="store_true", help="and the whole contexts")
    args = parser.parse_args()

    console = Console(width=100)
    table = Table("part", "shown", "stale", "right", title=f"dialogues, {args.budget} tokens")
    for language, dialogues in (("en", ENGLISH), ("de", GERMAN)):
        for part, members in parts_of(dialogues).items():
            answers = [
                answer_of(dialogue, language, budget=args.budget, task=args.task)
                for dialogue in members
            ]
            table.add_row(*row_of(f"{language} {part}", answers))
            if not args.missed or part == "unread":
                continue
            for answer in answers:
                if answer.missing or answer.stale:
                    print(answer.dialogue.turns, "?", answer.dialogue.question)
                    print("   missing", answer.missing, "stale", answer.stale)
                    if args.contexts:
                        print(answer.context)
    console.print(table)


if __name__ == "__main__":
    main()
