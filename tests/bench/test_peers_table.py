"""The table of the comparison: medians over the rounds, dashes, failures, and its place."""

# nightly, or when these change: bench/bench_peers.py bench/peers
from pathlib import Path

import pytest
from rich.console import Console

from tenure.bench import bench_peers
from tenure.bench.peers.systems import SYSTEMS, System
from tenure.bench.peers.table import LINES, Figure, failures, markdown, median, rows, shown

ROOT = Path(__file__).resolve().parents[2]


def test_a_cell_is_the_median_of_the_rounds_and_what_a_system_cannot_do_a_dash() -> None:
    label = "as of two times, right of 100"
    able: list[dict[str, Figure]] = [{label: 9.0}, {label: 0}, {label: 0}]
    table = {name: cells for name, *cells in rows({"able": able, "unable": [{label: None}]})}

    assert table[label] == ["0", "-"]
    assert median([{label: 9.0}, {label: 3.0}, {label: 4.0}], label) == 4.0
    assert len(table) == len(LINES)


@pytest.mark.parametrize(
    ("figure", "text"),
    [(None, "-"), (100.0, "100"), (2.4657, "2.47"), (23.038, "23.0"), (386.5, "386")],
)
def test_figures_are_shown_in_three_digits(figure: float | None, text: str) -> None:
    assert shown(figure) == text


def test_a_task_that_failed_is_told_once_in_the_words_of_the_system() -> None:
    rounds = [{"failed: identity": "ValueError: locked"}] * 2

    assert failures({"other": rounds}) == ["other did not finish identity: ValueError: locked"]


def test_markdown_has_one_column_a_system() -> None:
    lines = markdown(["", "a 1", "b 2"], [("write", "1", "2")]).splitlines()

    assert lines == ["|  | a 1 | b 2 |", "| --- | ---: | ---: |", "| write | 1 | 2 |"]


def test_the_figures_replace_those_between_the_marks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{bench_peers.BEGIN}\nold \\1\n{bench_peers.END}\nafter\n")
    monkeypatch.setattr(bench_peers, "PAGE", page)

    bench_peers.write_page("new \\1")

    text = page.read_text()
    assert text == f"before\n{bench_peers.BEGIN}\nnew \\1\n{bench_peers.END}\nafter\n"


def test_every_system_has_its_module_and_the_page_its_marks() -> None:
    folder = ROOT / "bench" / "peers"

    assert {f"{system.name}_peer.py" for system in SYSTEMS} == {
        path.name for path in folder.glob("*_peer.py")
    }
    assert bench_peers.PAGE.read_text().count(bench_peers.BEGIN) == 1


@pytest.mark.nightly  # makes an environment
def test_a_system_that_cannot_be_installed_is_left_out_with_the_reason(tmp_path: Path) -> None:
    absent = System("absent", ("./no-such-folder",), "", "", "", "")

    figures, _, missing = bench_peers.in_turns(
        [absent], rounds=1, facts=1, folder=tmp_path, console=Console(quiet=True)
    )

    assert figures == {}
    assert "pip cannot install ./no-such-folder" in missing["absent"]
    assert "absent is left out" in bench_peers.remarks([absent], figures, missing, 1)[0]
