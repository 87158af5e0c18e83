"""Hostile text in every channel, and what becomes of it: for the test and for the bench.

Somebody else's words enter by one channel at a time, or by all at once; the caller then compiles
about the same subject. A token of its own marks the text of each channel, so that a judge which
knows nothing of the pipeline can find it in the bytes: in an envelope it may stand between two
`data` lines alone, and in a provider's request nowhere else.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tenure import EntityRef, InvalidInput, Memory, Principal, connect, parse_envelope
from tenure.compiler.envelope.envelope import Envelope
from tenure.compiler.format.escape import unescape_data
from tenure.compiler.format.grammar import Block, Seal, verify_envelope
from tenure.schema.compile_terms import BlockKind
from tenure.schema.policy import DEFAULT

KEY = b"0123456789abcdef0123456789abcdef"
SUBJECT = "Sam Rivera"
QUERY = "report on Sam Rivera"
WHY = "Sam Rivera report"
NOVA = frozenset({"nova"})
SITES = frozenset({"https://x.example.org"})
"""The trajectory: what was observed on another site stays out of a compile."""
ANN = Principal(user="ann", authority_level=2, projects=NOVA, origins=SITES)
BOB = Principal(user="bob", authority_level=2, projects=NOVA)
APART = replace(
    DEFAULT, compile=replace(DEFAULT.compile, duplicate_containment=1.0, overflow="fail_loud")
)
"""One text in many places would else be said once, and a long one cut."""

Text = Callable[[str], str]
"""What a channel says: the payload with the channel's own mark."""
Channel = Callable[[Memory, str], Mapping[str, Any] | None]
"""Brings a text in; what it returns belongs into the request of the compile."""


def mark(channel: str) -> str:
    """The token that finds a channel's text again."""
    return f"zq{channel.replace('_', '')}qz"


def _fact(memory: Memory, **stated: Any) -> None:
    fields = {
        "subject": SUBJECT,
        "slot": "specialty",
        "value": "maps",
        "why_it_matters": WHY,
        "source_origin": "doc://d/2",
        "authority_level": 4,
        **stated,
    }
    memory.write(**fields)


def _line(text: str, most: int) -> str:
    """One line that ends with its mark, as names have it."""
    words = " ".join(text.split())
    return words if len(words) <= most else words[-most:]


def _value(memory: Memory, text: str) -> None:
    _fact(memory, value=text)


def _colleague(memory: Memory, text: str) -> None:
    _fact(memory.bind(BOB), value=text, source_origin="user://chat", authority_level=2)


def _json_value(memory: Memory, text: str) -> None:
    _fact(memory, slot="sheet", value={"note": [text]})


def _key(memory: Memory, text: str) -> None:
    _fact(memory, slot="card", value={text: 1})


def _name(memory: Memory, text: str) -> None:
    _fact(memory, slot="works_with", value=EntityRef(name=_line(text, 120), type="person"))


def _alias(memory: Memory, text: str) -> None:
    _fact(memory, subject=EntityRef(name=SUBJECT, aliases=[_line(text, 120)]), value="knots")


def _why(memory: Memory, text: str) -> None:
    _fact(memory, value="ships", why_it_matters=f"{WHY}: {text}")


def _origin(memory: Memory, text: str) -> None:
    _fact(
        memory,
        value="boats",
        source_origin="https://e.example.org/" + _line(text, 300).replace(" ", "-"),
    )


def _implication(memory: Memory, text: str) -> None:
    stated = {"source_origin": "user://chat", "authority_level": 2, "value": "terse"}
    _fact(memory.bind(BOB), behavioral_implication=text, **stated)


def _enforced(memory: Memory, text: str) -> None:
    rule = {"kind": "pattern", "spec": {"required": "^$"}}
    memory.bind(BOB).write(
        content=text,
        object_type="actionable_constraint",
        enforcement=rule,
        why_it_matters=WHY,
        scope={"project": "nova"},
    )


def _stored_tool(memory: Memory, text: str) -> None:
    tool = {"name": "find", "description": text, "input_schema": {"description": text}}
    memory.write(
        content=json.dumps(tool),
        object_type="tool_schema",
        layer="user",
        scope={"user": "ann"},
        source_origin="mcp://m",
        applicable_task_types=["analytical_reporting"],
        why_it_matters=WHY,
    )


