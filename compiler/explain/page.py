"""The page of an envelope: one HTML file that shows what went in, what stayed out, and why.

It asks nothing of the network, runs no code and states so in a content security policy of its
own, in which the hash of its one style sheet stands; it follows the reader's light or dark
setting and prints. All words go through `markup`, which escapes them. The same envelope gives
the same bytes: what depends on a run stays out.

`fragment` is the short form for notebooks: without a style sheet, and cut to a size.
Source 000, 6.11.2; checklist C-176, C-179 to C-187; ecosystem 8.

The style sheet of a page: readable, in light and dark, on paper and on a small screen.

It stands in a module of its own because the page's content security policy holds its hash.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ...schema.values import iso
from ..trace.accounting import accounting
from ..trace.metrics import TARGETS, stands
from ..trace.trace import OmittedObject, QuarantinedObject
from .charts import budget_svg, plural, shortened, treemap_svg
from .diagnosis import diagnosis
from .lineage import descents, lineage_svg
from .markup import Markup, element, joined
from .report import Entry, Shown, entries

STYLE: Final = """
:root{color-scheme:light dark;--ink:#14202e;--paper:#fff;--line:#c3ccd7;--soft:#f2f5f8}
@media(prefers-color-scheme:dark){
:root{--ink:#e6ebf2;--paper:#10161e;--line:#3b4756;--soft:#1a222d}}
*{box-sizing:border-box}
body{margin:0;color:var(--ink);background:var(--paper);font:16px/1.5 system-ui,sans-serif}
main{max-width:64rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.5rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2.5rem 0 .75rem;border-bottom:1px solid var(--line)}
h3{font-size:1rem}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(19rem,1fr));gap:.5rem 1.5rem}
dt{font-size:.8rem;opacity:.8}
dd{margin:0;overflow-wrap:anywhere}
svg{display:block;width:100%;height:auto;margin:.5rem 0 1rem}
.wide{overflow-x:auto;margin:.5rem 0 1rem}
table{border-collapse:collapse;font-size:.875rem}
th,td{padding:.3rem .75rem .3rem 0;text-align:left;vertical-align:top;
border-bottom:1px solid var(--line);max-width:24rem;overflow-wrap:break-word;unicode-bidi:isolate}
td.n{text-align:right;font-variant-numeric:tabular-nums}
details{margin:.25rem 0;border:1px solid var(--line);border-radius:4px}
summary{padding:.4rem .75rem;cursor:pointer;overflow-wrap:anywhere}
pre{margin:0;padding:.75rem;background:var(--soft);font-size:.8125rem;white-space:pre-wrap;
overflow-wrap:anywhere;unicode-bidi:isolate}
:focus-visible{outline:3px solid #3b82f6;outline-offset:2px}
@media print{main{max-width:none}details,svg,tr{break-inside:avoid}
details::details-content{content-visibility:visible;height:auto}}
"""


_FRAGMENT_ROWS: Final = 20


_POLICY: Final = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; "
    f"style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'"
)


def page(shown: Shown) -> str:
    """Return the page of an envelope as a whole HTML document."""
    title = f"Context envelope {shown.envelope_id[:12]}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Markup(STYLE)),
    )
    main = element("main", element("h1", title), _facts(shown), *_parts(shown))
    return "<!doctype html>\n" + element("html", head, element("body", main), lang="en") + "\n"


def fragment(shown: Shown) -> str:
    """Return a short account for a notebook, with no style sheet of its own."""
    trace = shown.trace
    rows = [
        (use.name, use.stability.value, use.tokens, use.objects, use.allocated)
        for use in shown.sections
    ]
    omitted = [(o.reason, shortened(o.object_id, 12)) for o in trace.omitted_objects]
    budget = plural(trace.budget["budget_tokens"], "token")
    said = (
        f"{shown.tokens:,} of {budget}, {plural(len(trace.compiled_objects), 'object')} in, "
        f"{len(trace.omitted_objects):,} out, {plural(len(shown.gaps), 'gap')}"
    )
    return element(
        "div",
        element("p", element("strong", f"Envelope {shown.envelope_id[:12]}"), f" — {said}"),
        Markup(budget_svg(shown, alone=False)),
        _table(("section", "zone", "tokens", "objects", "allocated"), rows),
        _folded(f"{plural(len(omitted), 'object')} left out", ("reason", "object"), omitted),
        class_="tenure-envelope",
    )


def _folded(summary: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> Markup:
    kept = rows[:_FRAGMENT_ROWS]
    rest = element("p", f"and {len(rows) - len(kept):,} more") if len(rows) > len(kept) else ""
    return element("details", element("summary", summary), _table(heads, kept), rest)


def _facts(shown: Shown) -> Markup:
    """Return what an envelope is, in a list of terms."""
    trace, manifest = shown.trace, shown.manifest
    facts: Mapping[str, object] = {
        "task": trace.active_task,
        "tokens": f"{shown.tokens:,} (at most {shown.tokens_upper:,}) of "
        f"{int(trace.budget['budget_tokens']):,}",
        "state": f"{trace.validation_status.value}, page {manifest.page}",
        "true at": iso(manifest.valid_us) or "open",
        "known at": iso(manifest.tx_us) or "open",
        "model": manifest.model,
        "counter": manifest.counter,
        "tenant": trace.tenant_id,
        "envelope": shown.envelope_id,
        "digest": shown.digest,
        "policy": manifest.policy_hash,
    }
    pairs = (
        element("div", element("dt", name), element("dd", value)) for name, value in facts.items()
    )
    return element("dl", *pairs)


def _parts(shown: Shown) -> Iterator[Markup]:
    blocks = entries(shown)
    yield _section("Stage by stage", _stages(shown))
    yield _section("Budget", Markup(budget_svg(shown, alone=False)), _budget(shown))
    yield _section("Where the tokens went", Markup(treemap_svg(shown, alone=False)))
    yield _section("Blocks, in the order of the text", _blocks(blocks), *map(_text, blocks))
    yield _section("Where it came from", Markup(lineage_svg(shown, alone=False)), _lineage(shown))
    yield _section("Left out", *_omitted(shown))
    yield _section("Set apart", _verdicts(shown.trace.quarantined_objects))
    yield _section("Gaps", _gaps(shown))
    yield _section("Cache plan", *_cache(shown))
    yield _section("Quality", *_metrics(shown))
    yield _section("What to look at when an answer is wrong", _suspicions(shown))


def _stages(shown: Shown) -> Markup:
    rows = [
        (
            each.stage.value,
            each.entered,
            each.left_out,
            ", ".join(f"{reason} {count}" for reason, count in each.reasons),
        )
        for each in accounting(shown.trace)
    ]
    return _table(("stage", "objects in", "left out", "because"), rows)


def _section(title: str, *content: Markup) -> Markup:
    return element("section", element("h2", title), *content)


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Markup:
    """Return a table, or the word `none`; numbers stand to the right."""
    body = [element("tr", *map(_cell, row)) for row in rows]
    if not body:
        return element("p", "none")
    head = element("tr", *(element("th", name, scope="col") for name in heads))
    table = element("table", element("thead", head), element("tbody", *body))
    return element("div", table, class_="wide", tabindex="0")


def _cell(value: object) -> Markup:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return element("td", "-" if value is None or value == "" else value)
    shown = f"{value:,}" if isinstance(value, int) else f"{value:g}"
    return element("td", shown, class_="n")


def _budget(shown: Shown) -> Markup:
    budget = shown.trace.budget
    rows = [
        (use.name, use.stability.value, use.blocks, use.objects, use.allocated, use.tokens)
        for use in shown.sections
    ]
    price = float(budget["shadow_price"])
    said = (
        f"One token more would be worth {price:g} (the shadow price)."
        if price
        else "Nothing was scarce: the shadow price is 0."
    )
    heads = ("section", "zone", "blocks", "objects", "allocated", "tokens")
    return joined((_table(heads, rows), element("p", said)))


def _blocks(blocks: Sequence[Entry]) -> Markup:
    heads = ("block", "section", "zone", "kind", "level", "tier", "tokens", "objects", "origin")
    rows = [
        (
            entry.number,
            entry.block.section,
            entry.zone.value,
            entry.block.kind.value,
            entry.block.authority,
            entry.tier,
            entry.tokens,
            len(entry.objects),
            entry.block.origin,
        )
        for entry in blocks
    ]
    return _table(heads, rows)


def _text(entry: Entry) -> Markup:
    named = f"{entry.number} {entry.block.section} — {plural(entry.tokens, 'token')}"
    return element("details", element("summary", named), element("pre", entry.block.text))


def _lineage(shown: Shown) -> Markup:
    heads = ("object", "type", "origin", "found by", "done to it", "became", "stands for", "block")
    rows = [
        (
            row.object_id,
            row.object_type,
            row.origin,
            ", ".join(row.found),
            ", ".join(row.changes),
            row.became,
            ", ".join(row.absorbed),
            f"{row.block} {row.section}",
        )
        for row in descents(shown)
    ]
    return _table(heads, rows)


def _omitted(shown: Shown) -> Iterator[Markup]:
    trace = shown.trace
    yield _verdicts(trace.omitted_objects)
    for where, count in trace.withheld.items():
        yield element("p", f"{plural(count, 'object')} may not be seen by this caller ({where}).")
    if trace.withheld_objects:
        yield element("h3", "Withheld, for an auditor")
        yield _verdicts(trace.withheld_objects)


def _verdicts(found: Sequence[OmittedObject | QuarantinedObject]) -> Markup:
    rows = [(o.object_id, o.stage, o.reason, o.detail, _standing(o)) for o in found]
    return _table(("object", "at stage", "because", "detail", "tier or state"), rows)


def _standing(each: OmittedObject | QuarantinedObject) -> str:
    if isinstance(each, OmittedObject):
        return each.priority_tier
    return each.contradiction_status


def _gaps(shown: Shown) -> Markup:
    rows = [(gap.code.value, gap.subject, gap.detail) for gap in shown.gaps]
    return _table(("gap", "about", "detail"), rows)


def _cache(shown: Shown) -> Iterator[Markup]:
    held = shown.trace.cache_metadata
    zones = [(name, int(tokens)) for name, tokens in held["zones"].items()]
    yield _table(("zone", "tokens"), zones)
    yield _table(("cache", "value"), [(k, v) for k, v in _leaves(held) if k != "zones"])


def _leaves(held: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for name, value in held.items():
        if isinstance(value, str | int | float):
            yield name, value


def _metrics(shown: Shown) -> Iterator[Markup]:
    found = shown.quality
    rows = [
        (
            name,
            value,
            f"{TARGETS[name].least:g} to {TARGETS[name].most:g}",
            stands(name, found),
        )
        for name, value in found.metrics.items()
    ]
    yield _table(("metric", "value", "target", "is"), rows)
    yield _table(("of the compile", "value"), list(shown.trace.metrics.items()))


def _suspicions(shown: Shown) -> Markup:
    rows = [
        (each.cause.value, each.part.value.replace("_", " "), each.why, ", ".join(each.subjects))
        for each in diagnosis(shown.trace, shown.quality)
    ]
    return _table(("context is", "look at", "because", "about"), rows)
