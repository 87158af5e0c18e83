"""How the rooms of the package read: names, steps, comments, arrows and floors, counted.

The bars are those of `tests/test_house.py`; `python -P tests/house.py FOLDER` lists what breaks
them.

The rule of names goes by class, because a list of bad words is evaded by synonyms: a binding is a
noun or a noun phrase. Standing alone, none is a pronoun, determiner, question word, adverb or
preposition (closed classes, listed whole in
`tests/data/word-classes.toml`), nor a participle. Free are truth values,
predicates, enum members, names of an end, a side or a time, and the words that
`docs/glossary.md` defines.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache

from tenure.tests.source_tree import FOLDERS, ROOT, Module, data_table, modules

BARS = ROOT / "tests/data/house.json"

WORDS = {name: frozenset(text.split()) for name, text in data_table("word-classes.toml").items()}
_LOOK_ALIKES = WORDS["nouns_that_look_like_participles"]
EMPTY_WORDS = frozenset().union(
    *(
        WORDS[name]
        for name in ("pronouns", "question_words", "determiners", "prepositions", "adverbs")
    ),
    WORDS["irregular_participles"] - _LOOK_ALIKES,
)
_FREE = WORDS["ends_and_times"] | WORDS["registers"]
_PARTICIPLE = re.compile(r"[a-z]{2,}ed\Z")


@cache
def glossary_words() -> frozenset[str]:
    """The single words of the code that the glossary defines, in lower case."""
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    return frozenset(re.findall(r"^\| `([a-z]+)` \|", page, re.M))


def names_nothing(name: str, allowed: frozenset[str] = frozenset()) -> bool:
    """Whether a name, standing alone, is no noun by the rule of classes."""
    word = name.strip("_").lower()
    if word in allowed or word in _FREE or name.startswith("__"):
        return False
    if word in EMPTY_WORDS:
        return True
    return bool(_PARTICIPLE.match(word)) and word not in _LOOK_ALIKES


@dataclass(frozen=True, slots=True)
class Binding:
    """A name that the code gives to something."""

    name: str
    line: int
    truth: bool
    """Whether it is known to be a truth value, a predicate or an enum member."""


def bindings(nodes: Sequence[ast.AST]) -> Iterator[Binding]:
    """Yield each binding of a tree's nodes: functions, classes, parameters, fields, locals."""
    enum_members = {id(stmt) for node in nodes for stmt in _enum_members(node)}
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Binding(node.name, node.lineno, _is_bool(node.returns))
        elif isinstance(node, ast.ClassDef):
            yield Binding(node.name, node.lineno, truth=False)
        elif isinstance(node, ast.arg):
            yield Binding(node.arg, node.lineno, _is_bool(node.annotation))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield Binding(node.target.id, node.lineno, _is_bool(node.annotation))
        elif isinstance(node, ast.Assign):
            free = id(node) in enum_members or _is_truth(node.value)
            for target in node.targets:
                yield from _names(target, truth=free)
        elif isinstance(node, ast.NamedExpr):
            yield Binding(node.target.id, node.lineno, _is_truth(node.value))
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            yield from _names(node.target)
        elif isinstance(node, ast.withitem) and node.optional_vars:
            yield from _names(node.optional_vars)
        elif (isinstance(node, ast.ExceptHandler) and node.name) or (
            isinstance(node, ast.MatchAs | ast.MatchStar) and node.name
        ):
            yield Binding(node.name, node.lineno, truth=False)


def _names(target: ast.expr, *, truth: bool = False) -> Iterator[Binding]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield Binding(node.id, node.lineno, truth)


def _enum_members(node: ast.AST) -> Iterator[ast.stmt]:
    if isinstance(node, ast.ClassDef):
        bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
        if any("Enum" in base or base in {"Flag", "IntFlag"} for base in bases):
            yield from node.body


def _is_bool(annotation: ast.expr | None) -> bool:
    return annotation is not None and ast.unparse(annotation).strip("'\"") in {
        "bool",
        "bool | None",
        "TypeIs",
        "Callable[..., bool]",
    }


def _is_truth(value: ast.expr) -> bool:
    """Whether an expression can only be a truth value."""
    if isinstance(value, ast.Compare):
        return True
    if isinstance(value, ast.UnaryOp):
        return isinstance(value.op, ast.Not)
    if isinstance(value, ast.BoolOp):
        return all(_is_truth(part) for part in value.values)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in {"bool", "any", "all", "isinstance", "callable", "hasattr"}
    return isinstance(value, ast.Constant) and isinstance(value.value, bool)


