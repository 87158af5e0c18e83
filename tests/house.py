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
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

BARS = "tests/data/house.json"
FOLDERS = ("schema", "resolution", "store", "compiler", "window", "service", "faces")

WORDS = {
    name: frozenset(text.split())
    for name, text in tomllib.loads(
        Path(__file__).with_name("data").joinpath("word-classes.toml").read_text(encoding="utf-8")
    ).items()
}


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
_GENERIC = WORDS["generic_nouns"]


@cache
def glossary_words(root: Path) -> frozenset[str]:
    """The single words of the code that the glossary defines, in lower case."""
    page = root / "docs" / "glossary.md"
    if not page.is_file():
        return frozenset()
    return frozenset(re.findall(r"^\| `([a-z]+)` \|", page.read_text(encoding="utf-8"), re.M))


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


_NUMBERS = (
    *("files", "lines", "code", "text", "comments", "blanks", "body", "bindings", "generic"),
    *("comprehensions", "nested"),
)


@dataclass(slots=True)
class Count:
    """What one file, one folder or a whole tree comes to."""

    files: int = 0
    lines: int = 0
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
    generic: int = 0
    comprehensions: int = 0
    nested: int = 0
    longest_dots: int = 0
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
        self.longest_dots = max(self.longest_dots, other.longest_dots)


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def count_file(path: Path, root: Path) -> Count:
    """Count one source file."""
    source = path.read_text(encoding="utf-8")
    # Walking is most of the cost of a count, so a tree is walked once for all that is asked of it.
    nodes = list(ast.walk(ast.parse(source, filename=str(path))))
    docs = _docstring_lines(nodes)
    comments = _comment_lines(source)
    lines = source.splitlines()
    count = Count(files=1, lines=len(lines))
    blank = {number for number, line in enumerate(lines, 1) if not line.strip()}
    count.text = len(lines) - len(blank)
    count.code = len(lines) - len(docs | comments | blank)
    count.comments = len(comments)
    bodies = _body_lines(nodes) - docs
    count.body = len(bodies)
    count.blanks = len(bodies & blank)
    where = path.relative_to(root)
    prose = "\n".join(lines[row - 1] for row in sorted(docs | comments))
    count.citations = [f"{where} {cited}" for cited in citations(prose, root)]
    for binding in bindings(nodes):
        count.bindings += 1
        word = binding.name.strip("_").lower()
        if word in _GENERIC:
            count.generic += 1
        if not binding.truth and names_nothing(binding.name, glossary_words(root)):
            count.empty.append(f"{where}:{binding.line} {binding.name}")
    for node in nodes:
        if isinstance(node, _COMPREHENSIONS):
            count.comprehensions += 1
            inner = (sub for sub in ast.walk(node) if sub is not node)
            count.nested += any(isinstance(sub, _COMPREHENSIONS) for sub in inner)
        elif isinstance(node, ast.Attribute):
            length = _chain(node)
            count.longest_dots = max(count.longest_dots, length)
            if length > 5:
                count.dots.append(f"{where}:{node.lineno} {ast.unparse(node)}")
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


def citations(prose: str, root: Path) -> list[str]:
    """What the comments and docstrings of a file cite that is not in the repository."""
    absent = [page for page in _PAGE.findall(prose) if not (root / page).is_file()]
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


def sources(root: Path, folders: tuple[str, ...] = FOLDERS) -> list[Path]:
    """Every source file of the package below a root, by path."""
    paths = [path for folder in folders for path in (root / folder).rglob("*.py")]
    return sorted(paths)


def repeated_class_names(root: Path) -> dict[str, int]:
    """Public top-level class names that more than one module has."""
    names: Counter[str] = Counter()
    for path in sources(root):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                names[node.name] += 1
    return {name: number for name, number in sorted(names.items()) if number > 1}


@dataclass(frozen=True, slots=True)
class Arrows:
    """Which module imports which, by path below the root without the ending."""

    imports: dict[str, frozenset[str]]

    def between(self, room: str) -> int:
        """How many imports a folder's own modules have of each other."""
        return sum(
            target.startswith(f"{room}/")
            for module, targets in self.imports.items()
            if module.startswith(f"{room}/")
            for target in targets
        )

    def cycles(self) -> set[str]:
        """The folders that can be reached from themselves through other folders."""
        graph: dict[str, set[str]] = {}
        for module, targets in self.imports.items():
            home = module.rpartition("/")[0]
            graph.setdefault(home, set()).update(target.rpartition("/")[0] for target in targets)
        return {folder for folder in graph if folder in _reachable(graph, folder)}


def _reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    known: set[str] = set()
    ahead = [folder for folder in graph[start] if folder != start]
    while ahead:
        folder = ahead.pop()
        if folder not in known:
            known.add(folder)
            ahead += graph.get(folder, ())
    return known


def arrows(root: Path) -> Arrows:
    """Read every relative import of a tree, also those inside functions and for types alone."""
    paths = sources(root)
    modules = {str(path.relative_to(root).with_suffix("")) for path in paths}
    graph: dict[str, frozenset[str]] = {}
    for path in paths:
        module = str(path.relative_to(root).with_suffix(""))
        targets: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                targets |= _targets(node, module, modules)
        graph[module] = frozenset(targets - {module})
    return Arrows(graph)


