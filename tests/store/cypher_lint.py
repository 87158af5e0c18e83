"""Rules that the modules of Cypher statements must keep, checked without a server.

`building_problems` takes a module's text and reports every way of putting a value into a statement
other than a parameter. `tenant_problems` follows a statement clause by clause and reports each
pattern that could touch another tenant's nodes: one that starts from nothing bound before and
states no `tenant_id`, and each created node without it. A server plans each statement in each of
its languages in neo4j/test_plans.py.

A public `NAME: Final = "…"` is a statement, and so is each entry of a public table of texts. It
is written as a whole: `statement(text, fragments)` puts a constant for each `{name}` in it, the
functions beside it put texts of literals together, and nothing else may build one.
"""

import ast
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType

TEMPLATES = frozenset({"statement", "_statement", "_move"})
MAKERS = frozenset({"all_nodes", "nodes_by", "removal", "in_turn", "own_and_foreign"})
"""What makes a text of literals alone."""
BUILDERS = frozenset({"format", "format_map", "join", "replace", "substitute", "safe_substitute"})
CLAUSES = frozenset(
    {"OPTIONAL", "MATCH", "MERGE", "CREATE", "WITH", "RETURN", "UNWIND", "CALL", "UNION"}
    | {"SET", "REMOVE", "DELETE", "DETACH", "FOREACH"}
)
# before one of these the same word is part of a larger one: ON CREATE SET, STARTS WITH
NOT_CLAUSE_AFTER = frozenset({"ON", "STARTS", "ENDS", ".", ":", "|", "&", "AS", "CREATE"})
ENDS_PATTERN = frozenset({"WHERE", "ON", "USING", "SEARCH"})
ENDS_ITEMS = frozenset({"WHERE", "ORDER", "SKIP", "OFFSET", "LIMIT"})
OPENS_SCOPE = frozenset({"EXISTS", "COUNT", "COLLECT", "CALL"})
TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`"
    r"|\$\w+|\w+|<>|<=|>=|\+=|->|<-|\S",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """A broken rule, at a name of the module."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def statements_of(module: ModuleType) -> dict[str, str]:
    """The public texts of a module, those of its public tables among them."""
    statements: dict[str, str] = {}
    for name, annotation in module.__annotations__.items():
        constant = getattr(module, name)
        if name.startswith("_"):
            continue
        if isinstance(constant, str):
            statements[name] = constant
        elif isinstance(constant, Mapping) and "LiteralString" in str(annotation):
            statements |= constant
    return statements


def building_problems(source: str) -> tuple[Problem, ...]:
    """What is wrong with how a module of statements makes its texts."""
    tree = ast.parse(source)
    problems = [Problem(f"line {node.lineno}", what) for node, what in _built_texts(tree)]
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            problems.append(Problem(ast.unparse(node.targets[0]), "is not declared Final"))
    return tuple(problems)


def _built_texts(tree: ast.Module) -> Iterator[tuple[ast.expr, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node, "an f-string: bind a parameter instead"
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            yield node, "a text made with %: bind a parameter instead"
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            yield node, "a text added together: write the statement as a whole"
        elif isinstance(node, ast.Call) and _called(node) in BUILDERS:
            yield node, f"a text made with {_called(node)}(): bind a parameter instead"
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in TEMPLATES:
            for part in node.args:
                if not _is_constant(part):
                    yield node, f"{ast.unparse(part)} is put into a text: bind a parameter instead"


def _is_constant(part: ast.expr) -> bool:
    if isinstance(part, ast.Dict):
        return all(_is_constant(value) for value in part.values)
    if isinstance(part, ast.Call):  # a call inside is looked at by itself
        return ast.unparse(part.func) in TEMPLATES | MAKERS
    return isinstance(part, ast.Constant | ast.Name)


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else ""


def lint_statements(
    statements: Mapping[str, str], exempt: Mapping[str, str]
) -> tuple[Problem, ...]:
    """Return all problems of statements; `exempt` maps one to why it names no tenant.

    An exemption without need, reason or statement is a problem too, so that the list stays true.
    """
    problems: list[Problem] = []
    for name, text in statements.items():
        found = tenant_problems(text)
        if name not in exempt:
            problems.extend(Problem(name, what) for what in found)
        elif not found:
            problems.append(Problem(name, "is exempt, but names its tenant"))
        elif not exempt[name].strip():
            problems.append(Problem(name, "is exempt without a reason"))
    missing = sorted(set(exempt) - set(statements))
    problems.extend(Problem(name, "is exempt, but there is no such statement") for name in missing)
    return tuple(problems)


def tokens_of(text: str) -> list[str]:
    """Return the words and signs of a statement; comments are left out, texts are kept whole."""
    return [token for token in TOKEN.findall(text) if not token.startswith(("//", "/*"))]


def parameters_of(text: str) -> list[str]:
    """Return the names of a statement's parameters, sorted."""
    return sorted({token[1:] for token in tokens_of(text) if re.match(r"\$\w", token)})


def tenant_problems(text: str) -> list[str]:
    """Return what keeps a statement from being sure to stay within `$tenant`."""
    walk = _Walk()
    walk.follow(tokens_of(text))
    if "tenant" not in parameters_of(text):
        walk.problems.insert(0, "has no $tenant")
    return walk.problems


@dataclass
class _Walk:
    """Which variables are bound to the tenant's nodes, clause by clause."""

    problems: list[str] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)
    outer: list[tuple[set[str], set[str]]] = field(default_factory=list)
    returned: set[str] = field(default_factory=set)
    unproven: dict[str, str] = field(default_factory=dict)  # what an index query yielded, and it

    def follow(self, tokens: list[str]) -> None:
        clause: list[str] = []
        braces: list[bool] = []
        for position, token in enumerate(tokens):
            before = tokens[position - 1].upper() if position else ""
            if token == "{":
                braces.append(_opens_scope(clause))
                if braces[-1]:
                    self._enter(clause)
                    clause = []
                    continue
            elif token == "}" and braces and braces.pop():
                self._end(clause)
                self._leave()
                clause = []
                continue
            elif (
                token.upper() in CLAUSES and before not in NOT_CLAUSE_AFTER and not _in_map(braces)
            ):
                self._end(clause)
                clause = []
            clause.append(token)
        self._end(clause)

    def _enter(self, clause: list[str]) -> None:
        self.outer.append((set(self.bound), set(self.bound)))
        if clause and clause[0].upper() == "CALL":
            self.bound &= set(clause[1:])
        else:
            self._end(clause)
            self.outer[-1] = (set(self.bound), set(self.bound))
        self.returned = set()

    def _leave(self) -> None:
        self.bound = self.outer.pop()[0] | self.returned
        self.returned = set()

    def _unite(self) -> None:
        """Begin another part of a union: what either part returns is bound after it."""
        self.bound = set()
        if self.outer:
            after, before = self.outer.pop()
            self.outer.append((after | self.returned, before))
            self.bound = set(before)

    def _end(self, clause: list[str]) -> None:
        if not clause:
            return
        kind = clause[0].upper()
        if kind in {"MATCH", "MERGE", "CREATE"}:
            self._pattern(kind, clause[1:])
        elif kind in {"WITH", "RETURN"}:
            kept = self._kept(clause[1:])
            self.returned = kept
            if kind == "WITH":
                self.bound = kept
        elif kind == "UNWIND" and self.bound & set(clause):
            self.bound.add(clause[-1])
        elif kind == "UNION":
            self._unite()
        elif kind == "CALL" and clause[1:4] == ["db", ".", "index"]:
            self._procedure(clause)

    def _pattern(self, kind: str, clause: list[str]) -> None:
        pattern, rest = _cut(clause, ENDS_PATTERN)
        paths = _split(pattern)
        sure = _is_sure(rest)
        if kind != "MATCH":
            for group in (group for path in paths for group in _nodes(path)):
                is_new = ":" in group and not _variables(["(", *group]) & self.bound
                if is_new and not _states_tenant(group):
                    self._report(f"{kind} of a node without tenant_id: $tenant", group)
        anchored = set(self.bound)
        waiting = list(paths)
        while True:
            held = [path for path in waiting if _is_anchored(path, anchored, rest if sure else [])]
            if not held:
                break
            anchored.update(*(_variables(path) for path in held))
            waiting = [path for path in waiting if path not in held]
        if kind == "MATCH":
            for path in waiting:
                self._report("MATCH of nodes of any tenant", path)
        self.unproven = {k: v for k, v in self.unproven.items() if k not in anchored}
        self.bound.update(*(_variables(path) for path in paths))

    def _procedure(self, clause: list[str]) -> None:
        call, rest = _cut(clause, frozenset({"YIELD"}))
        names, predicate = _cut(rest, ENDS_ITEMS)
        for name in (name for name in names if name.isidentifier()):
            if _is_sure(predicate) and _filters(predicate, name):
                self.bound.add(name)
            else:
                self.unproven[name] = " ".join(call)
        if not names:
            self._report("an index query without YIELD", call)
        self.unproven.pop("score", None)

    def _kept(self, clause: list[str]) -> set[str]:
        items, predicate = _cut(clause, ENDS_ITEMS)
        for name in sorted(set(items) & set(self.unproven)):
            call = self.unproven.pop(name)
            if _is_sure(predicate) and _filters(predicate, name):
                self.bound.add(name)
            else:
                self._report("an index query whose nodes may be any tenant's", [call])
        kept: set[str] = set()
        for item in _split([token for token in items if token.upper() != "DISTINCT"]):
            if item == ["*"]:
                kept |= self.bound
            elif self.bound & _whole_names(item):
                kept.add(item[-1])
        return kept

    def _report(self, what: str, tokens: list[str]) -> None:
        self.problems.append(f"{what}: {' '.join(tokens)[:80]}")


def _opens_scope(clause: list[str]) -> bool:
    if not clause:
        return False
    if clause[0].upper() == "CALL":
        return "." not in clause and clause[-1] in {")", clause[0]}
    return clause[-1].upper() in OPENS_SCOPE


def _in_map(braces: list[bool]) -> bool:
    return bool(braces) and not braces[-1]


def _cut(tokens: list[str], words: frozenset[str]) -> tuple[list[str], list[str]]:
    for position, token in enumerate(tokens):
        if token.upper() in words:
            return tokens[:position], tokens[position + 1 :]
    return tokens, []


def _split(tokens: list[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token in "([{") - (token in ")]}")
        if token == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def _nodes(path: list[str]) -> Iterator[list[str]]:
    group: list[str] = []
    depth = 0
    for token in path:
        depth -= token in ")]}"
        if depth:
            group.append(token)
        elif token == ")":
            yield group
        if token in "([{":
            if depth == 0:
                group = []
            depth += 1


def _variables(path: list[str]) -> set[str]:
    pairs = itertools.pairwise(path)
    return {name for sign, name in pairs if sign in "([" and re.match(r"[^\W\d]", name)}


def _whole_names(item: list[str]) -> set[str]:
    """The names in an expression that stand for a node itself, not for one of its properties."""
    follow = [*item[1:], ""]
    return {name for name, after in zip(item, follow, strict=True) if after != "."}


def _states_tenant(tokens: list[str]) -> bool:
    return any(
        tokens[at : at + 3] == ["tenant_id", ":", "$tenant"] for at in range(len(tokens) - 2)
    )


def _filters(predicate: list[str], name: str) -> bool:
    wanted = [name, ".", "tenant_id", "=", "$tenant"]
    return any(predicate[at : at + 5] == wanted for at in range(len(predicate) - 4))


def _is_sure(predicate: list[str]) -> bool:
    """Whether each of its terms must hold: no OR beside them, no NOT before the tenant's."""
    depth = 0
    for position, token in enumerate(predicate):
        depth += (token in "([{") - (token in ")]}")
        if depth == 0 and token.upper() in {"OR", "XOR"}:
            return False
        if token.upper() == "NOT" and "tenant_id" in predicate[position : position + 5]:
            return False
    return True


def _is_anchored(path: list[str], bound: set[str], predicate: list[str]) -> bool:
    names = _variables(path)
    return (
        bool(names & bound)
        or _states_tenant(path)
        or any(_filters(predicate, name) for name in names)
    )