_NUMBERS = ("code", "text", "comments", "blanks", "body", "bindings", "comprehensions", "nested")


@dataclass(slots=True)
class Count:
    """What one file, one folder or a whole tree comes to."""

    code: int = 0
    """Lines without blank ones, comments and docstrings."""
    text: int = 0
    """Lines that are not blank."""
    comments: int = 0
    blanks: int = 0
    """Blank lines inside function bodies."""
    body: int = 0
    """Lines of function bodies, docstrings left out."""
    bindings: int = 0
    empty: list[str] = field(default_factory=list)
    """Bindings whose name names nothing, as `file:line name`."""
    comprehensions: int = 0
    nested: int = 0
    dots: list[str] = field(default_factory=list)
    """The attribute chains of six names and more."""
    citations: list[str] = field(default_factory=list)
    """Citations of pages that are not in the repository."""

    def add(self, other: Count) -> None:
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.empty += other.empty
        self.dots += other.dots
        self.citations += other.citations


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def count_module(module: Module) -> Count:
    """Count one source file."""
    source, nodes = module.source, module.nodes
    docs = _docstring_lines(nodes)
    comments = _comment_lines(source)
    lines = source.splitlines()
    count = Count()
    blank = {number for number, line in enumerate(lines, 1) if not line.strip()}
    count.text = len(lines) - len(blank)
    count.code = len(lines) - len(docs | comments | blank)
    count.comments = len(comments)
    bodies = _body_lines(nodes) - docs
    count.body = len(bodies)
    count.blanks = len(bodies & blank)
    prose = "\n".join(lines[row - 1] for row in sorted(docs | comments))
    count.citations = [f"{module.place(1)} {cited}" for cited in citations(prose)]
    for binding in bindings(nodes):
        count.bindings += 1
        if not binding.truth and names_nothing(binding.name, glossary_words()):
            count.empty.append(f"{module.place(binding.line)} {binding.name}")
    for node in nodes:
        if isinstance(node, _COMPREHENSIONS):
            count.comprehensions += 1
            inner = (sub for sub in ast.walk(node) if sub is not node)
            count.nested += any(isinstance(sub, _COMPREHENSIONS) for sub in inner)
        elif isinstance(node, ast.Attribute) and _chain(node) > 5:
            count.dots.append(f"{module.place(node.lineno)} {ast.unparse(node)}")
    return count


_ABSENT = re.compile(
    r"\b(?:settled|DESIGN|bitemporal|neo4j|ecosystem|vocabulary|compiler|resolution|rules|style"
    r"|memory-systems|checklist)(?: page)? §?[0-9]+(?:\.[0-9]+)*\b"
    r"|\b(?:bitemporal|compiler|resolution|vocabulary|settled|ecosystem|neo4j|rules) page\b"
    r"|\b(?:settled|DESIGN|API|rules|bitemporal|checklist)\.md\b"
    r"|\bR[0-9]{1,2}\b|\bD[1-9]\b"
)
"""Names of pages, sections and rules that a reader of the repository cannot open."""
_PAGE = re.compile(r"\bdocs/[\w/-]+\.md\b")


def citations(prose: str) -> list[str]:
    """What the comments and docstrings of a file cite that is not in the repository."""
    absent = [page for page in _PAGE.findall(prose) if not (ROOT / page).is_file()]
    return _ABSENT.findall(prose) + absent


def _chain(node: ast.expr) -> int:
    """How many dots a chain of plain attributes has."""
    dots = 0
    while isinstance(node, ast.Attribute):
        dots += 1
        node = node.value
    return dots if isinstance(node, ast.Name) else 0


def _docstring_lines(nodes: Sequence[ast.AST]) -> set[int]:
    """The lines of strings that stand alone: docstrings, and the texts under fields."""
    rows: set[int] = set()
    for node in nodes:
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                rows |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            case _:
                pass
    return rows


def _comment_lines(source: str) -> set[int]:
    """The lines that hold a comment and nothing else."""
    lines = source.splitlines()
    rows = {row for row, line in enumerate(lines, 1) if line.lstrip().startswith("#")}
    if not rows:
        return rows

    # A line of a string may begin with the sign too: only the tokenizer tells them apart.
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return rows & {token.start[0] for token in tokens if token.type == tokenize.COMMENT}


def _body_lines(nodes: Sequence[ast.AST]) -> set[int]:
    rows: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            rows |= set(range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1))
    return rows


