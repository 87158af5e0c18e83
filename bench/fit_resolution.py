"""Fit resolution/model.json to the labelled alias pairs: deterministic, split by cluster.

    python bench/fit_resolution.py [--data DIR] [--out FILE] [--check]

Clusters whose hash falls into the held-out third are never seen by the fit; bench_resolution.py
measures the shipped file on them. `--check` fails when the shipped file is not what this
script makes.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from tenure.bench.evaluation.fit import LabelledPair, fit, model_to_json, split
from tenure.bench.evaluation.resolution import pairs_from_rows
from tenure.bench.script import SHARED, options_of

ROOT = Path(__file__).resolve().parent.parent
ALIASES = SHARED / "data" / "aliases"
FILES = ("openstack_company_aliases.csv", "system_aliases.csv", "un_person_variants.csv")
HELD_OUT_FOLD = 0
FOLDS = 3


def read_pairs(folder: Path) -> tuple[LabelledPair, ...]:
    """Return all labelled pairs, in the order of the files."""
    pairs: list[LabelledPair] = []
    for name in FILES:
        with (folder / name).open(encoding="utf-8", newline="") as file:
            pairs += pairs_from_rows(csv.DictReader(file))
    return tuple(pairs)


def fitted_file(folder: Path) -> str:
    """Return the text of the model file."""
    train, held = split(read_pairs(folder), HELD_OUT_FOLD, FOLDS)
    return model_to_json(
        fit(
            train,
            fitted_on={
                "files": list(FILES),
                "pairs": len(train),
                "matches": sum(pair.is_match for pair in train),
                "held_out_pairs": len(held),
                "split": f"cluster hash, fold {HELD_OUT_FOLD} of {FOLDS} held out",
            },
        )
    )


def main() -> int:
    model = ROOT / "resolution" / "model.json"
    options = options_of(__doc__, data=ALIASES, out=model, check=False)
    text = fitted_file(options.data)
    if not options.check:
        options.out.write_text(text, encoding="utf-8")
        print(f"wrote {options.out.name}")
        return 0
    same = options.out.read_text(encoding="utf-8") == text
    print("the model is reproducible" if same else "the model differs from a fresh fit")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
