"""Worlds of linked facts with ten questions each: facts that a context needs, and wrong ones.

`tests/data/neighbours.json` holds them. A world has a crowd around one entity, two facts that the
caller may not see, and strangers whose facts fill the slots that are asked.
"""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import tenure

DATA = Path(__file__).parent.parent / "data" / "neighbours.json"
SINCE = "2026-01-05T09:00:00Z"


class Result(NamedTuple):
    """What a context shows of a case."""

    needed: int
    found: int
    wrong: int
    lines: tuple[str, ...]
    tokens: int


def worlds() -> list[dict[str, Any]]:
    """The worlds of the data file."""
    loaded: list[dict[str, Any]] = json.loads(DATA.read_text("utf-8"))
    return loaded


def filled_store(world: dict[str, Any]) -> tenure.Memory:
    """A store in memory with the facts of a world."""
    memory = tenure.connect(":memory:")
    kinds = world["entities"]

    def mention(name: Any) -> Any:
        return {"name": name, "type": kinds[name]} if name in kinds else name

    for subject, slot, value, *roles in world["facts"]:
        fields = {"allow_roles": roles} if roles else {}
        memory.write(mention(subject), slot, mention(value), valid_from=SINCE, **fields)

    crowd = world["crowd"]
    writes: list[tenure.Write] = []
    for number in range(crowd["count"]):
        member = {"name": f"{crowd['name']} {number:03}", "type": crowd["type"]}
        for slot, value in crowd["facts"]:
            stated = tenure.Write(subject=member, slot=slot, value=mention(value), valid_from=SINCE)
            writes.append(stated)
    memory.write_many(writes)
    return memory


def shown_lines(text: str, query: str) -> tuple[str, ...]:
    """The facts and texts of a context, one a line, rows with their label before each cell."""
    lines: list[str] = []
    heading = ""
    for line in text.splitlines():
        if line.startswith("==="):
            is_heading = not re.match(r"=== (?:data|instruction)|=== .* end$", line)
            heading = line[4:] if is_heading else heading
            continue
        if heading in ("REQUEST", "TASK") or not line.strip() or query in line:
            continue
        if line.startswith(("@ ", "Text between", "Not shown:", "Not known:")):
            continue
        label, *cells = line.split(" | ")
        lines += [f"{label} {cell}" for cell in cells] or [line]
    return tuple(re.sub(r"^\[[^\]]*\] ", "", line).replace("_", " ") for line in lines)


def ask(memory: tenure.Memory, case: dict[str, Any]) -> Result:
    """Compile a case for a member and count what its context shows."""
    member = memory.bind(tenure.Principal(user="ann", roles=frozenset({"member"})))
    envelope = member.compile("assistant", case["query"], budget_tokens=case["budget"])
    lines = shown_lines(envelope.text, case["query"])
    plain = [line.replace(" = ", " ").replace(":", "").lower() for line in lines]

    found = sum(any(need.lower() in line for line in plain) for need in case["needed"])
    wrong = sum(any(word.lower() in line for word in case["wrong"]) for line in plain)
    return Result(len(case["needed"]), found, wrong, lines, envelope.tokens)
