"""The page of an envelope: one HTML file that shows what went in, what stayed out, and why.

It asks nothing of the network, runs no code and states so in a content security policy of its
own, in which the hash of its one style sheet stands; it follows the reader's light or dark
setting and prints. What an envelope holds can end up in it only as words: templates escape every
value, and characters that XML does not know, or that turn the direction of writing, are shown as
U+FFFD. The same envelope gives the same bytes: what depends on a run stays out.

The fragment is the short form for notebooks: without a style sheet, and cut to a size. The
pictures are files of their own. Checklist C-176, C-179 to C-187.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from ...schema.values import iso
from ..trace.accounting import accounting
from ..trace.metrics import stands
from .charts import INK, WIDTH, abbreviation, budget_bar, fit_text, plural
from .diagnosis import diagnosis
from .lineage import descents, lineage_graph
from .report import EnvelopeReport, entries, head_facts, omissions, question_of, reason_words

if TYPE_CHECKING:
    from jinja2 import Environment

_FRAGMENT_ROWS: Final = 20
_FRAGMENT_LETTERS: Final = 300
"""Of a block's text, in a notebook."""
_POLICY: Final = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-{}'"
_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def page(report: EnvelopeReport, words: Mapping[str, str]) -> str:
    """A whole HTML document; `words` are the opening words of objects by their ids."""
    from markupsafe import Markup

    style = _source("page.css")
    cache_facts = report.trace.cache_metadata.items()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return _fill(
        "page.jinja",
        report=report,
        trace=report.trace,
        policy=_POLICY.format(digest),
        style=Markup(style),
        facts=_facts(report),
        stages=accounting(report.trace),
        bar=budget_bar(report, alone=False),
        entries=entries(report),
        question=question_of(report),
        head_facts=head_facts(report),
        words=words,
        omissions=omissions(report, words),
        graph=lineage_graph(report, alone=False),
        descents=descents(report),
        cache_facts=[fact for fact in cache_facts if isinstance(fact[1], str | int | float)],
        metrics=_metrics(report),
        suspicions=diagnosis(report.trace, report.quality),
    )


def fragment(report: EnvelopeReport, words: Mapping[str, str]) -> str:
    """A short account for a notebook, with no style sheet of its own."""
    return _fill(
        "fragment.jinja",
        trace=report.trace,
        question=question_of(report),
        head_facts=head_facts(report),
        entries=entries(report),
        omissions=omissions(report, words),
        gaps=report.gaps,
        bar=budget_bar(report, alone=False),
        rows=_FRAGMENT_ROWS,
        letters=_FRAGMENT_LETTERS,
    )


def budget_svg(report: EnvelopeReport) -> str:
    """The budget as a stacked bar."""
    return _fill("budget.jinja", bar=budget_bar(report, alone=True)).strip()


def lineage_svg(report: EnvelopeReport) -> str:
    """The lineage as a graph: origins, the objects from them, the blocks they stand in."""
    return _fill("lineage.jinja", graph=lineage_graph(report, alone=True)).strip()


def _facts(report: EnvelopeReport) -> list[tuple[str, object]]:
    """What an envelope is, as terms."""
    trace, manifest = report.trace, report.manifest
    budget = int(trace.budget["budget_tokens"])
    return [
        ("tokens", f"{report.tokens:,} (at most {report.tokens_upper:,}) of {budget:,}"),
        ("state", f"{trace.validation_status.value}, page {manifest.page}"),
        ("true at", iso(manifest.valid_us) or "open"),
        ("known at", iso(manifest.tx_us) or "open"),
        ("model", manifest.model),
        ("counter", manifest.counter),
        ("tenant", trace.tenant_id),
        ("envelope", report.envelope_id),
        ("digest", report.digest),
        ("policy", manifest.policy_hash),
    ]


def _metrics(report: EnvelopeReport) -> list[tuple[object, ...]]:
    quality = report.quality
    rows: list[tuple[object, ...]] = []
    for name, value in quality.metrics.items():
        target = quality.targets[name]
        bounds = f"{target.floor:g} to {target.ceiling:g}"
        rows.append((name, value, bounds, stands(name, quality)))
    return rows


def _fill(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(values)


def template_names() -> dict[str, Any]:
    """What the templates of this folder ask for beside their values."""
    return {
        "figure": _figure,
        "fit_text": fit_text,
        "ink": INK,
        "listed": _reason_list,
        "plural": plural,
        "abbreviation": abbreviation,
        "width": WIDTH,
    }


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_safe,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(template_names())
    environment.filters |= {"plain": _plain, "why": reason_words}
    return environment


def _source(name: str) -> str:
    return files(str(__package__)).joinpath(name).read_text(encoding="utf-8")


def _safe(value: object) -> object:
    """A value that is no markup yet, without what no page can show."""
    from markupsafe import Markup

    if isinstance(value, Markup):
        return value
    return _UNSAFE.sub("\ufffd", str(value))


def _plain(word: object) -> str:
    return str(getattr(word, "value", word)).replace("_", " ")


def _figure(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:g}"


def _reason_list(reasons: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{reason} {count}" for reason, count in reasons)
