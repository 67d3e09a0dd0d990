"""Why a test is red: the project's lack, or the test's own fault."""

from __future__ import annotations

import pytest

from tilth.gate.findings import NodeResult
from tilth.interview.red_reason import KnownNames, fault

TEST = "tests/test_t001_add.py"
WORLD = KnownNames(
    project=frozenset({"shop"}),
    outside=frozenset({"json", "requests", "token"}),
    plan='{"description": "A new module `ledgers` and jsom keep the books."}',
    tests=frozenset({TEST}),
    defines=lambda name: name in ("add", "Cart"),
)

RIGHT = [
    ("AssertionError", "assert 1 == 2", {}),
    ("Failed", "DID NOT RAISE ValueError", {}),
    ("ModuleNotFoundError", "No module named 'shop.cart'", {}),
    ("ModuleNotFoundError", "No module named 'jsom'", {}),
    ("ImportError", "cannot import name 'add' from 'shop' (shop/__init__.py)", {}),
    ("AttributeError", "module 'shop' has no attribute 'add'", {"owner": "shop/__init__.py"}),
    ("AttributeError", "module 'shop' has no attribute 'add'", {}),
    ("AttributeError", "<module 'shop' from 'x'> has no attribute 'add'", {}),
    ("AttributeError", "'Cart' object has no attribute 'total'", {"owner": "shop/cart.py"}),
    ("TypeError", "add() got an unexpected keyword argument 'tax'", {}),
    ("TypeError", "Cart.__init__() takes 1 positional argument but 2 were given", {}),
    ("NotImplementedError", "", {"place": "shop/cart.py:3"}),
    ("SystemExit", "2", {"place": "shop/__main__.py:9"}),
]
WRONG = [
    ("ModuleNotFoundError", "No module named 'brandnew'", {}, "nor the plan names it"),
    ("ModuleNotFoundError", "No module named 'tokens'", {}, "nor the plan names it"),
    ("ModuleNotFoundError", "No module named 'requests'", {}, "is not installed: install it"),
    ("NameError", "name 'ad' is not defined", {}, "a name it never defines"),
    ("FixtureLookupError", "", {}, "a fixture that nobody defines"),
    ("SyntaxError", "invalid syntax", {}, "does not parse"),
    ("TypeError", "unsupported operand type(s) for +", {}, "the test itself raises this"),
    ("TypeError", "helper() missing 1 required positional argument: 'x'", {}, "the test itself"),
    ("KeyError", "'total'", {}, "the test itself raises this"),
    ("AttributeError", "'NoneType' object has no attribute 'x'", {}, "the test itself"),
    ("AttributeError", "'Fake' object has no attribute 'x'", {"owner": TEST}, "the test itself"),
    ("ModuleNotFoundError", "No module named 'requests.sessionz'", {}, "is no part of this"),
    ("ModuleNotFoundError", "No module named 'reqeusts'", {}, "did you mean requests?"),
    ("ModuleNotFoundError", "No module named 'shopp'", {}, "did you mean shop?"),
    ("ModuleNotFoundError", "No module named 'hypothesis'", {}, "is not installed"),
    ("ModuleNotFoundError", "No module named 'x'", {"place": "shop/io.py:1"}, "shop/io.py:1 needs"),
    ("ImportError", "cannot import name 'lods' from 'json' (json.py)", {}, "mend the import"),
    ("ImportError", "attempted relative import with no known parent package", {}, "cannot be"),
    ("Failed", "async def functions are not natively supported.", {}, "asyncio.run"),
    ("", "", {}, "without saying why"),
]


def red(error: str, message: str, more: dict[str, str]) -> NodeResult:
    place = {"place": f"{TEST}:5", **more}
    return NodeResult(
        node=f"{TEST}::test_add", ending="failed", error=error or None, message=message, **place
    )


@pytest.mark.parametrize(("error", "message", "more"), RIGHT)
def test_a_lack_of_the_project_is_the_right_reason(
    error: str, message: str, more: dict[str, str]
) -> None:
    assert fault(red(error, message, more), WORLD) is None


@pytest.mark.parametrize(("error", "message", "more", "said"), WRONG)
def test_a_fault_of_the_test_is_the_wrong_reason(
    error: str, message: str, more: dict[str, str], said: str
) -> None:
    assert said in (fault(red(error, message, more), WORLD) or "")


def test_what_pytest_cannot_collect_is_the_tests_own_fault() -> None:
    result = NodeResult(
        node=TEST, ending="error", error="Failed", message="function uses no argument 'x'"
    )
    assert "pytest cannot collect it" in (fault(result, WORLD) or "")