def _targets(node: ast.ImportFrom, module: str, modules: set[str]) -> set[str]:
    parts = module.split("/")[: -node.level]
    base = "/".join([*parts, *(node.module.split(".") if node.module else [])])
    if base in modules:
        return {base}
    return {f"{base}/{alias.name}" for alias in node.names if f"{base}/{alias.name}" in modules}


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
_LAXEST = Bar(empty=100, comments=0, blanks=0, comprehensions=1000, nested=1000)


def bar_of(count: Count) -> Bar:
    """The figures of a count, as a bar that it just keeps."""
    return Bar(
        empty=round(100 * len(count.empty) / max(1, count.bindings), 2),
        comments=round(100 * count.comments / max(1, count.code), 1),
        blanks=round(100 * count.blanks / max(1, count.body), 1),
        comprehensions=round(1000 * count.comprehensions / max(1, count.text), 1),
        nested=round(1000 * count.nested / max(1, count.text), 1),
    )


def rooms_of(root: Path) -> dict[str, Count]:
    """What each room comes to: a sub-folder, or a top folder with the files it holds itself.

    Left out is what is too small to be measured.
    """
    counts: dict[str, Count] = {}
    for path in sources(root):
        parts = path.relative_to(root).parts
        room = "/".join(parts[:2]) if len(parts) > 2 else parts[0]
        counts.setdefault(room, Count()).add(count_file(path, root))
    return {room: count for room, count in counts.items() if count.code >= _MEASURABLE}


def bars(root: Path) -> dict[str, Bar]:
    """The bars of the rooms that do not keep those of the house yet."""
    table = json.loads((root / BARS).read_text(encoding="utf-8"))
    return {room: Bar(**limits) for room, limits in table.items()}


def ratchet(root: Path, *, anew: bool = False) -> dict[str, Bar]:
    """Tighten the bars to what is measured now and write them; `anew` also lets some slip."""
    old = {} if anew else bars(root)
    new: dict[str, Bar] = {}
    for room, count in sorted(rooms_of(root).items()):
        bar = old.get(room, _LAXEST if anew else Bar()).tightened(count)
        if bar != Bar():
            new[room] = bar

    table = {room: asdict(bar) for room, bar in new.items()}
    text = ",\n".join(f"  {json.dumps(room)}: {json.dumps(bar)}" for room, bar in table.items())
    (root / BARS).write_text(f"{{\n{text}\n}}\n", encoding="utf-8")
    return new


def parser_of_arguments() -> argparse.ArgumentParser:
    """What `python -P tests/house.py` takes."""
    parser = argparse.ArgumentParser(description="Count what folders still have to mend.")
    parser.add_argument(
        "folders",
        nargs="*",
        metavar="FOLDER",
        help="a folder or a file, from the root of the repository; each fault of it is listed",
    )
    parser.add_argument(
        "--ratchet",
        nargs="?",
        const="tighter",
        choices=("tighter", "anew"),
        help=f"write the bars of {BARS}: tightened to what is measured, or anew as it is",
    )
    return parser


def main(arguments: list[str]) -> int:
    """Print what folders still have to mend, or write the bars."""
    parser = parser_of_arguments()
    options = parser.parse_args(arguments)
    root = Path(__file__).resolve().parent.parent
    for folder in options.folders:
        if not (root / folder).exists():
            parser.error(f"there is no {folder} in the repository; name a folder such as store")

    if options.ratchet:
        ratchet(root, anew=options.ratchet == "anew")
        return 0

    total = Count()
    for folder in options.folders or FOLDERS:
        count = Count()
        base = root / folder
        for path in [base] if base.is_file() else sorted(base.rglob("*.py")):
            count.add(count_file(path, root))
        print(f"{folder:24} {summary(count)}")
        total.add(count)
    if options.folders:
        print(*total.empty, sep="\n")
        print(*total.dots, sep="\n")
        print(*total.citations, sep="\n")
    print(f"{'together':24} {summary(total)}")
    return 0


def summary(count: Count) -> str:
    """One line of figures."""
    return (
        f"code {count.code}  empty names {share(len(count.empty), count.bindings)}"
        f"  generic {share(count.generic, count.bindings)}"
        f"  comments/100 {100 * count.comments / max(1, count.code):.1f}"
        f"  blanks/100 {100 * count.blanks / max(1, count.body):.1f}"
        f"  comprehensions/1000 {1000 * count.comprehensions / max(1, count.text):.1f}"
        f" ({1000 * count.nested / max(1, count.text):.1f} nested)  dots {count.longest_dots}"
        f"  citations {len(count.citations)}"
    )


def share(part: int, whole: int) -> str:
    """A part of a whole in percent."""
    return f"{100 * part / max(1, whole):.2f} %"


if __name__ == "__main__":
    import sys

    raise SystemExit(main(sys.argv[1:]))
