"""Everyday dialogues in which something changes, and what a context of 500 tokens shows of it.

    python -P bench/bench_dialogues.py [--budget 500] [--missed] [--task conversation]
                                       [--only "en mixed" "de mixed"]

`dialogues.toml` has sixty of them, English and German, each with a question, and forty mixed ones
with two to four. One turn is observed a day, by the rules, and asked is the person who spoke.
Printed are, by part, the share of the values to show that stand in the context, the share of the
values to leave out that stand there none the less, and the questions and dialogues in which both
are right. Half of the dialogues, by a seed, were read by who mended the rules; the others were only
counted, so `--missed` lists the first half alone. A turn that is marked as earlier is not counted
as stale. Reads no data.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import tenure
from tenure.bench.dialogues import SMALL_TALK, Query, Talk, talks_of
from tenure.bench.script import fresh_memory, options_of, print_table

SEED = 9
TAKES_BACK = "~"
START = datetime(2026, 1, 5, 9, tzinfo=UTC)
TALKS = {name: (name[:2], talks_of(name)) for name in ("en", "de", "en mixed", "de mixed")}


@dataclass(frozen=True, slots=True)
class Answer:
    """What the context of one question showed."""

    talk: Talk
    query: Query
    missing: tuple[str, ...]
    stale: tuple[str, ...]
    context: str

    @property
    def right(self) -> bool:
        """Whether everything needed stands there, and nothing else that was asked about."""
        return not self.missing and not self.stale


def contexts_of(
    turns: Sequence[str], questions: Sequence[str], *, budget: int, task: str
) -> list[str]:
    """What stands in the context of each question, without the request, once all was said."""
    now = START
    with fresh_memory(clock=lambda: round(now.timestamp() * 1_000_000)) as store:
        memory = store.bind(tenure.Principal(tenant="default", user="ann"))
        for turn in turns:
            memory.observe([{"role": "user", "content": turn}])
            now += timedelta(days=1)
        envelopes = [
            memory.compile(task, question, user_request=question, budget_tokens=budget)
            for question in questions
        ]
    return [
        "\n".join(
            block.text
            for block in tenure.parse_envelope(envelope.text)
            if block.section != "request"
        )
        for envelope in envelopes
    ]


def without(context: str, texts: Sequence[str]) -> str:
    """The context without these texts, in small letters."""
    letters = context.casefold()
    for text in sorted(texts, key=len, reverse=True):
        letters = letters.replace(text.casefold(), "")
    return letters


def answers_of(talk: Talk, language: str, *, budget: int, task: str) -> list[Answer]:
    """Observe one dialogue, and ask its questions."""
    turns = [turn.removeprefix(TAKES_BACK) for turn in talk.turns]
    ends = [turn.removeprefix(TAKES_BACK) for turn in talk.turns if turn.startswith(TAKES_BACK)]
    contexts = contexts_of(
        (*SMALL_TALK[language], *turns),
        [query.question for query in talk.queries],
        budget=budget,
        task=task,
    )

    answers = []
    for query, context in zip(talk.queries, contexts, strict=True):
        # A line marked "(earlier)" gives no value as current.
        current = "\n".join(line for line in context.splitlines() if " (earlier): " not in line)
        everything, but_endings = without(context, ()), without(current, ends)
        missing = tuple(word for word in query.current if word.casefold() not in everything)
        stale = tuple(word for word in query.stale if word.casefold() in but_endings)
        invented = tuple(w for w in query.invented if w.casefold() in without(context, turns))
        answers.append(Answer(talk, query, missing, stale + invented, context))
    return answers


def parts_of(talks: Sequence[Talk]) -> dict[str, list[Talk]]:
    """The half that was read, and the one that was not."""
    order = list(talks)
    random.Random(SEED).shuffle(order)
    half = len(order) // 2
    return {"read": order[:half], "unread": order[half:]}


def row_of(part: str, talks: Sequence[Sequence[Answer]]) -> tuple[str, ...]:
    """The shares of one part."""
    answers = [answer for talk in talks for answer in talk]
    current = sum(len(answer.query.current) for answer in answers)
    missing = sum(len(answer.missing) for answer in answers)
    stale = sum(len(answer.query.stale + answer.query.invented) for answer in answers)
    exposed = sum(len(answer.stale) for answer in answers)
    right = sum(answer.right for answer in answers)
    right_talks = sum(all(answer.right for answer in talk) for talk in talks)
    return (
        part,
        f"{current - missing}/{current}",
        f"{exposed}/{stale}",
        f"{right}/{len(answers)}",
        f"{right_talks}/{len(talks)}",
    )


def main() -> None:
    """Hold every dialogue, ask its questions and print the table."""
    args = options_of(
        __doc__, budget=500, task="conversation", missed=False, contexts=False, only=list(TALKS)
    )
    rows: list[tuple[str, ...]] = []
    for name in args.only:
        language, talks = TALKS[name]
        for part, members in parts_of(talks).items():
            answers = [
                answers_of(talk, language, budget=args.budget, task=args.task) for talk in members
            ]
            rows.append(row_of(f"{name}, {part}", answers))
            if not args.missed or part == "unread":
                continue
            for answer in (answer for of_talk in answers for answer in of_talk):
                if not answer.right:
                    print(answer.talk.turns, "?", answer.query.question)
                    print("   missing", answer.missing, "stale", answer.stale)
                    if args.contexts:
                        print(answer.context)
    heads = "part", "shown", "stale", "questions", "dialogues"
    print_table(*heads, rows=rows, title=f"dialogues, {args.budget} tokens")


if __name__ == "__main__":
    main()
