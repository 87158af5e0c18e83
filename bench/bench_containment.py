"""Measure containment of whole compiles: every payload in every channel, and harmless documents.

    python bench/bench_containment.py [--every N]

Reads the injection data under TENURE_SHARED (`../shared` beside the checkout), about a second a
text. For each channel it prints in how many envelopes the text was shown, how often it was set
apart or refused, and how often it left its data block (in the text or in the requests of the three
providers), became guidance, or came back altered.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from tenure.tests.containment import CHANNELS, SESSION, Verdicts, trial


def print_table(path: Path, every: int) -> int:
    rows = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
    payloads = rows[::every]
    verdicts = Verdicts()
    for payload in payloads:
        trial(payload, verdicts)

    print(f"{path.name}: {len(payloads)} texts in {len(CHANNELS) + 1} channels")
    print(f"{'channel':16} {'shown':>6} {'apart':>6} {'left':>6} {'guides':>6} {'altered':>7}")
    for channel in (*CHANNELS, SESSION):
        figures = (
            verdicts.shown[channel],
            verdicts.apart[channel],
            verdicts.left_block[channel],
            verdicts.became_guidance[channel],
        )
        print(f"{channel:16}", *(f"{n:6}" for n in figures), f"{verdicts.altered[channel]:7}")
    lines, hidden = verdicts.unescaped["lines"], verdicts.unescaped["hidden"]
    print(f"look-alike lines unescaped {lines}, hidden characters left {hidden}")
    return verdicts.faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="take each N-th text")
    every = parser.parse_args().every
    beside = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("TENURE_SHARED", beside)) / "data/injection"
    if not folder.exists():
        print(f"no injection data at {folder}; set TENURE_SHARED")
        return 1
    faults = sum(
        print_table(folder / f"{name}.dev.jsonl", every) for name in ("injections", "benign")
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