def _passage(memory: Memory, text: str) -> None:
    memory.write(content=text, object_type="retrieved_passage", source_origin="https://e.example.org",
                 why_it_matters=WHY)  # fmt: skip


def _observed(memory: Memory, text: str) -> None:
    said = f"{SUBJECT}'s office is Rome. {text}"
    memory.observe(said, speaker=SUBJECT, source_origin="https://x.example.org", why_it_matters=WHY)


def _tool_fields(_: Memory, text: str) -> Mapping[str, Any]:
    schema = {"type": "object", "properties": {"q": {"type": "string", "description": text}}}
    tool = {"name": "seek", "description": text, "input_schema": schema}
    return {"tools": [{**tool, "authority_level": 4, "origin": "mcp://m"}]}


def _evidence(_: Memory, text: str) -> Mapping[str, Any]:
    return {"evidence": [{"text": text, "origin": "https://e.example.org/y"}]}


def _document(_: Memory, text: str) -> Mapping[str, Any]:
    return {"evidence": [{"text": f"{text}\n\n| a | b |\n{text}\n\n\n", "origin": "doc://d/9"}]}


def _pinned(_: Memory, text: str) -> Mapping[str, Any]:
    return {"pinned": [{"text": text, "origin": "doc://d/8"}]}


def _artifact(memory: Memory, text: str) -> Mapping[str, Any]:
    kept = memory.artifacts.put(text, name="notes.txt")
    return {"evidence": [{"text": text, "origin": kept.address}]}


def _artifact_name(memory: Memory, text: str) -> Mapping[str, Any]:
    kept = memory.artifacts.put("a,b\n1,2\n", name=_line(text, 120) + ".csv")
    return {"evidence": [{"artifact": kept.address, "kind": "structured"}]}


def _table_cell(memory: Memory, text: str) -> Mapping[str, Any]:
    cell = '"' + text.replace('"', '""') + '"'
    kept = memory.artifacts.put(f"a,b\n1,{cell}\n2,x\n", name="t.csv")
    return {"evidence": [{"artifact": kept.address, "kind": "structured"}]}


def _table_head(memory: Memory, text: str) -> Mapping[str, Any]:
    cell = '"' + text.replace('"', '""') + '"'
    kept = memory.artifacts.put(f"a,{cell}\n1,2\n", name="h.csv")
    return {"evidence": [{"artifact": kept.address, "kind": "structured"}]}


def _caption(_: Memory, text: str) -> Mapping[str, Any]:
    picture = {"kind": "image", "uri": "a.png", "width": 28, "height": 28, "description": text}
    return {"evidence": [picture]}


def _segment(_: Memory, text: str) -> Mapping[str, Any]:
    segments = [{"start": 0, "end": 9, "text": "Welcome."}, {"start": 9, "end": 19, "text": text}]
    return {"evidence": [{"kind": "audio", "uri": "a.wav", "seconds": 90, "segments": segments}]}


def _tool_output(_: Memory, text: str) -> Mapping[str, Any]:
    turns = [{"role": "user", "text": "Look."}, {"role": "tool", "text": text, "name": "seek"}]
    return {"history": turns}


CHANNELS: dict[str, Channel] = {
    "value": _value,
    "colleague": _colleague,
    "json_value": _json_value,
    "key": _key,
    "name": _name,
    "alias": _alias,
    "why": _why,
    "origin": _origin,
    "implication": _implication,
    "enforced": _enforced,
    "stored_tool": _stored_tool,
    "passage": _passage,
    "observed": _observed,
    "tool_fields": _tool_fields,
    "evidence": _evidence,
    "document": _document,
    "pinned": _pinned,
    "artifact": _artifact,
    "artifact_name": _artifact_name,
    "table_cell": _table_cell,
    "table_head": _table_head,
    "caption": _caption,
    "segment": _segment,
    "tool_output": _tool_output,
}
"""Every way in for the words of somebody else."""

SESSION = "session_result"
"""The channel of a tool's result in a session, which a provider takes as a result of its own."""


