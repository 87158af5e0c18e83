"""Originals beside the facts: who may read them, whole or not at all, and gone when erased."""

import hashlib
import stat
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tenure import Memory, NotFound, Principal, TenureError, connect
from tenure.schema.artifact import address_of, digest_of
from tenure.schema.errors import Conflict, Forbidden, InvalidInput, Unavailable
from tenure.schema.policy import DEFAULT
from tenure.store.transfer.artifact_files import ArtifactFiles

TEXT = "The nightly deploy of nova ended at 02:10. It took nine minutes. Nothing failed."
ANN = Principal(user="ann", roles=frozenset({"engineer"}), clearance="confidential")
BOB = Principal(user="bob", roles=frozenset({"analyst"}), clearance="confidential")


@pytest.fixture(params=["folder", "memory"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    """Return a store whose artifacts stand in a folder beside it, or in fsspec's memory."""
    place = None if request.param == "folder" else f"memory://{tmp_path.name}"
    with connect(str(tmp_path / "m.db"), artifacts=place) as opened:
        yield opened


def refused(code: str, kind: type[TenureError], call, *args, **given) -> TenureError:
    with pytest.raises(kind) as caught:
        call(*args, **given)
    assert caught.value.code == code
    return caught.value


def test_what_was_put_comes_back_by_the_address_of_its_bytes(memory: Memory) -> None:
    artifact = memory.artifacts.put(TEXT, name="deploy.log", origin="tool://ci")
    assert artifact.address == f"artifact://sha256/{hashlib.sha256(TEXT.encode()).hexdigest()}"
    assert memory.artifacts.get(artifact.address) == TEXT.encode()
    assert memory.artifacts.text(artifact.address) == TEXT
    assert memory.artifacts.exists(artifact.address)
    assert memory.artifacts.info(artifact.address) == artifact
    assert (artifact.size, artifact.media_type) == (len(TEXT), "text/plain")
    assert not memory.artifacts.exists(address_of(b"other"))


def test_the_same_put_twice_is_one_artifact(memory: Memory) -> None:
    first = memory.artifacts.put(TEXT, name="a.log")
    memory.artifacts.put(TEXT, name="a.log")
    memory.artifacts.put(b"\x89PNG\xff", name="b.png")
    assert [a.name for a in memory.artifacts.list()] == ["b.png", "a.log"]
    assert memory.artifacts.list()[0].media_type == "image/png"
    assert memory.artifacts.list(limit=1)[0].name == "b.png"
    assert memory.artifacts.info(first.address).at == first.at


@pytest.mark.parametrize(
    ("stated", "seen"),
    [
        ({}, False),
        ({"scope": {}}, True),
        ({"scope": {}, "deny_roles": ("analyst",)}, False),
        ({"scope": {}, "allow_roles": ("engineer",)}, False),
        ({"scope": {}, "security_classification": "highly_restricted"}, False),
        ({"scope": {}, "security_classification": "confidential"}, True),
        ({"scope": {}, "allow_roles": ("analyst",)}, True),
    ],
)
def test_scope_roles_and_clearance_decide_who_reads(memory: Memory, stated, seen) -> None:
    ann, bob = memory.bind(ANN), memory.bind(BOB)
    address = ann.artifacts.put(TEXT, **stated).address
    assert bob.artifacts.exists(address) is seen
    assert len(bob.artifacts.list()) == seen
    if seen:
        assert bob.artifacts.text(address) == TEXT
    else:
        error = refused("unknown_artifact", NotFound, bob.artifacts.get, address)
        unknown = refused("unknown_artifact", NotFound, bob.artifacts.get, address_of(b"?"))
        assert str(error).replace(address, "") == str(unknown).replace(address_of(b"?"), "")


def test_another_put_of_the_same_bytes_admits_its_own_readers(memory: Memory) -> None:
    ann, bob = memory.bind(ANN), memory.bind(BOB)
    address = ann.artifacts.put(TEXT).address
    assert not bob.artifacts.exists(address)
    bob.artifacts.put(TEXT, name="mine")
    assert bob.artifacts.info(address).name == "mine"
    assert ann.artifacts.info(address).name == ""


def test_no_tenant_reads_another_even_with_the_address(memory: Memory, tmp_path: Path) -> None:
    with connect(str(tmp_path / "all") + "/", artifacts=f"memory://{tmp_path.name}-2") as every:
        a = every.bind(Principal(tenant="a", roles=frozenset({"owner"})))
        b = every.bind(Principal(tenant="b", roles=frozenset({"owner"}), authority_level=0))
        address = a.artifacts.put(TEXT).address
        refused("unknown_artifact", NotFound, b.artifacts.get, address)
        assert b.artifacts.list() == ()
        refused("unknown_artifact", NotFound, b.artifacts.erase, address, reason="mine")
        assert a.artifacts.text(address) == TEXT


def test_a_scope_that_is_not_the_callers_cannot_be_named(memory: Memory) -> None:
    ann, bob = memory.bind(ANN), memory.bind(BOB)
    refused("scope_not_yours", Forbidden, ann.artifacts.put, TEXT, scope={"user": "bob"})
    address = ann.artifacts.put(TEXT).address
    refused("scope_not_yours", Forbidden, bob.artifacts.get, address, scope={"user": "ann"})
    assert not memory.artifacts.exists(address)
    assert memory.artifacts.get(address, scope={"user": "ann"}) == TEXT.encode()


def test_what_must_not_be_kept_is_refused(memory: Memory, tmp_path: Path) -> None:
    put = memory.artifacts.put
    refused("missing_value", InvalidInput, put, b"")
    refused("secret_in_content", InvalidInput, put, "key AKIAQX7ZP3LMN4RTVW2K leaked")
    refused("unknown_vocabulary", InvalidInput, put, TEXT, allow_roles=("enginere",))
    refused("unknown_vocabulary", InvalidInput, put, TEXT, security_classification="secret")
    with connect(":memory:", artifact_bytes=10) as small:
        assert small.artifacts.put(b"0123456789").size == 10
        error = refused("too_large", InvalidInput, small.artifacts.put, b"0123456789a")
        assert "artifacts.max_bytes" in str(error)


@pytest.mark.parametrize(
    "address",
    ["", "artifact://sha256/", "artifact://sha256/../../../etc/passwd", "artifact://tasks/42/r.md",
     "artifact://sha256/" + "A" * 64, "artifact://sha256/" + "0" * 64 + "\n"],
)  # fmt: skip
def test_only_an_address_is_an_address(memory: Memory, address: str) -> None:
    refused("bad_artifact", InvalidInput, memory.artifacts.get, address)


def stored(tmp_path: Path, name: str) -> list[Path]:
    return sorted((tmp_path / "m.db.artifacts").rglob(name))


def test_files_are_whole_private_and_checked_when_read(tmp_path: Path) -> None:
    with connect(str(tmp_path / "m.db")) as memory:
        assert not (tmp_path / "m.db.artifacts").exists()
        address = memory.artifacts.put(TEXT).address
        (file,) = stored(tmp_path, "data")
        assert file.parent.name == digest_of(address)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert not stored(tmp_path, ".part-*")
        file.write_bytes(TEXT.encode().replace(b"nine", b"four"))
        refused("artifact_damaged", Unavailable, memory.artifacts.get, address)
        memory.artifacts.put(TEXT)
        assert memory.artifacts.text(address) == TEXT


def widened(grant: bytes) -> bytes:
    return grant.replace(b'"scope":"user=ann"', b'"scope":"tenant"')


DAMAGES = {
    "empty": lambda grant: b"",
    "cut": lambda grant: grant[: len(grant) // 2],
    "no text": lambda grant: b"\xff\xfe" + grant,
    "a list": lambda grant: b"[]",
    "deep": lambda grant: b"[" * 100_000,
    "a member missing": lambda grant: grant.replace(b'"actor"', b'"act"'),
    "another type": lambda grant: grant.replace(b'"size":', b'"size":"a", "x":'),
    "a time beyond all": lambda grant: grant.replace(b'"at_us":', b'"at_us":9999999'),
    "another class": lambda grant: grant.replace(b'"public"', b'"open"'),
    "another's bytes": lambda grant: grant.replace(b"sha256/", b"sha256/0000")[:-4],
    "a wider scope": widened,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_grant_admits_nobody_until_it_is_put_again(tmp_path: Path, damage: str) -> None:
    with connect(str(tmp_path / "m.db")) as memory:
        ann, bob = memory.bind(ANN), memory.bind(BOB)
        address = ann.artifacts.put(TEXT, name="a.log").address
        ann.artifacts.put("another text", name="b.log")
        (file,) = (tmp_path / "m.db.artifacts").rglob(f"*/{digest_of(address)}/grant-*.json")
        file.write_bytes(DAMAGES[damage](file.read_bytes()))

        for reader in (ann, bob, memory):
            refused("artifact_damaged", Unavailable, reader.artifacts.get, address)
            refused("artifact_damaged", Unavailable, reader.artifacts.info, address)
            assert not reader.artifacts.exists(address)
        assert [artifact.name for artifact in ann.artifacts.list()] == ["b.log"]
        (finding,) = memory.doctor()
        assert f"{digest_of(address)}/{file.name}" in finding

        ann.artifacts.put(TEXT, name="a.log")
        assert ann.artifacts.text(address) == TEXT
        assert memory.doctor() == ()
        refused("unknown_artifact", NotFound, bob.artifacts.get, address)


def test_a_damaged_grant_takes_no_other_readers_down(tmp_path: Path) -> None:
    with connect(str(tmp_path / "m.db")) as memory:
        ann, bob = memory.bind(ANN), memory.bind(BOB)
        address = ann.artifacts.put(TEXT).address
        (file,) = stored(tmp_path, "grant-*.json")
        bob.artifacts.put(TEXT)
        file.write_bytes(b"{")
        assert bob.artifacts.text(address) == TEXT


def test_an_artifact_whose_only_grant_is_damaged_can_be_erased(tmp_path: Path) -> None:
    with connect(str(tmp_path / "m.db")) as memory:
        receipt = memory.write("Sam Rivera", "office", "Rome")
        memory.artifacts.put(TEXT, object_ids=[receipt.object_id])
        (file,) = stored(tmp_path, "grant-*.json")
        file.write_bytes(b"{")
        memory.erase(object_id=receipt.object_id, reason="asked")
        assert not stored(tmp_path, "data")
        assert not stored(tmp_path, "grant-*.json")
        assert memory.doctor() == ()


@pytest.mark.parametrize("content", [b"", b"{}", b"[" * 100_000, b'{"grants": [5]}', b"\xff"])
def test_a_damaged_tombstone_still_forbids_the_bytes(tmp_path: Path, content: bytes) -> None:
    with connect(str(tmp_path / "m.db")) as memory:
        address = memory.artifacts.put(TEXT).address
        memory.artifacts.erase(address, reason="asked")
        (file,) = stored(tmp_path, "erased.json")
        file.write_bytes(content)
        refused("artifact_damaged", Unavailable, memory.artifacts.get, address)
        refused("erased", Conflict, memory.artifacts.put, TEXT)


def test_the_doctor_names_artifacts_that_cannot_be_reached() -> None:
    with connect(":memory:", artifacts="nosuch://bucket") as memory:
        memory.write("Sam Rivera", "office", "Rome")
        (finding,) = memory.doctor()
    assert "nosuch://bucket" in finding


def test_a_write_that_fails_leaves_nothing_half_written(tmp_path: Path, monkeypatch) -> None:
    def broken(*_: object) -> None:
        raise OSError("no space left")

    with connect(str(tmp_path / "m.db")) as memory:
        monkeypatch.setattr("os.replace", broken)
        refused("artifacts_unreachable", Unavailable, memory.artifacts.put, TEXT)
        monkeypatch.undo()
        assert not stored(tmp_path, "data")
        assert not stored(tmp_path, ".part-*")
        assert memory.artifacts.list() == ()


def test_a_put_syncs_each_file_once_and_the_names_of_a_folder_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handles: list[int] = []
    with connect(str(tmp_path / "m.db")) as memory:
        receipts = [memory.write(subject="Sam", slot="skill", value=word) for word in ("go", "c")]
        monkeypatch.setattr("tenure.store.transfer.whole_file._to_disk", handles.append)

        def syncs(**fields: object) -> int:
            handles.clear()
            memory.artifacts.put(TEXT, **fields)
            return len(handles)

        assert syncs() == len(["bytes", "grant", "folder"])
        assert syncs(name="of-another-name.log") == len(["bytes", "grant", "folder"])
        assert syncs() == len(["bytes", "folder"])

        object_ids = [receipt.object_id for receipt in receipts]
        assert syncs(object_ids=object_ids) == len(["link", "link", "bytes", "grant", "folder"])


def test_a_store_of_artifacts_that_is_not_there_says_so(tmp_path: Path) -> None:
    with connect(":memory:", artifacts="nosuch://bucket") as memory:
        error = refused("artifacts_unreachable", Unavailable, memory.artifacts.put, TEXT)
        assert "nosuch://bucket" in str(error)
    with connect(":memory:") as memory:
        bare = Memory(memory._backend, memory.principal)
        bare._backend.artifacts = None
        refused("no_artifact_store", Unavailable, bare.artifacts.put, TEXT)
        said = memory.write(subject="Sam", slot="office", value="Chicago")
        envelope = memory.compile("code_generation", "office of Sam")
        assert memory.replay(envelope).digest == envelope.digest
        assert memory.erase(said.object_id, reason="case 1").artifacts == ()


def test_folders_are_made_where_files_need_them_but_never_the_first(tmp_path: Path) -> None:
    files = ArtifactFiles("dir://originals", path=str(tmp_path), target_protocol="file")
    with connect(":memory:", artifacts=files) as memory:
        error = refused("artifacts_unreachable", Unavailable, memory.artifacts.put, TEXT)
        assert "'originals'; make it" in str(error)
        (tmp_path / "originals").mkdir()
        assert memory.artifacts.text(memory.artifacts.put(TEXT).address) == TEXT


def test_artifacts_may_be_handed_in_as_a_store_of_their_own(tmp_path: Path) -> None:
    with connect(":memory:", artifacts=ArtifactFiles(str(tmp_path / "x"), max_bytes=9)) as memory:
        refused("too_large", InvalidInput, memory.artifacts.put, TEXT)
        memory.artifacts.put("short")
        assert list((tmp_path / "x").rglob("data"))


def test_erased_artifacts_say_erased_to_those_who_could_read_them(memory: Memory) -> None:
    ann, bob = memory.bind(ANN), memory.bind(BOB)
    address = ann.artifacts.put(TEXT, name="private.log").address
    refused("privilege_required", Forbidden, ann.artifacts.erase, address, reason="x")
    refused("missing_reason", InvalidInput, memory.artifacts.erase, address, reason=" ")
    memory.artifacts.erase(address, reason="case 17")
    error = refused("erased", NotFound, ann.artifacts.get, address)
    assert "case 17" in str(error)
    refused("unknown_artifact", NotFound, bob.artifacts.get, address)
    refused("erased", Conflict, ann.artifacts.put, TEXT)
    refused("unknown_artifact", NotFound, memory.artifacts.erase, address, reason="again")
    assert ann.artifacts.list() == ()


@pytest.mark.parametrize("step", ["data", "grant-"])
def test_of_a_put_and_an_erasure_at_once_the_erasure_holds(
    memory: Memory, monkeypatch, step: str
) -> None:
    first = memory.artifacts.put(TEXT)
    files, whole = memory._backend.artifacts, ArtifactFiles._write

    def interrupted(self: ArtifactFiles, contents: Mapping[str, bytes]) -> None:
        monkeypatch.setattr(ArtifactFiles, "_write", whole)
        for path, data in contents.items():
            if path.rpartition("/")[2].startswith(step):
                files.erase("default", first.digest, b"{}")
            whole(self, {path: data})

    monkeypatch.setattr(ArtifactFiles, "_write", interrupted)
    refused("erased", Conflict, memory.artifacts.put, TEXT, name="again")
    assert files.grants("default", first.digest) == ()
    refused("artifacts_unreachable", Unavailable, files.read, "default", first.digest)


def test_no_byte_of_an_erased_artifact_stays_in_its_folder(tmp_path: Path) -> None:
    with connect(str(tmp_path / "m.db")) as memory:
        address = memory.artifacts.put(
            TEXT, name="secret-name.log", origin="tool://zanzibar"
        ).address
        memory.artifacts.erase(address, reason="case 17")
    kept = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    assert b"nightly deploy" not in kept
    assert b"secret-name" not in kept
    assert b"zanzibar" not in kept
    assert b"case 17" in kept


def test_an_artifact_goes_with_the_object_whose_words_it_holds(memory: Memory) -> None:
    said = memory.write(subject="Sam", content="Sam is ill.", object_type="retrieved_passage")
    held = memory.artifacts.put("Sam is ill, he wrote.", object_ids=[said.object_id])
    source = memory.artifacts.put("A whole report.")
    other = memory.write(subject="Sam", slot="office", value="Rome", source_origin=source.address)
    assert memory.erase(said.object_id, reason="case 1").artifacts == (held.address,)
    refused("erased", NotFound, memory.artifacts.get, held.address)
    receipt = memory.erase(other.object_id, reason="case 2")
    assert (receipt.artifacts, receipt.originals) == ((), (source.address,))
    assert memory.artifacts.text(source.address) == "A whole report."


def test_a_compile_reads_an_artifact_and_points_back_to_it(memory: Memory) -> None:
    address = memory.artifacts.put(TEXT, name="deploy.log").address
    for evidence in (address, {"artifact": address}):
        envelope = memory.compile("code_generation", "nightly deploy", evidence=[evidence])
        assert TEXT in envelope.text
        assert address in envelope.text
        assert envelope.manifest.artifact_uris == (address,)
        assert memory.replay(envelope).digest == envelope.digest
    short = {"artifact": address, "text": "The deploy went well.", "title": "summary"}
    brief = memory.compile("code_generation", "nightly deploy", evidence=[short])
    assert "nine minutes" not in brief.text
    assert memory.rehydrate(brief.manifest.artifact_uris[0]).text == TEXT
    memory._backend.settle()
    with memory._backend.store.reading("default") as reader:
        assert len(reader.envelopes_of([address])) == 3


def test_a_long_original_is_cut_to_the_budget_and_stays_whole_behind_its_address(
    memory: Memory,
) -> None:
    lines = " ".join(f"Step {i} of the build took {i} seconds." for i in range(900))
    address = memory.artifacts.put(lines + " The deploy key is alpha seven.").address
    envelope = memory.compile(
        "code_generation", "deploy key alpha", evidence=[address], budget_tokens=700
    )
    assert "alpha seven" in envelope.text
    assert envelope.tokens_upper <= 700
    assert len(memory.rehydrate(address).data) > 20_000


def test_a_number_of_the_text_leads_back_to_what_was_shortened(memory: Memory) -> None:
    lines = " ".join(f"Step {i} of the build took {i} seconds." for i in range(300))
    address = memory.artifacts.put(f"{lines} The deploy key is alpha seven.").address
    page = f"{lines} The deploy key is kept by Sam."
    said = memory.write(subject="Sam", slot="office", value="Rome", content="Sam sits in Rome.")
    envelope = memory.compile(
        "code_generation",
        "deploy key alpha, office of Sam",
        evidence=[address, {"text": page, "origin": "doc://page"}],
        budget_tokens=900,
    )
    assert {c.conversion.value for c in envelope.trace.conversions} >= {"truncated"}
    number = {o.source_origin: o.anchor for o in envelope.trace.compiled_objects}
    ids = {o.object_id: o.anchor for o in envelope.trace.compiled_objects}

    def whole(pointer: str) -> str:
        return memory.rehydrate(pointer, envelope=envelope).text

    assert len(whole(number[address])) == len(lines) + 31
    assert whole(f"[{number['doc://page']}]") == page
    assert whole(ids[said.object_id]) == whole(said.object_id) == "Sam sits in Rome."
    refused("unknown_object", NotFound, memory.rehydrate, "[77]", envelope=envelope)
    refused("unknown_object", NotFound, memory.rehydrate, number["doc://page"])


def test_a_compile_refuses_an_artifact_that_the_caller_may_not_read(memory: Memory) -> None:
    ann, bob = memory.bind(ANN), memory.bind(BOB)
    address = ann.artifacts.put(b"\x89PNG\xff\xfe", name="a.png").address
    picture = {"kind": "image", "uri": address, "width": 10, "height": 10, "description": "x"}
    for evidence in (address, {"artifact": address}, picture):
        refused("unknown_artifact", NotFound, bob.compile, "code_generation", evidence=[evidence])
    other = ann.artifacts.put(b"\xff\xfe", name="a.bin").address
    refused("invalid_encoding", InvalidInput, ann.compile, "code_generation", evidence=[other])
    refused("bad_artifact", InvalidInput, ann.compile, "code_generation",
            evidence=[{"artifact": 7}])  # fmt: skip
    found = ann.compile("code_generation", "x", evidence=[picture, "plain"])
    assert found.manifest.artifact_uris == (address,)


def test_erasing_an_artifact_empties_the_envelopes_made_from_it(memory: Memory) -> None:
    address = memory.artifacts.put(TEXT).address
    envelope = memory.compile("code_generation", "deploy", evidence=[address])
    beside = memory.compile("code_generation", "deploy")
    memory.artifacts.erase(address, reason="case 17")
    refused("erased", NotFound, memory.replay, envelope.envelope_id)
    refused("erased", NotFound, memory.replay, envelope)
    refused("erased", NotFound, memory.compile, "code_generation", evidence=[address])
    assert memory.replay(beside.envelope_id).digest == beside.digest


def test_a_pointer_may_be_an_object_too(memory: Memory) -> None:
    said = memory.write(subject="Sam", content=TEXT, object_type="retrieved_passage")
    fact = memory.write(subject="Sam", slot="office", value="Rome", source_origin="doc://x")
    assert memory.rehydrate(said.object_id).text == TEXT
    assert "Rome" in memory.rehydrate(fact.object_id).text
    assert memory.rehydrate(fact.object_id).origin == "doc://x"
    hidden = memory.write(subject="Sam", slot="title", value="spy", deny_roles=("engineer",))
    refused("unknown_object", NotFound, memory.bind(ANN).rehydrate, hidden.object_id)
    refused("unknown_object", NotFound, memory.rehydrate, "nothing")
    memory.erase(fact.object_id, reason="case 3")
    refused("erased", NotFound, memory.rehydrate, fact.object_id)


def test_bytes_that_are_no_text_are_read_as_bytes(memory: Memory) -> None:
    address = memory.artifacts.put(b"\xff\xfe\x00").address
    original = memory.rehydrate(address)
    assert original.data == b"\xff\xfe\x00"
    with pytest.raises(InvalidInput, match="read its bytes"):
        _ = original.text


def test_a_pointer_does_not_show_what_is_masked(tmp_path: Path) -> None:
    policy = replace(DEFAULT, compile=replace(DEFAULT.compile, show_personal_to=("hr",)))
    with connect(":memory:", policy=policy) as memory:
        said = memory.write(subject="Sam", slot="office", value="Rome", sensitivity=("personal",))
        plain = memory.write(subject="Sam", slot="title", value="clerk")
        agent = memory.bind(Principal(roles=frozenset({"agent"})))
        refused("privilege_required", Forbidden, agent.rehydrate, said.object_id)
        assert "clerk" in agent.rehydrate(plain.object_id).text
        hr = memory.bind(Principal(roles=frozenset({"hr"})))
        assert "Rome" in hr.rehydrate(said.object_id).text


def test_what_was_retired_by_erasing_takes_its_artifacts_along(tmp_path: Path) -> None:
    day = 86_400_000_000
    now = [1_780_000_000_000_000]
    with connect(":memory:", clock=lambda: now[0]) as memory:
        said = memory.write(
            subject="Sam", slot="office", value="Rome", retirement_rule="hard_delete",
            decay_rule={"half_life_days": 1, "minimum_threshold": 0.1})  # fmt: skip
        held = memory.artifacts.put("Sam sits in Rome.", object_ids=[said.object_id]).address
        now[0] += 90 * day
        assert memory.sweep(dry_run=True).dry_run
        assert memory.artifacts.exists(held)
        erased = memory.sweep().erased
        assert memory.artifacts.exists(held) is (not erased)
        assert erased == (said.object_id,)
