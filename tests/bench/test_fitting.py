"""`fit`: weights of columns from the labelled pairs of a made register of families."""

import csv
import json
import random
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tenure.bench.evaluation.__main__ import app
from tenure.bench.evaluation.fit import CONTEXT_PRIOR, split
from tenure.bench.evaluation.resolution import FitReport, evaluate, fit_columns, pairs_from_rows
from tenure.resolution.model import model_from_json, with_version
from tenure.schema.errors import InvalidInput
from tenure.tests.support.refusals import refused

GIVEN = "Anke Birgit Carsten Frauke Gerrit Heike Ingo Katrin Lothar Oda Petra Silke".split()
FAMILY = "Ackermann Brandt Claussen Eickhoff Feldhaus Hellwig Overbeck Poggensee Tietjen".split()
TOWNS = "Bremen Kassel Trier Ulm".split()


def register() -> list[dict[str, str]]:
    """Records of people, each twice: once with a slip, and half of them moved."""
    rng = random.Random(5)
    records: list[dict[str, str]] = []
    for number in range(110):
        given, family = rng.choice(GIVEN), rng.choice(FAMILY)
        born = f"{rng.randint(1940, 1999)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
        person = {"cluster": f"p{number}", "name": f"{given} {family}", "birthday": born}
        person |= {"email": f"{given}.{family}{number}@post.example".lower()}
        person |= {"home": rng.choice(TOWNS)}
        place = rng.randrange(1, len(family) - 1)
        slip = f"{given} {family[:place]}{family[place + 1 :]}"
        records += [person, person | {"name": slip, "home": rng.choice((person["home"], *TOWNS))}]
    return records


def labels() -> list[dict[str, str]]:
    """All pairs of the register that share a given name, with what their records state."""
    rows: list[dict[str, str]] = []
    for left, right in combinations(register(), 2):
        if left["name"].split()[0] != right["name"].split()[0] or left["name"] == right["name"]:
            continue
        row = {"pair_id": f"x{len(rows)}", "kind": "person"}
        row["is_match"] = str(int(left["cluster"] == right["cluster"]))
        for side, record in (("1", left), ("2", right)):
            row |= {f"{name}{side}": value for name, value in record.items()}
        rows.append(row)
    return rows


ROWS = labels()
PAIRS = pairs_from_rows(ROWS)


@pytest.fixture(scope="module")
def report() -> FitReport:
    return fit_columns(PAIRS, "register.csv")


def test_fitted_columns_bind_what_names_alone_leave_open_and_nothing_wrong(
    report: FitReport,
) -> None:
    bare = with_version(replace(report.model, context=CONTEXT_PRIOR))
    held = split(PAIRS, 0, 3)[1]
    without = [replace(pair, context=replace(pair.context, attributes=())) for pair in held]
    fitted, names = (
        evaluate(held, assume_same_scope=True, model=report.model).pooled,
        evaluate(without, assume_same_scope=True, model=bare).pooled,
    )
    assert fitted.bind.right == fitted.bind.n
    assert fitted.recall >= 0.95
    assert fitted.recall > names.recall


def test_a_level_weighs_what_the_labels_say_and_a_tie_of_town_little(report: FitReport) -> None:
    levels = {(row.column, row.level): row for row in report.levels}
    email, town = levels["email", "equal"], levels["home", "equal"]
    assert email.m > 0.99
    assert email.u < 0.01
    assert email.weight > 5 > 1 > town.weight > 0
    assert levels["home", "differing"].weight < 0
    assert ("birthday", "differing") not in levels
    for key, weight in report.model.context.items():
        if key not in CONTEXT_PRIOR:
            column, _, level = key.rpartition(" ")
            assert weight == levels[column, level].weight


def write_labels(folder: Path, rows: list[dict[str, str]]) -> Path:
    path = folder / "labels.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_the_command_writes_a_model_that_loads_and_prints_the_columns(tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    answer = run("fit", write_labels(tmp_path, ROWS), "--output", model)
    assert answer.exit_code == 0, answer.output
    assert "email" in answer.output
    fitted = model_from_json(model.read_text(encoding="utf-8"))
    assert fitted.context["email equal"] > 5
    printed = json.loads(run("--json", "fit", tmp_path / "labels.csv", "-o", model).output)
    assert {row["column"] for row in printed["levels"]} >= {"name", "email", "birthday", "home"}


@pytest.mark.parametrize("rows", [ROWS[:50], [row | {"is_match": "0"} for row in ROWS]])
def test_labels_that_say_too_little_are_refused(rows: list[dict[str, str]]) -> None:
    with refused(InvalidInput, "refit_refused"):
        fit_columns(pairs_from_rows(rows), "labels.csv")


def test_a_fit_that_would_merge_wrongly_is_refused() -> None:
    rng = random.Random(1)
    rows = [row | {"is_match": "0"} if rng.random() < 0.3 else row for row in ROWS]
    with refused(InvalidInput, "refit_refused"):
        fit_columns(pairs_from_rows(rows), "labels.csv")
