"""A refusal makes room only where it says that a request was too long."""

import pytest

from tenure import Memory
from tenure.schema.errors import InvalidInput
from tenure.service.sessions.overflow import RefusalKind, refusal_of
from tenure.service.sessions.session import Session
from tenure.tests.support.refusals import refused

TOO_LONG = {
    "prompt is too long: 210412 tokens > 200000 maximum": (210_412, 200_000),
    "input length and `max_tokens` exceed context limit: 180000 + 32000 > 200000, decrease": (
        212_000,
        200_000,
    ),
    "This model's maximum context length is 128000 tokens. However, your messages resulted in "
    "130125 tokens. Please reduce the length of the messages.": (130_125, 128_000),
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens": (
        9_000,
        8_192,
    ),
    "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000": (
        300_000,
        272_000,
    ),
    "Your input exceeds the context window of this model. context_length_exceeded": (0, 0),
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).": (
        1_200_000,
        1_048_576,
    ),
    "The input token count exceeds the maximum number of tokens allowed": (0, 0),
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum "
    "context length": (40_000, 32_768),
    "ValidationException: Input is too long for requested model.": (0, 0),
    "the request exceeds the available context size. try increasing the context size": (0, 0),
}
OTHER = (
    "529 overloaded_error",
    "Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Requested 50000. too large",
    "Request too large for gpt-4o on tokens per min",
    "401 authentication_error: invalid x-api-key",
    "Your credit balance is too low",
    "RESOURCE_EXHAUSTED: You exceeded your current quota",
    "500 Internal server error",
    "connection reset by peer",
    "",
)
PAIRING = (
    "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: t9",
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: t9",
    "No tool output found for function call t9.",
    "Please ensure that the number of function response parts is equal to the number of calls",
)


def filled(memory: Memory, turns: int = 40) -> Session:
    session = memory.session("ov", model="gpt-5", window=64_000)
    for number in range(turns):
        session.on_turn_start(f"Order R-{5_000 + number}: " + "please check the address. " * 20)
        session.on_turn_end(f"Order R-{5_000 + number} is checked. " * 20)
    session.on_turn_start("And now?")
    return session


@pytest.mark.parametrize("text", TOO_LONG)
def test_a_refusal_for_length_is_told_by_its_text_with_its_numbers(text: str) -> None:
    refusal = refusal_of(text)
    assert refusal.kind is RefusalKind.TOO_LONG
    assert (refusal.asked, refusal.most) == TOO_LONG[text]


@pytest.mark.parametrize("text", OTHER)
def test_any_other_refusal_changes_nothing_and_is_raised_again(memory: Memory, text: str) -> None:
    session = filled(memory, 12)
    before = session.state
    with refused(InvalidInput, "not_an_overflow"):
        session.on_overflow(text)
    error = RuntimeError(text)
    with pytest.raises(RuntimeError) as raised:
        session.on_overflow(error)
    assert raised.value is error
    with pytest.raises(InvalidInput):
        session.on_overflow()
    assert session.state == before
    assert memory.session("ov").state == before


@pytest.mark.parametrize(("asked", "most"), [(12_000, 11_000), (16_000, 14_000), (13_000, 9_000)])
def test_the_next_request_fits_the_numbers_of_a_refusal(
    memory: Memory, asked: int, most: int
) -> None:
    session = filled(memory)
    own = session.state.own_tokens
    session.on_overflow(f"prompt is too long: {asked} tokens > {most} maximum")
    # What the provider would count now: as much more than we do as it said.
    assert session.state.own_tokens * asked / own <= most
    assert session.state.limit <= most or session.state.tokens <= most
    assert session.state.ledger.spans
    assert "R-5000" in session.state.text


def test_a_refusal_without_numbers_frees_a_part_and_keeps_the_names(memory: Memory) -> None:
    session = filled(memory)
    before = session.state.own_tokens
    decision = session.on_overflow("context_length_exceeded")
    assert decision.edit is not None
    assert before * 3 // 10 < session.state.own_tokens < before
    assert "R-5000" in session.state.text


@pytest.mark.parametrize("text", PAIRING)
def test_a_refused_pairing_gives_up_the_calls_that_it_names(memory: Memory, text: str) -> None:
    session = memory.session("p", model="gpt-5", window=64_000)
    session.on_turn_start("go")
    calls = [{"id": "t9", "function": {"name": "look", "arguments": "{}"}}]
    session.on_step({"role": "assistant", "tool_calls": calls})
    tokens = session.state.correction
    session.on_overflow(text)
    assert session.state.open_units == ()
    assert session.state.correction == tokens
    session.compile().render("anthropic")