@dataclass
class Verdicts:
    """What became of the texts, by channel."""

    shown: Counter[str] = field(default_factory=Counter[str])
    apart: Counter[str] = field(default_factory=Counter[str])
    """Set apart or refused."""
    left_block: Counter[str] = field(default_factory=Counter[str])
    became_guidance: Counter[str] = field(default_factory=Counter[str])
    unescaped: Counter[str] = field(default_factory=Counter[str])
    """Look-alikes of our lines, and hidden characters, that a reader would still meet."""
    altered: Counter[str] = field(default_factory=Counter[str])
    reshaped: int = 0
    """Texts that, as the caller's own words, made other rules or turns than harmless ones do."""

    @property
    def faults(self) -> int:
        """Everything that must not be; quarantine and alteration are judged apart."""
        counters = (self.left_block, self.became_guidance, self.unescaped)
        return sum(counter.total() for counter in counters) + self.reshaped


def trial(payload: str, verdicts: Verdicts) -> None:
    """Bring a payload in by every channel at once, compile, and count what became of it."""
    with connect(":memory:", principal=ANN, policy=APART, tenant_key=KEY) as memory:
        _define(memory)
        request: dict[str, list[Any]] = {}
        for channel, bring in CHANNELS.items():
            text = f"{payload} {mark(channel)}"
            try:
                for name, items in (bring(memory, text) or {}).items():
                    request.setdefault(name, []).extend(items)
            except InvalidInput:
                verdicts.apart[channel] += 1

        envelope = memory.compile(
            "analytical_reporting", QUERY, model="gpt-5", budget_tokens=90_000, **request
        )
        judge(envelope, verdicts)
        _alteration(envelope, payload, verdicts)
        _session(memory, payload, verdicts)
        verdicts.reshaped += _spoken(memory, payload) != _spoken(memory, "harmless words")


def judge(envelope: Envelope, verdicts: Verdicts) -> None:
    """Count, by channel, what stands in an envelope and in the three providers' requests."""
    assert parse_envelope(envelope.text) == envelope.blocks
    ids = {one.anchor: one.object_id for one in envelope.trace.compiled_objects}
    seal = Seal(key=KEY, epoch=0, policy_hash=envelope.manifest.policy_hash)
    assert verify_envelope(envelope.text, seal, ids=ids) == ()
    for channel in CHANNELS:
        blocks = [block for block in envelope.blocks if mark(channel) in _whole(block)]
        verdicts.shown[channel] += bool(blocks)
        for block in blocks:
            verdicts.became_guidance[channel] += block.kind is not BlockKind.DATA

        contained = sum(_frame(block).count(mark(channel)) for block in blocks)
        verdicts.left_block[channel] += envelope.text.count(mark(channel)) != contained

    for target in ("openai", "anthropic", "adk"):
        _judge_request(envelope, target, verdicts)
    for block in envelope.blocks:
        if block.kind is BlockKind.DATA:
            verdicts.unescaped["lines"] += len(lookalikes(_between(envelope.text, block)))
    verdicts.unescaped["hidden"] += len(HIDDEN.findall(envelope.text))


def _judge_request(envelope: Envelope, target: Any, verdicts: Verdicts) -> None:
    """Every text of a request that bears a mark must hold the whole data block around it."""
    frames = [
        segment.text for segment in envelope.plan.segments if segment.block.kind is BlockKind.DATA
    ]
    for text in _strings(envelope.render(target)):
        if "zq" not in text:
            continue
        for channel in CHANNELS:
            inside = sum(frame.count(mark(channel)) for frame in frames if frame in text)
            verdicts.left_block[channel] += text.count(mark(channel)) > inside


def _alteration(envelope: Envelope, payload: str, verdicts: Verdicts) -> None:
    """Count the channels whose words do not come back as they were."""
    texts = [block.text for block in envelope.blocks]
    texts += [piece.text for block in envelope.blocks for piece in block.pieces]
    for channel in ("evidence", "passage", "pinned", "artifact"):
        text = f"{payload} {mark(channel)}"
        present = any(mark(channel) in known for known in texts)
        verdicts.altered[channel] += present and text not in texts


