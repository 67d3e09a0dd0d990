"""Mutants of a change: small faults, each planted in one line that the change adds.

Pure: source text and line numbers in, mutants out, always the same ones in the same order. Each
replaces one stretch of the text and leaves every other byte alone, so that what a person is shown
is what ran. Neither cosmic-ray nor mutmut can mutate one given line without its own project, runner
and database, so the few operators stand here.
"""

from __future__ import annotations

import ast
import bisect
from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum

from tilth.base.quiet import parse_quietly
from tilth.base.values import Value


class Operator(StrEnum):
    """Name a kind of fault."""

    COMPARISON = "comparison"
    BOUNDARY = "boundary"
    CONSTANT = "constant"
    BOOLEAN = "boolean"
    RETURN = "return"
    STATEMENT = "statement"


class Mutant(Value):
    """Hold one fault: where it is planted, and what stands there before and after."""

    path: str
    line: int
    operator: Operator
    before: str
    after: str
    # The stretch of the file's bytes that is replaced, and what by.
    start: int
    end: int
    text: str

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"

    def planted(self, source: bytes) -> bytes:
        """Give the file with the fault in it."""
        return source[: self.start] + self.text.encode() + source[self.end :]


_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", ">="),
    ast.LtE: ("<=", ">"),
    ast.Gt: (">", "<="),
    ast.GtE: (">=", "<"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
_BOUNDARIES: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
}
# What a change leaves out without a trace; a call is worth dropping, a docstring is not.
_DROPPED = (ast.Assign, ast.AugAssign, ast.Expr, ast.Raise, ast.Delete, ast.Assert)


def mutants_of(path: str, source: bytes, lines: Collection[int]) -> tuple[Mutant, ...]:
    """Give the mutants of the named lines of one file; none of a file that does not parse."""
    try:
        text = source.decode("utf-8")
        tree = parse_quietly(text)
    except (UnicodeDecodeError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    if text.startswith("\ufeff"):
        # A byte order mark shifts every offset of the first line.
        return ()
    found = _Found(path, source, frozenset(lines))
    for node in _product_nodes(tree):
        found.look_at(node)
    return tuple(sorted(found.mutants, key=lambda mutant: (mutant.start, mutant.operator)))


def in_turn(mutants: Iterable[Mutant]) -> tuple[Mutant, ...]:
    """Order mutants so that every line has one before any has two: time may end early."""
    rank: dict[tuple[str, int], int] = {}
    placed = []
    for mutant in mutants:
        turn = rank.get((mutant.path, mutant.line), 0)
        rank[mutant.path, mutant.line] = turn + 1
        placed.append((turn, mutant))
    return tuple(mutant for _, mutant in sorted(placed, key=lambda item: item[0]))


def _product_nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """Walk what runs: no annotation, no decorator, no docstring, no main guard."""
    todo: list[ast.AST] = [tree]
    passed: set[int] = set()
    while todo:
        node = todo.pop()
        if _is_main_guard(node):
            continue
        yield node
        passed |= _passed_over(node)
        todo.extend(child for child in ast.iter_child_nodes(node) if id(child) not in passed)


def _passed_over(node: ast.AST) -> frozenset[int]:
    parts: list[ast.AST | None] = []
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        parts = [node.returns, *node.decorator_list]
    elif isinstance(node, ast.ClassDef):
        parts = [*node.decorator_list]
    elif isinstance(node, ast.arg | ast.AnnAssign):
        parts = [node.annotation]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        parts = [node.value]
    elif isinstance(node, ast.Raise | ast.JoinedStr):
        # The words of an error or a message are seldom what a test should hold still.
        parts = [part for part in ast.walk(node) if _is_text(part)]
    return frozenset(id(part) for part in parts if part is not None)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_main_guard(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Compare)
        and isinstance(node.test.left, ast.Name)
        and node.test.left.id == "__name__"
    )


