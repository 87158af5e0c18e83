"""What one speaker says again in the same words is one line of a compile."""

import tenure

WORDS = "The gate code changed and is with Ivo at the desk now."


def shown(*said: tuple[str, str, str]) -> int:
    with tenure.connect(":memory:") as memory:
        for speaker, words, day in said:
            memory.observe(words, speaker=speaker, at=f"2026-{day}T00:00:00Z")
        text = memory.compile("assistant", "What about the gate code?", budget_tokens=800).text
    return text.count("gate code changed")


def test_what_one_speaker_says_again_is_said_once() -> None:
    assert shown(("Jo Wend", WORDS, "05-01"), ("Jo Wend", WORDS, "06-01")) == 1
    assert shown(("Jo Wend", WORDS, "05-01"), ("Jo Wend", WORDS.replace(" ", "  "), "06-01")) == 1


def test_what_two_speakers_say_or_one_says_otherwise_is_said_twice() -> None:
    assert shown(("Jo Wend", WORDS, "05-01"), ("Vera Stolz", WORDS, "06-01")) == 2
    other = "The gate code changed once more, and Vera has it."
    assert shown(("Jo Wend", WORDS, "05-01"), ("Jo Wend", other, "06-01")) == 2
