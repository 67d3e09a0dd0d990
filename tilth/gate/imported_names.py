"""The names of a Python file that stand for something it imports, scope by scope.

What a call or a fixture gives is none of it; another name for it, and what a helper of the file is
given of it, are. Told from the syntax tree alone, so a name may be missed that is made up as the
code runs. Pure.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Sequence

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_NAMED = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
    *(ast.ExceptHandler, ast.MatchAs, ast.MatchStar),
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_MOST_NAMES_FOR_ONE = 10
_IMPORTING = frozenset({"import_module", "__import__"})
_REACHING = frozenset({"getattr", "vars"})
_OWN_NAMES = frozenset({"globals", "locals", "vars"})
_LOOKING_UP = frozenset({"get", "pop", "setdefault", "__getitem__"})
# What is put there is for the programs that a test starts, and honest tests do.
_ENVIRONMENTS = frozenset({"environ", "environb"})


class ImportedNames:
    """Know at each place of a walk which names are imported; functions are entered and left."""

    def __init__(self, tree: ast.AST) -> None:
        nodes = list(ast.walk(tree))
        self._anywhere = _anywhere(nodes)
        self._environments = _environments(nodes)
        # Given by one function and read by another: where is not told by scopes.
        self._shared = frozenset(
            name
            for node in nodes
            if isinstance(node, ast.Global | ast.Nonlocal)
            for name in node.names
        )
        self._given = _Given(nodes, self._anywhere)
        self._scopes: list[dict[str, bool]] = []
        self._enter({}, _own_nodes([tree]))

    def __contains__(self, name: object) -> bool:
        if name in self._shared:
            return name in self._anywhere
        scope = next((scope for scope in reversed(self._scopes) if name in scope), {})
        return scope.get(str(name), False)

    def enter(self, function: Function) -> None:
        """Let parameters and the function's own variables hide the names around them."""
        body = function.body if isinstance(function.body, list) else [function.body]
        self._enter(self._given.parameters(function), _own_nodes(body))

    def leave(self) -> None:
        self._scopes.pop()

    def is_environment(self, node: ast.AST) -> bool:
        """Tell whether an expression is the environment of the process."""
        if isinstance(node, ast.Name):
            return node.id in self._environments
        return isinstance(node, ast.Attribute) and node.attr in _ENVIRONMENTS

    def _enter(self, scope: dict[str, bool], nodes: Iterable[ast.AST]) -> None:
        given: list[tuple[list[str], ast.AST]] = []
        for node in nodes:
            scope.update(dict.fromkeys(_imports(node), True))
            for name in _bound(node):
                scope.setdefault(name, False)
            given += _assigned(node)
        self._scopes.append(scope)
        for _ in range(_MOST_NAMES_FOR_ONE):
            more = [n for names, value in given if is_imported(value, self) for n in names]
            if all(map(scope.get, more)):
                break
            scope.update(dict.fromkeys(more, True))


def is_imported(node: ast.AST, known: Container[str]) -> bool:
    """Tell whether an expression is a module or stands in one; what a call gives is not."""
    while True:
        own = _looked_up(node)
        if own is not None:
            return own in known
        if isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and called(node) in _REACHING and node.args:
            node = node.args[0]
        else:
            break
    if isinstance(node, ast.Call):
        return called(node) in _IMPORTING
    return isinstance(node, ast.Name) and node.id in known


def called(node: ast.Call) -> str:
    """Give the last name of what is called."""
    func = node.func
    if isinstance(func, ast.Attribute):
        return func.attr
    return func.id if isinstance(func, ast.Name) else ""


def _looked_up(node: ast.AST) -> str | None:
    """Give the name that is looked up among the file's own: `globals()['calc']`."""
    key: ast.AST | None = None
    if isinstance(node, ast.Subscript):
        key, names = node.slice, node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        key, names = node.args[0], node.func.value
        key = key if node.func.attr in _LOOKING_UP else None
    if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
        return None
    is_own = isinstance(names, ast.Call) and called(names) in _OWN_NAMES and not names.args
    return key.value if is_own else None


class _Given:
    """Know which parameters of a file's own functions are given something that is imported."""

    def __init__(self, nodes: Sequence[ast.AST], known: Container[str]) -> None:
        self._titles: dict[int, list[str]] = {}
        self._places: dict[str | int, set[str | int]] = {}
        for node in nodes:
            for names, value in _assigned(node):
                if isinstance(value, ast.Lambda):
                    self._titles.setdefault(id(value), []).extend(names)
            if isinstance(node, ast.Call) and (places := _imported_arguments(node, known)):
                func = node.func
                key = id(func) if isinstance(func, ast.Lambda) else getattr(func, "id", "")
                self._places.setdefault(key, set()).update(places)

    def parameters(self, function: Function) -> dict[str, bool]:
        """Give the parameters of a function, each with whether it is given something imported."""
        taken = function.args
        lined = [*taken.posonlyargs, *taken.args]
        more = (*taken.kwonlyargs, taken.vararg, taken.kwarg)
        found = {each.arg: False for each in (*lined, *more) if each is not None}
        for key in self._keys(function):
            places = self._places.get(key)
            if not places:
                continue
            found.update({name: True for name in found if name in places})
            found.update({each.arg: True for at, each in enumerate(lined) if at in places})
        return found

    def _keys(self, function: Function) -> list[str | int]:
        if isinstance(function, ast.Lambda):
            return [id(function), *self._titles.get(id(function), ())]
        return [function.name]


def _imported_arguments(call: ast.Call, known: Container[str]) -> set[str | int]:
    places: set[str | int] = {at for at, each in enumerate(call.args) if is_imported(each, known)}
    named = (each for each in call.keywords if is_imported(each.value, known))
    return places.union(each.arg for each in named if each.arg)


def _anywhere(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Give all names that stand for something imported in any part of a file."""
    given: list[tuple[list[str], ast.AST]] = []
    known: set[str] = set()
    for node in nodes:
        known.update(_imports(node))
        given += _assigned(node)
    for _ in range(_MOST_NAMES_FOR_ONE):
        more = {name for names, value in given if is_imported(value, known) for name in names}
        if more <= known:
            break
        known |= more
    return frozenset(known)


def _environments(nodes: Iterable[ast.AST]) -> frozenset[str]:
    found: set[str] = set(_ENVIRONMENTS)
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            found.update(a.asname for a in node.names if a.asname and a.name in _ENVIRONMENTS)
        for names, value in _assigned(node):
            if isinstance(value, ast.Attribute) and value.attr in _ENVIRONMENTS:
                found.update(names)
    return frozenset(found)


def _own_nodes(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Walk what belongs to one scope: nested functions are given, and not entered."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _FUNCTIONS):
            waiting.extend(ast.iter_child_nodes(node))


def _imports(node: ast.AST) -> list[str]:
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return []
    return [alias.asname or alias.name.partition(".")[0] for alias in node.names]


def _bound(node: ast.AST) -> Iterator[str]:
    """Give the names that a node binds in its scope."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, _NAMED) and node.name:
        yield node.name


def _assigned(node: ast.AST) -> Iterator[tuple[list[str], ast.AST]]:
    """Give the plain names that a node gives to a value."""
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield [each.id for each in targets if isinstance(each, ast.Name)], node.value
