"""Measure containment: what leaves its block, what the detectors find, and what it costs.

    python bench/bench_contain.py [--split dev]

Reads the injection data under TENURE_SHARED (`../shared` beside the checkout). Prints recall per
kind of payload, false positives, escapes from a block and in every channel, altered documents, the
tokens of the framing, and microseconds per document (median of the passes). The phrase rules were
written with the dev split in view, so recall on it is an upper bound for what unseen text gives.
"""

from __future__ import annotations

import json
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import toktok  # type: ignore[import-untyped]

from tenure.bench.script import options_of, shared_file
from tenure.compiler.format.escape import escape_data
from tenure.compiler.format.grammar import (
    Block,
    Seal,
    parse_envelope,
    render_blocks,
    verify_envelope,
)
from tenure.compiler.safety.canonical_text import canonicalise
from tenure.compiler.safety.credentials import find_credentials
from tenure.compiler.safety.detect import ScanVerdict, TextChannel, scan, verdict
from tenure.compiler.safety.isolation import Isolation, encode
from tenure.schema.compile_terms import BlockKind
from tenure.tests.containment import CHANNELS, Verdicts, trial

SEAL = Seal(key=b"bench", epoch=1, policy_hash="bench")
CHANNEL_OF = {
    "tool_output": TextChannel.TOOL,
    "retrieved_document": TextChannel.DOCUMENT,
    "user_input": TextChannel.USER,
    "memory": TextChannel.AGENT,
    None: TextChannel.DOCUMENT,
}
Row = dict[str, str]


def read_rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def is_quarantined(row: Row) -> bool:
    channel = CHANNEL_OF[row.get("channel")]
    return verdict(scan(row["text"], channel), channel) is ScanVerdict.QUARANTINE


def in_data(text: str, anchor: str = "1") -> Block:
    return Block("evidence", BlockKind.DATA, (anchor,), "web://example.org/page", 4, text)


def print_detection(injections: Sequence[Row], benign: Sequence[Row]) -> None:
    seen: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for row in injections:
        kind = row["kind"].split(":")[0]
        seen[kind] += 1
        found[kind] += is_quarantined(row)
    print(f"recall {sum(found.values())}/{len(injections)}", end="")
    print(f" = {sum(found.values()) / len(injections):.3f}")
    for kind, total in seen.most_common():
        print(f"  {kind:24} {found[kind]:4}/{total}")
    wrong = [row for row in benign if is_quarantined(row)]
    print(f"false positives {len(wrong)}/{len(benign)} = {len(wrong) / len(benign):.4f}")
    refused = [row for row in benign if find_credentials(row["text"])]
    print(f"benign refused as secret {len(refused)}/{len(benign)}")


def print_containment(injections: Sequence[Row], benign: Sequence[Row]) -> None:
    for kind in (BlockKind.DATA, BlockKind.DIALOGUE):
        escaped = 0
        for row in injections:
            listed = tuple(
                Block("history", kind, (), "user://chat", 2, text)
                for text in ("before", row["text"], "after")
            )
            escaped += parse_envelope(render_blocks(listed, SEAL)) != listed
        print(f"payloads that left a {kind.value} block {escaped}/{len(injections)}")
    altered = sum(
        parse_envelope(render_blocks([in_data(row["text"])], SEAL))[0].text != row["text"]
        for row in benign
    )
    stripped = sum(canonicalise(row["text"]).text != row["text"] for row in benign)
    marked = sum(escape_data(row["text"]) != row["text"] for row in benign)
    print(
        f"benign altered after decoding {altered}/{len(benign)}, by canonical text {stripped}, ",
        end="",
    )
    print(f"rendered with an escape {marked}")


def print_channels(injections: Sequence[Row]) -> None:
    """Bring every payload in by every channel of a compile, and by a tool's result of a session."""
    verdicts = Verdicts()
    for row in injections:
        trial(row["text"], verdicts)
    channels = len(CHANNELS) + 1
    print(
        f"payloads by channel {len(injections)} x {channels} = {len(injections) * channels:,}:"
        f" shown {verdicts.shown.total():,}, set apart or refused {verdicts.apart.total():,},"
        f" left their block {verdicts.left_block.total()},"
        f" became guidance {verdicts.became_guidance.total()},"
        f" escapes that are missing {verdicts.unescaped.total()}"
    )


def count(text: str) -> int:
    return int(toktok.batch_count([text], "o200k_base")[0])


def print_tokens(benign: Sequence[Row]) -> None:
    texts = [row["text"] for row in benign]
    bare = sum(count(text) for text in texts)
    framed = count(render_blocks([in_data(text, str(n)) for n, text in enumerate(texts)], SEAL))
    print(f"o200k tokens: bare {bare}, framed {framed}, {(framed - bare) / len(texts):.1f} a block")
    for isolation in (Isolation.DATAMARK, Isolation.BASE64):
        spent = sum(count(encode(text, isolation)) for text in texts)
        print(f"  {isolation.value} {spent / bare:.2f}x of the bare text")


def median_us(call: Callable[[], object], units: int, passes: int = 5) -> float:
    times: list[float] = []
    for _ in range(passes):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return statistics.median(times) / units * 1e6


def print_speed(benign: Sequence[Row]) -> None:
    texts = [row["text"] for row in benign]
    listed = [in_data(text, str(n)) for n, text in enumerate(texts)]
    rendered = render_blocks(listed, SEAL)
    steps: dict[str, Callable[[], object]] = {
        "canonicalise": lambda: [canonicalise(text) for text in texts],
        "scan and verdict": lambda: [is_quarantined(row) for row in benign],
        "find_credentials": lambda: [find_credentials(text) for text in texts],
        "escape_data": lambda: [escape_data(text) for text in texts],
        "render_blocks": lambda: render_blocks(listed, SEAL),
        "parse_envelope": lambda: parse_envelope(rendered),
        "verify_envelope": lambda: verify_envelope(rendered, SEAL),
    }
    mean = statistics.mean(len(text) for text in texts)
    print(f"microseconds a document ({mean:.0f} characters on average, {len(texts)} documents)")
    for name, call in steps.items():
        print(f"  {name:18} {median_us(call, len(texts)):8.1f}")


def main() -> None:
    split = options_of(__doc__, split="dev").split
    folder = shared_file(f"data/injection/injections.{split}.jsonl").parent
    injections = read_rows(folder / f"injections.{split}.jsonl")
    benign = read_rows(folder / f"benign.{split}.jsonl")
    print_detection(injections, benign)
    print_containment(injections, benign)
    print_channels(injections)
    print_tokens(benign)
    print_speed(benign)


if __name__ == "__main__":
    main()
