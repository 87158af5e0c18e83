"""The account of the ten stages: every object counts once, and no name of a withheld one shows."""

from itertools import pairwise

from tenure.schema.compile_terms import Stage
from tenure.schema.principal import Principal
from tenure.tests.compiler.fake_reader import DAY, NOW, Bench
from tenure.tests.compiler.test_compile import REQUEST, full_bench


def test_what_enters_a_stage_is_what_the_one_before_let_through() -> None:
    envelope = full_bench().compile(**{**REQUEST, "budget_tokens": 500})
    accounts = envelope.stages
    assert [each.stage for each in accounts] == list(Stage)
    for before, after in pairwise(accounts):
        assert after.entered == before.entered - before.left_out
    trace = envelope.trace
    assert accounts[-1].entered == len(trace.compiled_objects)
    out = sum(each.left_out for each in accounts)
    assert out == len({o.object_id for o in trace.omitted_objects})
    order = accounts[list(Stage).index(Stage.ORDER)]
    assert order.reasons[0][0] == "section_dropped"
    assert sum(count for _, count in order.reasons) == order.left_out


def test_reasons_stand_with_the_stage_that_gave_them() -> None:
    bench = Bench(principal=Principal(user="ann", roles=frozenset({"agent", "auditor"})))
    bench.world.add("past", subject="Sam", slot="office", value="Rome", valid=(0, NOW - DAY))
    bench.world.add("hidden", text="alpha", origin="https://a.example/x", level=4,
                    object_type="identity_fact", visible=True, deny=("agent",))  # fmt: skip
    envelope = bench.compile(query="alpha office of Sam", entities=["Sam"])
    found = {each.stage: dict(each.reasons) for each in envelope.stages if each.left_out}
    assert found[Stage.VALIDATE] == {"expired_valid_time": 1}
    assert sum(found[Stage.GATE].values()) == 1
    assert all(reason.startswith("withheld (") for reason in found[Stage.GATE])


def test_changed_texts_are_counted_at_convert() -> None:
    text = "The alpha report of the harbour was sent to nine people on Monday evening."
    same = [{"text": text, "origin": "doc://1"}, {"text": text + " ", "origin": "doc://2"}]
    envelope = Bench().compile(query="alpha report harbour", evidence=same)
    convert = envelope.stages[list(Stage).index(Stage.CONVERT)]
    assert (convert.left_out, convert.converted) == (1, 1)


def test_what_went_in_by_a_part_counts_as_compiled() -> None:
    bench = Bench()
    bench.world.add("fact", subject="Sam", slot="office", value="alpha", demoted=True)
    envelope = bench.compile(query="alpha office")
    assert [o.reason for o in envelope.trace.omitted_objects] == ["parent_remainder"]
    assert [each.left_out for each in envelope.stages] == [0] * len(Stage)
    assert envelope.stages[0].entered == len(envelope.trace.compiled_objects)
