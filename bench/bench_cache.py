"""What each provider's prompt cache should serve over one conversation of fifty turns.

    python bench/bench_cache.py [--turns 50]

A real memory, one compile a turn; question and answer join the history. For each model: tokens
sent, tokens that the cache should hold from the turn before by the rules of the capability table
(lower bound of the count), their share, and what the input costs against no cache. Nothing is
sent to a provider: the figures are what its documents promise for these bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenure.bench.script import options_of, print_table
from tenure.compiler.envelope.envelope import Envelope
from tenure.compiler.render.cache_plan import RenderPlan, marks, prefix_tokens
from tenure.tests.conversation import office, turns

MODELS = ("claude-opus-4-8", "claude-haiku-4-5", "gpt-5", "gpt-5.6", "gemini-2.5-pro",
          "gemini-3-pro", "generic")  # fmt: skip


def cost_permille(envelope: Envelope, read: int, sent: int) -> int:
    """Return the price of a request, with a plain token at 1000."""
    row = envelope.plan.capability
    kept = int(envelope.trace.cache_metadata["expected_cached_tokens"])
    written = max(0, kept - read)
    plain = sent - read - written
    return plain * 1000 + read * row.read_permille + written * row.write_permille[0]


def tokens_read(before: RenderPlan, now: RenderPlan) -> int:
    """The tokens of a request that its provider should still hold from the one before.

    Where marks are taken: the longest prefix that the earlier request marked, that stands
    unchanged, and that a mark of this request still looks back on. Else all leading segments
    that stand unchanged, rounded down to the provider's steps. By the lower bound of the count.
    """
    row = now.capability
    if row.min_cacheable_tokens is None:
        return 0

    # A cache is read up to the first byte that changed.
    last_end = -1
    for old, new in zip(before.segments, now.segments, strict=False):
        if old.text != new.text:
            break
        last_end += 1

    if row.breakpoints:
        reach = row.lookback_blocks or len(now.segments)
        last_end = _last_read_mark(marks(before), marks(now), last_end, reach)

    # By the lower bound, and in the provider's own steps: never more than is really read.
    tokens = prefix_tokens(now, last_end)
    if tokens < row.min_cacheable_tokens:
        return 0

    return tokens - tokens % row.granularity_tokens


def _last_read_mark(old: Sequence[int], new: Sequence[int], last_end: int, reach: int) -> int:
    """The last old mark of the unchanged prefix that a new one still looks back on, else -1."""
    for end in reversed(old):
        if end <= last_end and any(0 <= mark - end <= reach for mark in new):
            return end
    return -1


def main() -> None:
    """Print the table."""
    options = options_of(__doc__, turns=50)
    memory = office()
    rows: list[tuple[object, ...]] = []
    for model in MODELS:
        before: Envelope | None = None
        sent = read = cost = last = 0
        for envelope in turns(memory, model, options.turns):
            tokens = envelope.plan.counter.lower_bound(envelope.text)
            hit = tokens_read(before.plan, envelope.plan) if before is not None else 0
            sent, read, last = sent + tokens, read + hit, 100 * hit // tokens
            cost += cost_permille(envelope, hit, tokens)
            before = envelope
        share = f"{100 * read / sent:.1f} %"
        rows.append((model, sent, read, share, f"{last} %", f"{cost / sent / 10:.0f} %"))
    heads = "model", "sent", "read", "share", "last turn", "cost"
    print_table(*heads, rows=rows, title="expected cache")
    memory.close()


if __name__ == "__main__":
    main()
