"""The table rewritten tests look into: what they expect, true or false, for the test that runs.

Whoever starts the run says which tests are false and hands in all literals. Decides nothing.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from .falsehoods import Unexpected, Unlike, other, random_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType

    Tests = dict[str, dict[str, Any]]

TABLE = "_tilth_expected"


class Expected:
    """Give the values of expectations to the test that runs.

    `rule` decides what is false, `literals` are the texts that stood in the files, and `tests` says
    by test which of them it has as its own, and whether all else that it expects is false.
    """

    def __init__(
        self, rule: str = "", literals: Sequence[str | None] = (), tests: Tests | None = None
    ) -> None:
        self._rule = rule
        self._literals = literals
        self._tests = tests or {}
        self._codes: dict[str, CodeType] = {}
        self._own: dict[str, str] = {}
        self._is_false = False

    def enter(self, test: str) -> None:
        """Let a test begin."""
        said = self._tests.get(test, {})
        self._own = said.get("own", {})
        self._is_false = bool(said.get("rest"))

    def __getitem__(self, number: int) -> Any:
        """Give a literal that may be expected somewhere."""
        return self._value(self._literals[number] or "None")

    def own(self, number: int) -> Any:
        """Give a literal that something is compared with for equality."""
        if str(number) in self._own:
            return self._value(self._own[str(number)])
        return self.of("value", self._value(self._literals[number] or self._by_another(number)))

    def _by_another(self, number: int) -> str:
        """Give what a test expects that calls another test, as that one has it."""
        owns = (said["own"] for said in self._tests.values())
        return next(str(own[str(number)]) for own in owns if str(number) in own)

    def of(self, kind: str, value: Any) -> Any:
        """Give what was computed, or what makes its part of an assertion fail."""
        if not self._is_false:
            return value
        if kind == "value":
            return other(value, random_of(self._rule))
        return not value if kind == "truth" else Unexpected if kind == "error" else Unlike()

    def call(self, assertion: Callable[..., Any]) -> Callable[..., Any]:
        """Give an assertion, or one that holds when that one does not."""
        return partial(_negated, assertion) if self._is_false else assertion

    def _value(self, text: str) -> Any:
        """Make the value as the literal would: lists anew each time, texts and numbers once."""
        if text not in self._codes:
            self._codes[text] = compile(text, "<literal>", "eval")
        return eval(self._codes[text], {})  # noqa: S307 (a literal of the test's own)


def keyed(nodes: list[str]) -> dict[str, str]:
    """Name each test by its function and its turn among that function's cases."""
    turns: dict[str, int] = {}
    keys = {}
    for node in nodes:
        function = node.partition("[")[0]
        keys[node] = f"{function}#{turns.get(function, 0)}"
        turns[function] = turns.get(function, 0) + 1
    return keys


def _negated(assertion: Callable[..., Any], *args: Any, **words: Any) -> None:
    try:
        assertion(*args, **words)
    except AssertionError:
        return
    raise AssertionError("this holds, and was made false")
