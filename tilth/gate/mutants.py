"""Mutants of a change: small faults, each planted in one line that the change adds.

Pure: source text and line numbers in, mutants out, always the same ones in the same order. Each
replaces one stretch of the text and leaves every other byte alone, so that what a person is shown
is what ran. Neither cosmic-ray nor mutmut can mutate one given line without its own project, runner
and database, so the few operators stand here.
"""

from __future__ import annotations

import ast
import bisect
import re
from collections.abc import Collection, Iterable, Iterator
from difflib import SequenceMatcher
from itertools import accumulate, pairwise

from tilth.base.quiet import parse_quietly
from tilth.base.values import Value

# Beyond it the comparison would take longer than it is worth: known lines count as old.
_MOST_COMPARED = 4_000_000


class Mutant(Value):
    """Hold one fault: where it is planted, and what stands there before and after."""

    path: str
    line: int
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


# How an operator is written, and what may stand in its place.
_SIGNS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", "<=", ">="),
    ast.LtE: ("<=", "<", ">"),
    ast.Gt: (">", ">=", "<="),
    ast.GtE: (">=", ">", "<"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
_NOT_RUN = ("annotation", "returns", "decorator_list")


def added_lines(before: bytes | None, after: bytes) -> frozenset[int]:
    """Number the lines, from 1, that stand in the new text and not in the old."""
    old, new = (before or b"").splitlines(), after.splitlines()
    if len(old) * len(new) > _MOST_COMPARED:
        known = set(old)
        same = {number for number, line in enumerate(new, 1) if line in known}
    else:
        blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        same = {first + n for _, first, size in blocks for n in range(1, size + 1)}
    return frozenset(range(1, len(new) + 1)) - same


def mutants_of(path: str, source: bytes, lines: Collection[int]) -> tuple[Mutant, ...]:
    """Give the mutants of the named lines of one file; none of a file that does not parse."""
    try:
        # One with a byte order mark does not parse either: the mark would shift offsets.
        tree = parse_quietly(source.decode("utf-8"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    file = _Source(path, source)
    found = (mutant for node in _run_nodes(tree) for mutant in file.mutants_at(node))
    wanted = [mutant for mutant in found if mutant.line in lines]
    return tuple(sorted(wanted, key=lambda mutant: (mutant.start, mutant.end, mutant.text)))


def in_turn(mutants: Iterable[Mutant]) -> tuple[Mutant, ...]:
    """Order mutants so that every line has one before any has two: time may end early."""
    turns: dict[str, int] = {}
    placed = []
    for mutant in mutants:
        turns[mutant.place] = turns.get(mutant.place, 0) + 1
        placed.append((turns[mutant.place], mutant))
    return tuple(mutant for _, mutant in sorted(placed, key=lambda item: item[0]))


def _run_nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """Walk what runs: no annotation, no decorator, no docstring, no main guard."""
    todo: list[ast.AST] = [tree]
    words: set[ast.AST] = set()
    while todo:
        node = todo.pop()
        match node:
            case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
                continue
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Raise() | ast.JoinedStr():
                # The words of an error or a message are seldom what a test should hold still.
                words |= {n for n in ast.walk(node) if isinstance(getattr(n, "value", None), str)}
        if node not in words:
            yield node
        for name, value in ast.iter_fields(node):
            if name not in _NOT_RUN:
                parts = value if isinstance(value, list) else [value]
                todo += [part for part in parts if isinstance(part, ast.AST)]


class _Source:
    """Make the mutants of one file, node by node."""

    def __init__(self, path: str, source: bytes) -> None:
        self._path = path
        self._source = source
        self._starts = [0, *accumulate(map(len, source.splitlines(keepends=True)))]

    def mutants_at(self, node: ast.AST) -> Iterator[Mutant]:
        """Give the mutants of one node, without those of what it holds."""
        if isinstance(node, ast.Compare):
            for sign, pair in zip(node.ops, pairwise([node.left, *node.comparators]), strict=True):
                yield from self._swapped(sign, *pair)
        elif isinstance(node, ast.BoolOp):
            for pair in pairwise(node.values):
                yield from self._swapped(node.op, *pair)
        elif isinstance(node, ast.expr | ast.stmt):
            text = self._instead(node)
            if text is not None:
                yield self._mutant(*self._span(node), text)

    def _instead(self, node: ast.expr | ast.stmt) -> str | None:
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                start, end = self._span(operand)
                return f"({self._source[start:end].decode()})"
            case ast.Constant(value=bool(value)):
                return str(not value)
            case ast.Constant(value=int(value) | float(value)):
                # Numbers grow by one: 0 becomes 1, which no neighbouring boundary hides.
                return repr(value + 1)
            case ast.Constant(value=str(value)):
                # A piece of an f-string has no quotes of its own to replace.
                is_plain = self._source[self._span(node)[0]] in b"\"'"
                return '""' if value and is_plain else None
            case ast.Return(value=ast.Constant(value=None)):
                return "return 0"
            case ast.Return(value=ast.expr()):
                return "return None"
            case ast.Assign() | ast.AugAssign() | ast.Delete():
                return "pass"
            case ast.Expr() | ast.Raise() | ast.Assert():
                return "pass"
        return None

    def _swapped(self, sign: ast.AST, left: ast.expr, right: ast.expr) -> Iterator[Mutant]:
        """Replace an operator that stands, with white space or brackets, between two operands."""
        old, *others = _SIGNS[type(sign)]
        start, end = self._span(left)[1], self._span(right)[0]
        written = r"\s+".join(re.escape(word) for word in old.split())
        found = re.match(rf"[\s)\\]*({written})".encode(), self._source[start:end])
        if found is not None:
            for new in others:
                yield self._mutant(start + found.start(1), start + found.end(1), new)

    def _mutant(self, start: int, end: int, text: str) -> Mutant:
        new = text.encode()
        planted = self._source[:start] + new + self._source[end:]
        return Mutant(
            path=self._path,
            line=bisect.bisect_right(self._starts, start),
            before=_shown(self._source, start, end),
            after=_shown(planted, start, start + len(new)),
            start=start,
            end=end,
            text=text,
        )

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        last, column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[last - 1] + column


def _shown(source: bytes, start: int, end: int) -> str:
    """Give the line a stretch begins in; one that goes on below says so."""
    first = source.rfind(b"\n", 0, start) + 1
    line = source[first:].partition(b"\n")[0]
    goes_on = " …" if end > first + len(line) else ""
    return line.decode("utf-8").strip() + goes_on
