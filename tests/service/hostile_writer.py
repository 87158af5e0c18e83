"""A process of the test: honest threads write while one member of their groups is hostile.

Run as `python hostile_writer.py URL NAME THREADS WRITES`, for a server with HOSTILE_AUTH (user and
password, joined by a slash) and HOSTILE_TENANT in the environment. Prints how many writes were
acknowledged, and every code that a refusal had; anything but a `TenureError` ends it with a trace.
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from tenure import Memory, Principal, TenureError, Write, connect
from tenure.schema.limits import ALIASES
from tenure.schema.principal import OWNER
from tenure.schema.write import Submission
from tenure.service.writing.write import Writer

HOSTILE: tuple[dict[str, Any], ...] = (
    {"subject": "Sam\ud800"},
    {"value": "a\0b"},
    {"subject": {"name": "Sam", "aliases": ["a"] * (ALIASES + 1)}},
    {"value": "x" * 2_000_000},
    {"idempotency_key": "shared"},
    {"source_origin": "no uri"},
    {"confidence": float("nan")},
)
"""What the hostile member sends, over and over; `shared` collides with another body each time."""


def person(name: str) -> dict[str, Any]:
    """Whom an honest thread writes about: by an identifier, so that no name is in doubt."""
    return {"name": f"Person {name}", "type": "person", "external_ids": {"crm": name}}


def honest(memory: Memory, name: str, writes: int) -> int:
    """How many of some writes were acknowledged."""
    count = 0
    for number in range(writes):
        key = f"{name}/{number}"
        receipt = memory.write(person(name), "skill", key, idempotency_key=key)
        count += receipt.outcome == "accepted"
    return count


def hostile(memory: Memory, rounds: int) -> set[str]:
    """The codes by which everything hostile was refused."""
    codes: set[str] = set()
    for number in range(rounds):
        for fields in HOSTILE:
            try:
                memory.write(**{"subject": "Eve", "slot": "office", "value": f"{number}", **fields})
            except TenureError as refusal:
                codes.add(refusal.code)
        codes.add(_past_the_edge(memory))
    return codes


def _past_the_edge(memory: Memory) -> str:
    """The code for a text that no store can keep, handed to the queue as if it had been checked."""
    (draft,) = Writer(memory._backend, memory.principal).drafts(
        [Write(subject="Eve", slot="office", value="Rome")]
    )
    draft = replace(draft, content=replace(draft.content, text="lone \ud800 surrogate"))
    submission = Submission((draft,), frozenset({"tenant"}), "service")
    try:
        memory._backend.queue(memory.principal.tenant).submit(submission)
    except (TenureError, UnicodeEncodeError) as error:
        return type(error).__name__
    return "taken"


def run(memory: Memory, name: str, threads: int, writes: int) -> tuple[int, set[str]]:
    """Acknowledged writes and codes of refusals of honest threads beside a hostile one."""
    eve = memory.bind(Principal(tenant=memory.principal.tenant, user="eve"))
    with ThreadPoolExecutor(threads + 1) as pool:
        refusals = pool.submit(hostile, eve, max(1, writes // 4))
        counts = [pool.submit(honest, memory, f"{name}-{n}", writes) for n in range(threads)]
        return sum(count.result() for count in counts), refusals.result()


def server_options() -> dict[str, Any]:
    """How a server is opened; nothing for a file."""
    tenant = os.environ.get("HOSTILE_TENANT")
    if tenant is None:
        return {}
    user, _, password = os.environ.get("HOSTILE_AUTH", "").partition("/")
    auth = (user, password) if user else None
    return {"auth": auth, "principal": replace(OWNER, tenant=tenant)}


if __name__ == "__main__":
    with connect(sys.argv[1], **server_options()) as opened:
        print(*run(opened, sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