def _session(memory: Memory, payload: str, verdicts: Verdicts) -> None:
    """Bring a payload in as a tool's result of a session: it stands in that result alone."""
    text = f"{payload} {mark(SESSION)}"
    session = memory.session("s", model="gpt-5", goal="Report", system="Be truthful.")
    session.on_turn_start("Look.")
    call = {"id": "c1", "type": "function", "function": {"name": "seek", "arguments": "{}"}}
    session.on_step({"role": "assistant", "content": None, "tool_calls": [call]})
    session.on_tool_result("c1", text)
    request = session.compile().render("openai")
    messages = request["messages"]
    verdicts.shown[SESSION] += mark(SESSION) in json.dumps(messages)
    verdicts.apart[SESSION] += mark(SESSION) not in json.dumps(messages)
    for message in messages:
        if message["role"] != "tool":
            verdicts.left_block[SESSION] += mark(SESSION) in json.dumps(message)


def _spoken(memory: Memory, payload: str) -> list[tuple[str, str, int]]:
    """The rules and turns of a request whose own words all hold a text, none in the highest two."""
    text = f"{payload} {mark('own')}"
    envelope = memory.compile(
        "analytical_reporting",
        QUERY,
        user_request=text,
        goal=text,
        step="write it",
        constraints=[text],
        acceptance=[text],
        progress=[text],
        errors=[text],
        skills=[{"name": "s", "text": text}],
        history=[{"role": "user", "text": text}, {"role": "assistant", "text": text}],
        budget_tokens=60_000,
    )
    spoken = [block for block in envelope.blocks if block.kind is not BlockKind.DATA]
    assert not [block for block in spoken if block.authority < 2 and mark("own") in block.text]
    return [(block.section, block.kind.value, block.authority) for block in spoken]


def _define(memory: Memory) -> None:
    owner = memory.bind(Principal(roles={"owner"}, authority_level=0))
    for slot in ("card", "sheet"):
        owner.vocabulary.define_slot(slot, value_type="json", description="Sam Rivera report")
    owner.vocabulary.define_slot(
        "works_with", value_type="entity", cardinality="many", description="Sam Rivera report"
    )


def _whole(block: Block) -> str:
    pieces = (f"{piece.who} {piece.origin} {piece.text}" for piece in block.pieces)
    return "\n".join((block.origin, block.text, *pieces))


def _frame(block: Block) -> str:
    """The words of a block as they stand once in the text."""
    if not block.pieces:
        return f"{block.origin}\n{block.text}"
    # The source of neighbours is said once, and once for the block where all share it.
    pieces = [f"{piece.who}\n{piece.text}" for piece in block.pieces]
    origins: list[str] = []
    for piece in block.pieces:
        if not origins or origins[-1] != piece.origin:
            origins.append(piece.origin)
    return "\n".join([*origins, *pieces])


def _between(text: str, block: Block) -> Iterator[str]:
    """The lines of a block's body, escaped as the model meets them."""
    body = block.text if not block.pieces else "\n".join(piece.text for piece in block.pieces)
    wanted = set(body.split("\n"))
    for line in text.split("\n"):
        if unescape_data(line.removeprefix("  ")) in wanted:
            yield line


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U000e0000-\U000e0fff\ue000-\uf8ff]"
)
"""What no reader sees: written here from the Unicode tables, apart from the code under test."""

_BARS = {"\u1400", "\u2550", "\u2e40", "\u30a0", "\ua4ff", "\ua78a", "\u207c", "\u208c", "\u2261",
         "\u268c"}  # fmt: skip


def lookalikes(lines: Iterator[str]) -> list[str]:
    """The lines that are drawn like a boundary or a heading of ours."""
    hits: list[str] = []
    for line in lines:
        drawn = "".join("=" if char in _BARS else char for char in line)
        drawn = unicodedata.normalize("NFKC", drawn)
        visible = "".join(c for c in drawn if unicodedata.category(c) not in ("Cf", "Mn", "Cc"))
        if re.match(r"\s*(?:=\s{0,2}){3,}[^=\s]", visible):
            hits.append(line)
    return hits
