"""The fitted model: every number a score depends on, in one readable file.

`model.json` holds the weights of each comparison and level (natural-log odds, fitted), the two
Platt numbers that turn their sum into a probability, the context weights (proposals, marked
`prior`: no labelled context exists yet), the limits of the vetoes, the frozen rarity of words,
and the version of the normaliser. Its version is a hash of all of that; it is on every
judgement, so an old decision can always be told from a new one.

Nothing is fitted at run time. `bench/fit_resolution.py` writes the file, `default_model` reads
the shipped one once. A model is a value: build another one to change it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import resources

from ..schema.errors import Fault
from .compare import COMPARISONS, Rarity
from .lexicon import profile_of
from .normalize import NORMALIZER_VERSION

FORMAT = 1
_COMMON = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class VetoLimits:
    """The numbers that the vetoes read."""

    capped_score: float
    """The most a vetoed pair can score."""
    extra_share: int
    """`extra_tokens`: more unmatched words than this share of one side, in thousandths."""
    single_word_osa: int
    """`single_vs_multi`: spelling, in thousandths, from which one word may equal several."""
    short_core: int
    """`short_core`: fewer characters than this say too little."""
    neighbour_overlap: int
    """Shared neighbours (Jaccard, in thousandths) from which they count as evidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """Weights, calibration and limits. Natural-log odds throughout; floats of six decimals."""

    version: str
    """`fs-1-` and twelve hex digits of the content's SHA-256."""
    normalizer: str
    """The `NORMALIZER_VERSION` it was fitted with."""
    fitted_on: Mapping[str, object]
    """Which pairs, how many, which split: for the reader."""
    prior: float
    """Log-odds of a match before any evidence, among the labelled pairs."""
    slope: float
    """Platt: calibrated log-odds = slope * evidence + intercept + shift."""
    intercept: float
    shift: float
    """logit(share of matches in deployment) - logit(share in the labels); 0 until audited."""
    weights: Mapping[str, tuple[float, ...]]
    """Comparison -> weight of each level, in the order of `COMPARISONS`."""
    status: Mapping[str, str]
    """Comparison -> `fitted`, or `prior` where the labels say too little."""
    context: Mapping[str, float]
    """Context evidence -> weight; all proposals."""
    limits: VetoLimits
    rarity: Mapping[str, Mapping[str, int]]
    """Profile of the name -> frequent word -> rarity in thousandths; other words count 1000."""

    def rarity_of(self, entity_type: str) -> Rarity:
        """How much a word tells among names of a type, in thousandths."""
        table = self.rarity.get(profile_of(entity_type).value, {})
        return lambda word: table.get(word, _COMMON)


def model_from_json(text: str) -> Model:
    """The model of a file.

    Raises:
        Fault: `invariant_broken` when the content does not fit its version, the normaliser or the
            table of comparisons.
    """
    raw = json.loads(text)
    model = Model(
        version=raw["version"],
        normalizer=raw["normalizer"],
        fitted_on=raw["fitted_on"],
        prior=raw["prior"],
        slope=raw["platt"]["slope"],
        intercept=raw["platt"]["intercept"],
        shift=raw["platt"]["shift"],
        weights={name: tuple(row["levels"].values()) for name, row in raw["comparisons"].items()},
        status={name: row["status"] for name, row in raw["comparisons"].items()},
        context=raw["context"]["weights"],
        limits=VetoLimits(**raw["limits"]),
        rarity=raw["rarity"],
    )

    _check(model, raw)

    return model


@cache
def default_model() -> Model:
    """The shipped model; the file is read on the first call."""
    file = resources.files(__package__ or "").joinpath("model.json")
    return model_from_json(file.read_text(encoding="utf-8"))


def with_version(model: Model) -> Model:
    """The model under the version that its content has."""
    text = json.dumps(content_of(model), sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return replace(model, version=f"fs-{FORMAT}-{digest[:12]}")


def content_of(model: Model) -> dict[str, object]:
    """What the file of a model holds, without its version."""
    # Level names are padded by position: JSON sorts its keys, the order of levels must survive.
    comparisons: dict[str, object] = {}
    for row in COMPARISONS:
        levels: dict[str, float] = {}
        for index, (level, weight) in enumerate(
            zip(row.levels, model.weights[row.name], strict=True)
        ):
            levels[f"{index:02d} {level}"] = weight
        comparisons[row.name] = {"status": model.status[row.name], "levels": levels}

    return {
        "format": FORMAT,
        "normalizer": model.normalizer,
        "fitted_on": model.fitted_on,
        "prior": model.prior,
        "platt": {"slope": model.slope, "intercept": model.intercept, "shift": model.shift},
        "comparisons": comparisons,
        "context": {"status": "prior", "weights": model.context},
        "limits": asdict(model.limits),
        "rarity": model.rarity,
    }


def _check(model: Model, raw: Mapping[str, object]) -> None:
    level_counts = {row.name: len(row.levels) for row in COMPARISONS}
    if {name: len(row) for name, row in model.weights.items()} != level_counts:
        raise _fault("its comparisons are not those of this release", raw)
    if model.normalizer != NORMALIZER_VERSION:
        raise _fault(f"it was fitted with normaliser {model.normalizer!r}", raw)
    if with_version(model).version != model.version:
        raise _fault("its content was edited after it was fitted", raw)


def _fault(reason: str, raw: Mapping[str, object]) -> Fault:
    version = raw["version"]
    return Fault(
        f"cannot use resolution model {version!r}: {reason}; fit it again "
        "with bench/fit_resolution.py",
        code="invariant_broken",
        model_version=version,
    )