class _Found:
    """Collect the mutants of one file, node by node."""

    def __init__(self, path: str, source: bytes, lines: frozenset[int]) -> None:
        self.mutants: list[Mutant] = []
        self._path = path
        self._source = source
        self._lines = lines
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def look_at(self, node: ast.AST) -> None:
        if isinstance(node, ast.Compare):
            self._comparison(node)
        elif isinstance(node, ast.BoolOp):
            self._junction(node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self._replace(node, Operator.BOOLEAN, f"({self._text_of(node.operand)})")
        elif isinstance(node, ast.Constant):
            self._constant(node)
        elif isinstance(node, ast.Return):
            self._returned(node)
        elif isinstance(node, _DROPPED):
            self._dropped(node)

    def _comparison(self, node: ast.Compare) -> None:
        left: ast.expr = node.left
        for sign, right in zip(node.ops, node.comparators, strict=True):
            gap = (self._end(left), self._start(right))
            if type(sign) in _BOUNDARIES:
                self._swap(gap, Operator.BOUNDARY, *_BOUNDARIES[type(sign)])
            self._swap(gap, Operator.COMPARISON, *_COMPARISONS[type(sign)])
            left = right

    def _junction(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._swap((self._end(left), self._start(right)), Operator.BOOLEAN, old, new)

    def _constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._replace(node, Operator.CONSTANT, str(not value))
        elif isinstance(value, int):
            # Numbers grow by one: 0 becomes 1, which no neighbouring boundary hides.
            self._replace(node, Operator.CONSTANT, str(value + 1))
        elif isinstance(value, float):
            self._replace(node, Operator.CONSTANT, repr(value + 1.0))
        elif isinstance(value, str) and value and self._is_plain_string(node):
            self._replace(node, Operator.CONSTANT, '""')

    def _returned(self, node: ast.Return) -> None:
        if node.value is None:
            return
        is_none = isinstance(node.value, ast.Constant) and node.value.value is None
        self._replace(node, Operator.RETURN, "return 0" if is_none else "return None")

    def _dropped(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        self._replace(node, Operator.STATEMENT, "pass")

    def _swap(self, gap: tuple[int, int], operator: Operator, old: str, new: str) -> None:
        """Replace an operator that stands, with white space or brackets, between two operands."""
        start, end = gap
        found = _sign_in(self._source[start:end], old)
        if found is not None:
            self._add(operator, start + found[0], start + found[1], new)

    def _replace(self, node: ast.expr | ast.stmt, operator: Operator, text: str) -> None:
        self._add(operator, self._start(node), self._end(node), text)

    def _add(self, operator: Operator, start: int, end: int, text: str) -> None:
        line = bisect.bisect_right(self._starts, start)
        if line not in self._lines:
            return
        mutant = Mutant(
            path=self._path,
            line=line,
            operator=operator,
            before=self._shown(self._source, start, end),
            after="",
            start=start,
            end=end,
            text=text,
        )
        planted = mutant.planted(self._source)
        after = self._shown(planted, start, start + len(text.encode()))
        self.mutants.append(mutant.model_copy(update={"after": after}))

    def _shown(self, source: bytes, start: int, end: int) -> str:
        """Give the line a stretch begins in; one that goes on below says so."""
        first = source.rfind(b"\n", 0, start) + 1
        last = source.find(b"\n", start)
        line = source[first : last if last >= 0 else len(source)].decode("utf-8").strip()
        return line if last < 0 or end <= last else f"{line} …"

    def _text_of(self, node: ast.expr) -> str:
        return self._source[self._start(node) : self._end(node)].decode("utf-8")

    def _is_plain_string(self, node: ast.Constant) -> bool:
        # A piece of an f-string has no quotes of its own to replace.
        return self._source[self._start(node) : self._start(node) + 1] in (b'"', b"'")

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        return self._starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)


def _sign_in(gap: bytes, sign: str) -> tuple[int, int] | None:
    """Find an operator among the brackets, comments and line ends between two operands."""
    words = sign.encode().split()
    at = 0
    start = -1
    for word in words:
        found = gap.find(word, at)
        comment = gap.find(b"#")
        if found < 0 or 0 <= comment < found:
            return None
        start = found if start < 0 else start
        at = found + len(word)
    return start, at
