"""A task is taken up in five steps, by priority, and with the world as it is now."""

from typing import Any

import pytest

from tenure import InvalidInput
from tenure.window.checkpoint import TaskCheckpoint, task_bootstrap


def checkpoint(**fields: object) -> TaskCheckpoint:
    usual = {
        "version": 7,
        "goal": "Rebook the flight",
        "acceptance": ("ticket sent",),
        "progress": ("ask for a card",),
        "decisions": ("economy class",),
        "issues": ("card refused",),
        "environment": (("model", "gpt-5"), ("branch", "main")),
        "learnings": ("fees are not refunded",),
        "subtasks": (("look up", "done"), ("ask for a card", "in_progress"), ("pay", "planned")),
        "reasoning_omitted": ("[Turns 1-4, short. Originals: window://2-9]",),
    }
    return TaskCheckpoint(**{**usual, **fields})  # type: ignore[arg-type]


def test_the_five_steps_come_in_order() -> None:
    start = task_bootstrap(checkpoint(), {"branch": lambda: "main"}, 10_000, len)
    assert [(entry.step.value, entry.passed, entry.text) for entry in start.entries] == [
        ("orient", True, "model gpt-5, branch main"),
        ("load", True, "Rebook the flight"),
        ("verify", True, "as it was: branch"),
        ("inject", True, "everything fits"),
        ("resume", True, "ask for a card"),
    ]
    assert start.passed
    assert start.omissions == ()
    assert task_bootstrap(checkpoint(), {}, 10_000, len).entries[2].text == "nothing was asked"


def test_a_world_that_moved_on_is_an_open_issue() -> None:
    probes = {"model": lambda: "gpt-5", "branch": lambda: "fix", "host": lambda: "new"}
    start = task_bootstrap(checkpoint(), probes, 10_000, len)
    assert not start.passed
    assert start.entries[2].text == "branch was main, now fix"
    assert "- branch was main, now fix\n- card refused" in start.text


def test_goal_work_and_blockers_come_before_all_else() -> None:
    order = ["Goal", "At hand", "Open issues", "Done when", "Decisions", "Finished", "Learned"]
    text = task_bootstrap(checkpoint(), {}, 10_000, len).text
    places = [text.index(f"## {title}") for title in order]
    assert places == sorted(places)

    small = task_bootstrap(checkpoint(), {}, 100, len)
    assert "card refused" in small.text
    assert "economy class" not in small.text
    assert small.omissions == ("Done when", "Decisions", "Finished", "Learned", "Left out")
    assert small.entries[3].text.startswith("left out: Done when")


def test_the_goal_stands_whatever_the_budget() -> None:
    assert "Rebook the flight" in task_bootstrap(checkpoint(), {}, 0, len).text


@pytest.mark.parametrize("probes", [{"model": "gpt-5"}, ["model"], 7])
def test_what_is_no_probe_is_refused(probes: Any) -> None:
    with pytest.raises(InvalidInput, match="functions"):
        task_bootstrap(checkpoint(), probes, 900, len)


@pytest.mark.parametrize(
    ("subtasks", "goal", "work"),
    [
        ((("pay", "planned"),), "g", "pay"),
        ((("pay", "done"),), "g", "g"),
        ((), "", "ask what to do"),
    ],
)
def test_what_comes_next(subtasks: object, goal: str, work: str) -> None:
    start = task_bootstrap(checkpoint(subtasks=subtasks, goal=goal), {}, 900, len)
    assert start.entries[4].text == work
    assert start.passed == bool(goal)