def repeated_class_names() -> dict[str, int]:
    """Public top-level class names that more than one module has."""
    names: Counter[str] = Counter()
    for module in modules():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                names[node.name] += 1
    return {name: number for name, number in sorted(names.items()) if number > 1}


# --- the bars


@dataclass(frozen=True, slots=True)
class Bar:
    """What the code of one folder is held to."""

    empty: float = 0.5
    """Names that name nothing, in percent of all bindings, at most."""
    comments: float = 2.5
    """Comment lines per 100 lines of code, at least."""
    blanks: float = 6.0
    """Blank lines per 100 lines of function bodies, at least."""
    comprehensions: float = 20.0
    """Comprehensions per 1,000 lines that are not blank, at most."""
    nested: float = 0.0
    """Comprehensions that hold another one, per 1,000 lines, at most."""

    def faults(self, count: Count) -> list[str]:
        """What a count breaks, in words."""
        figures = asdict(bar_of(count))
        faults: list[str] = []
        for name, limit in asdict(self).items():
            is_least = name in _AT_LEAST
            # A tenth beyond passes: a few lines of a small room must not stop a change.
            if figures[name] < 0.9 * limit if is_least else figures[name] > 1.1 * limit:
                faults.append(f"{name} {figures[name]}, {'least' if is_least else 'most'} {limit}")
        return faults

    def tightened(self, count: Count) -> Bar:
        """The stricter of what holds now and what is measured, no stricter than the house."""
        figures, house = asdict(bar_of(count)), asdict(Bar())
        limits: dict[str, float] = {}
        for name, limit in asdict(self).items():
            stricter, laxer = (max, min) if name in _AT_LEAST else (min, max)
            limits[name] = laxer(house[name], stricter(limit, figures[name]))
        return Bar(**limits)


_AT_LEAST = ("comments", "blanks")
_MEASURABLE = 40
"""Lines of code from which the shares of a room say something."""


def bar_of(count: Count) -> Bar:
    """The figures of a count, as a bar that it just keeps."""
    return Bar(
        empty=round(100 * len(count.empty) / max(1, count.bindings), 2),
        comments=round(100 * count.comments / max(1, count.code), 1),
        blanks=round(100 * count.blanks / max(1, count.body), 1),
        comprehensions=round(1000 * count.comprehensions / max(1, count.text), 1),
        nested=round(1000 * count.nested / max(1, count.text), 1),
    )


def count_rooms() -> dict[str, Count]:
    """What each room comes to: a sub-folder, or a top folder with the files it holds itself.

    Left out is what is too small to be measured.
    """
    counts: dict[str, Count] = {}
    for module in modules():
        *folders, _ = module.path.relative_to(ROOT).parts
        counts.setdefault("/".join(folders[:2]), Count()).add(count_module(module))
    return {room: count for room, count in counts.items() if count.code >= _MEASURABLE}


def bars() -> dict[str, Bar]:
    """The bars of the rooms that do not keep those of the house yet."""
    table = json.loads(BARS.read_text(encoding="utf-8"))
    return {room: Bar(**limits) for room, limits in table.items()}


def ratchet() -> None:
    """Tighten the bars to what is measured now and write them."""
    old = bars()
    lines: list[str] = []
    for room, count in sorted(count_rooms().items()):
        bar = old.get(room, Bar()).tightened(count)
        if bar != Bar():
            lines.append(f"  {json.dumps(room)}: {json.dumps(asdict(bar))}")
    BARS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main() -> None:
    """Print what folders still have to mend, or tighten the bars."""
    parser = argparse.ArgumentParser(description="Count what folders still have to mend.")
    parser.add_argument(
        "folders",
        nargs="*",
        metavar="FOLDER",
        help="a folder or a file, from the root of the repository; each fault of it is listed",
    )
    parser.add_argument(
        "--ratchet", action="store_true", help="tighten the bars of tests/data/house.json"
    )
    options = parser.parse_args()
    if options.ratchet:
        ratchet()
        return

    for folder in options.folders or FOLDERS:
        base, count = ROOT / folder, Count()
        if not base.exists():
            parser.error(f"there is no {folder} in the repository; name a folder such as store")
        for path in [base] if base.is_file() else sorted(base.rglob("*.py")):
            count.add(count_module(Module(folder, path)))
        figures = ", ".join(f"{name} {figure}" for name, figure in asdict(bar_of(count)).items())
        print(f"{folder:24} code {count.code}, {figures}")
        if options.folders:
            print(*count.empty, *count.dots, *count.citations, sep="\n")


if __name__ == "__main__":
    main()
