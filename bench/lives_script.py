"""A model that reads perfectly: for each turn of a life it says the claims that are in it.

It stands behind a server on this machine that speaks OpenAI's protocol, so all that lies between
a text and its claims is the way that any model takes: prompt, schema, quotation, checks.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from tenure.bench.lives_data import Life, document_of, moment_of, said_by_user, slots_of
from tenure.schema.terms import content_terms

SHORT = 300
"""Characters of a value beyond which it is a text."""
_MOMENT = re.compile(r"The moment of speaking is (\S+)\.")


class PerfectReader:
    """The claims of each turn: what a session's operation says, quoting the turn that says it."""

    def __init__(self, record: dict[str, Any], life: Life) -> None:
        self.claims: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        by_time: dict[Any, list[dict[str, Any]]] = defaultdict(list)
        for at, claim in life.writes:
            by_time[at].append(claim)

        for session in record["sessions"]:
            at = moment_of(session)
            turns = [t["message"] for t in said_by_user(session) if t["share_memory"]]
            for claim in by_time[at] if turns else ():
                value = claim["value"]
                quote = _best_quote(value, turns)
                self.claims[at.isoformat(timespec="minutes"), quote].append(
                    {
                        "subject": None,
                        "slot": slot_of(claim, life),
                        "value": int(value) if value.isdigit() else value,
                        "op": "deny" if claim["op"] == "retract" else claim["op"],
                        "quote": quote,
                        "valid_from": None,
                        "valid_until": None,
                    }
                )

    def answer(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """The claims of the text that a request of the extractor holds."""
        instructions, prompt = (message["content"] for message in request["messages"])
        moment = _MOMENT.search(instructions)
        text = prompt.partition("\n")[2].rpartition("\n")[0]
        return self.claims.get((moment[1], text), []) if moment else []


def slot_of(claim: dict[str, Any], life: Life) -> str:
    """The slot of the speaker that a claim fills; that of a document is one of its own."""
    if claim["subject"] == life.person:
        return str(claim["slot"])
    return f"{claim['subject']}_{claim['slot'].removeprefix('doc_')}"[:48]


def script_slots(life: Life) -> dict[str, dict[str, Any]]:
    """The slots that the reader fills, as an application would define them."""
    known, slots = slots_of(life), dict[str, dict[str, Any]]()
    for _, claim in life.writes:
        slot = slot_of(claim, life)
        definition = dict(known[claim["slot"]])
        if claim["subject"] != life.person:
            document = document_of(claim["subject"])["name"]
            title = life.titles[claim["subject"]]
            definition["description"] = f"{definition['description']} of {document}: {title}"[:500]
        if claim["value"].isdigit():
            definition["value_type"] = "integer"
        elif len(claim["value"]) > SHORT:
            definition["value_type"] = "text"
        slots[slot] = definition
    return slots


def _best_quote(value: str, turns: Sequence[str]) -> str:
    terms = content_terms(value)
    return max(turns, key=lambda turn: len(terms & content_terms(turn)))
