"""The ladder demo D1 over the embedded store: one observation, compiled differently."""

from collections.abc import Iterator
from typing import Any

import pytest

from tenure.compiler.compile import compile
from tenure.compiler.envelope.envelope import Envelope
from tenure.compiler.gathering.mentions import ExactBinder
from tenure.compiler.ir.context import Circumstances, project_of, scopes_of
from tenure.compiler.request.parse import parse_request
from tenure.schema.entity import EntityRef
from tenure.schema.principal import Principal
from tenure.service.client.connect import connect
from tenure.service.client.memory import Memory
from tenure.service.reading.view import point_of

SAID = "I am a senior prompt engineer and I specialize in high-dimensional model steering."
WHY = "explanations of prompting and model steering can assume expert knowledge"
CODE = (
    "Write complete, typed code for a senior prompt engineer. Name steering techniques directly; "
    "do not explain prompting basics."
)
REPORT = (
    "The reader is a senior prompt engineer specialised in high-dimensional model steering. "
    "Use field terms without definitions; lead with effect sizes and limits."
)
ANN = Principal(user="ann", roles=frozenset({"engineer"}))


def compiled(memory: Memory, task: str, **given: Any) -> Envelope:
    request = parse_request(task, **given)
    principal = memory.principal
    point = point_of(memory.as_of())
    scopes = scopes_of(principal, project_of(request, principal))
    with memory._backend.store.reading(principal.tenant) as reader:
        circumstances = Circumstances(
            principal=principal,
            vocabulary=memory._backend.vocabulary(principal.tenant),
            policy=memory.policy,
            point=point,
            keys=reader.keys(),
        )
        binder = ExactBinder(reader, scopes, point.tx_us)
        return compile(request, circumstances, reader=reader, resolve_mentions=binder)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with connect(":memory:") as owner:
        owner.vocabulary.define_slot(
            "specialty",
            instruction={
                "code_generation": "Write complete, typed code for a {experience_level} {title}. "
                "Name steering techniques directly; do not explain prompting basics.",
                "analytical_reporting": "The reader is a {experience_level} {title} specialised "
                "in {specialty}. Use field terms without definitions; lead with effect sizes and "
                "limits.",
            },
        )
        ann = owner.bind(ANN)
        for slot, value in (
            ("title", "prompt engineer"),
            ("experience_level", "senior"),
            ("specialty", "high-dimensional model steering"),
        ):
            ann.write(
                subject={"name": "Ann", "type": "person"},
                slot=slot,
                value=value,
                content=SAID,
                layer="user",
                why_it_matters=WHY,
                applicable_task_types=("code_generation", "analytical_reporting"),
            )
        yield ann


@pytest.mark.parametrize(
    ("task", "query", "text"),
    [
        ("code_generation", "write a harness that tests steering vectors", CODE),
        ("analytical_reporting", "compare activation steering with fine-tuning", REPORT),
    ],
)
def test_the_observation_becomes_the_guidance_of_the_task(
    memory: Memory, task: str, query: str, text: str
) -> None:
    envelope = compiled(memory, task, query=query)
    guidance = [b for b in envelope.blocks if b.section == "turn_guidance"]
    assert [block.text.partition("] ")[2] for block in guidance] == [text]
    assert [o.compiled_as for o in envelope.trace.compiled_objects if o.merged] == [
        "behavioral_guidance"
    ]
    assert SAID not in envelope.text
    merged = [o for o in envelope.trace.omitted_objects if o.reason == "merged_into"]
    assert len(merged) == 2


@pytest.mark.parametrize(
    ("task", "query", "detail"),
    [
        ("data_extraction", "turn this invoice into JSON", "task_type"),
        ("code_generation", "rename a CSS class", "activation"),
    ],
)
def test_the_observation_stays_out_where_it_does_not_matter(
    memory: Memory, task: str, query: str, detail: str
) -> None:
    envelope = compiled(memory, task, query=query)
    assert "engineer" not in envelope.text
    found = {(o.reason, o.detail) for o in envelope.trace.omitted_objects}
    known = {("irrelevant_to_active_task", detail)}
    assert found <= known
    assert {o.section for o in envelope.trace.compiled_objects} == {"user_request"}


@pytest.mark.parametrize(
    ("task", "query", "text"),
    [
        ("code_generation", "write a harness that tests steering vectors", CODE),
        ("analytical_reporting", "compare activation steering with fine-tuning", REPORT),
        ("data_extraction", "turn this invoice into JSON", None),
        ("code_generation", "rename a CSS class", None),
    ],
)
def test_one_raw_observation_compiles_differently_for_each_task(
    memory: Memory, task: str, query: str, text: str | None
) -> None:
    """The whole way, as a user goes it: observed, extracted by rules, compiled by the client."""
    ben = memory.bind(Principal(user="ben"))
    said, *claims = ben.observe(
        SAID, speaker=EntityRef(name="Ben", type="person", external_ids={"user": "ben"}),
        why_it_matters=WHY, applicable_task_types=("code_generation", "analytical_reporting"),
    )  # fmt: skip
    assert len(claims) == 3
    envelope = ben.compile(task, query)
    guidance = [b.text.partition("] ")[2] for b in envelope.blocks if b.section == "turn_guidance"]
    assert guidance == ([] if text is None else [text])
    # What was said is quoted where it bears on the question, and directs nothing.
    quoting = {block.kind.value for block in envelope.blocks if SAID in block.text}
    assert quoting == (set() if text is None else {"data"})
    omitted = {o.object_id: o.reason for o in envelope.trace.omitted_objects}
    if text is None:
        assert set(omitted.values()) <= {"irrelevant_to_active_task"}
    assert ben.rehydrate(said.object_id).text == SAID


def test_a_placeholder_without_a_clean_value_drops_the_template(memory: Memory) -> None:
    memory.write(subject="Ann", slot="title", op="deny", value="prompt engineer", layer="user")
    envelope = compiled(memory, "code_generation", query="write a harness for steering vectors")
    assert "Write complete" not in envelope.text
    assert "high-dimensional model steering" in envelope.text


def test_another_persons_specialty_is_no_guidance_for_us(memory: Memory) -> None:
    bob = memory.bind(Principal(user="bob"))
    bob.write(subject="Carl", slot="specialty", value="tensor steering")
    envelope = compiled(bob, "code_generation", query="tests for tensor steering")
    assert [o.section for o in envelope.trace.compiled_objects] == ["turn_memory", "user_request"]
