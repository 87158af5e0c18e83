"""The weight of the repository only falls: code lines and statements by folder, under ceilings.

A code line is one that is not blank, a comment or a docstring. `tests/data/weight.json` holds the
ceiling of each folder and the bar that it has to reach; up to its bar a folder may grow again.

`python -P tests/test_weight.py` prints the table, and `--tighten` lowers the ceilings to what is
measured. `--raise` also raises the ceilings that are broken: for a move from one folder into
another, or where the body of the commit says which step repays it.
"""

import argparse
import ast
import io
import json
import tokenize
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tests/data/weight.json"

PRODUCT = ("(root)", "schema", "resolution", "store", "compiler", "window", "service", "faces")
FOLDERS = (*PRODUCT, "tests", "bench")
_LAYOUT = frozenset(
    {
        *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
        *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
    }
)


class Weight(NamedTuple):
    """What one file or one folder weighs."""

    modules: int
    code: int
    statements: int


def weigh(source: str) -> Weight:
    """Count the code lines and the statements of one module."""
    statements = texts = 0
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                docstrings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
                texts += 1
            case ast.stmt():
                statements += 1
    # Tokens are slow to read, and only a text of several lines hides what a line is.
    is_plain = source.count('"""') == 2 * texts
    lines = _plain_lines(source) if is_plain else _token_lines(source)
    return Weight(1, len(lines - docstrings), statements)


def _plain_lines(source: str) -> set[int]:
    lines = enumerate(source.splitlines(), 1)
    return {row for row, line in lines if line.strip() and not line.lstrip().startswith("#")}


def _token_lines(source: str) -> set[int]:
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines


def total(weights: list[Weight]) -> Weight:
    """Add weights up."""
    return Weight(*map(sum, zip(*weights, strict=True))) if weights else Weight(0, 0, 0)


def weights(root: Path) -> dict[str, Weight]:
    """Weigh each folder of a checkout, and the product as a whole."""
    table: dict[str, Weight] = {}
    for folder in FOLDERS:
        paths = root.glob("*.py") if folder == "(root)" else (root / folder).rglob("*.py")
        table[folder] = total([weigh(path.read_text(encoding="utf-8")) for path in paths])
    return {"product": total([table[folder] for folder in PRODUCT])} | table


def faults(ceilings: dict[str, dict[str, int]], measured: dict[str, Weight]) -> list[str]:
    """What is above its ceiling, in words."""
    words: list[str] = []
    for folder, weight in measured.items():
        for figure, limit in ceilings[folder].items():
            if figure != "bar" and getattr(weight, figure) > limit:
                words.append(f"{folder}: {getattr(weight, figure)} {figure}, at most {limit}")
    return words


def tightened(row: dict[str, int], weight: Weight) -> dict[str, int]:
    """Lower the ceilings of a folder to its weight; at its bar the folder is done."""
    if weight.code <= row["bar"]:
        return row | {"code": min(row["code"], row["bar"])}
    lowered = {figure: min(row[figure], getattr(weight, figure)) for figure in row.keys() - {"bar"}}
    return row | lowered


def raised(row: dict[str, int], weight: Weight) -> dict[str, int]:
    """Raise the ceilings of a folder to its weight, where it is above them."""
    return row | {f: max(row[f], getattr(weight, f)) for f in row.keys() - {"bar"}}


def test_no_folder_is_above_its_ceiling() -> None:
    ceilings = json.loads(TABLE.read_text(encoding="utf-8"))
    measured = weights(ROOT)
    assert ceilings.keys() == measured.keys()
    assert faults(ceilings, measured) == []


def test_code_is_counted_without_blanks_comments_and_docstrings() -> None:
    source = '"""One."""\n\n# two\nx = (\n    1,  # three\n)\n"""Four,\nfive."""\ny = """a\nb"""\n'
    assert weigh(source) == Weight(modules=1, code=5, statements=2)


def test_a_folder_above_its_ceiling_is_named() -> None:
    row = {"code": 10, "statements": 5, "bar": 8}
    assert faults({"store": row}, {"store": Weight(3, 11, 5)}) == ["store: 11 code, at most 10"]
    assert faults({"store": row}, {"store": Weight(3, 9, 5)}) == []


def test_a_ceiling_only_falls_and_no_lower_than_the_bar() -> None:
    row = {"code": 10, "statements": 5, "bar": 8}
    assert tightened(row, Weight(1, 12, 6)) == row
    assert tightened(row, Weight(1, 9, 4)) == {"code": 9, "statements": 4, "bar": 8}
    assert tightened(row, Weight(1, 6, 3)) == {"code": 8, "statements": 5, "bar": 8}
    assert raised(row, Weight(1, 12, 4)) == {"code": 12, "statements": 5, "bar": 8}


def main() -> None:
    """Print the table, or lower its ceilings."""
    parser = argparse.ArgumentParser(description="Weigh the repository by folder.")
    parser.add_argument("--tighten", action="store_true", help="lower the ceilings")
    parser.add_argument(
        "--raise", action="store_true", dest="is_raised", help="raise broken ones too"
    )
    options = parser.parse_args()
    ceilings, measured = json.loads(TABLE.read_text(encoding="utf-8")), weights(ROOT)
    print(f"{'folder':12}{'modules':>9}{'code':>9}{'ceiling':>9}{'bar':>9}{'statements':>12}")
    for folder, weight in measured.items():
        if options.is_raised:
            ceilings[folder] = raised(ceilings[folder], weight)
        if options.tighten or options.is_raised:
            ceilings[folder] = tightened(ceilings[folder], weight)
        row = ceilings[folder]
        figures = f"{weight.modules:>9}{weight.code:>9}{row['code']:>9}{row['bar']:>9}"
        print(f"{folder:12}{figures}{weight.statements:>12}")
    if options.tighten or options.is_raised:
        rows = [f"  {json.dumps(folder)}: {json.dumps(row)}" for folder, row in ceilings.items()]
        TABLE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
