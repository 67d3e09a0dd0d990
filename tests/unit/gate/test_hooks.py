"""Hooks that are not pytest's own: which may be added, and which are named."""

from __future__ import annotations

import pytest

from tilth.gate.hooks import added_hooks, deciding, permitted_hooks, takes_over

CALL = "hook pytest_pyfunc_call of tests.conftest (0123abcd)"
REPORT = "hook pytest_runtest_makereport of tests.conftest (4567abcd)"
CONFIGURE = "hook pytest_configure of conftest (89ababcd)"


def test_what_was_in_force_before_and_what_is_no_hook_is_not_added() -> None:
    assert added_hooks((CALL, REPORT, "_pytest.runner.main"), (REPORT,)) == (CALL,)


def test_a_hook_that_runs_tests_itself_is_permitted_only_where_the_base_has_it() -> None:
    found = (CALL, REPORT, CONFIGURE)
    assert permitted_hooks(found, ()) == (REPORT, CONFIGURE)
    edited = CALL.replace("0123", "ffff")
    assert permitted_hooks(found, (edited,)) == found
    elsewhere = edited.replace("tests.conftest", "plugin")
    assert permitted_hooks(found, (elsewhere,)) == (REPORT, CONFIGURE)


@pytest.mark.parametrize(
    "name",
    ["pytest_cmdline_main", "pytest_runtestloop", "pytest_runtest_protocol", "pytest_pyfunc_call"],
)
def test_what_can_run_tests_in_pytests_place_is_told_apart(name: str) -> None:
    assert takes_over(f"hook {name} of conftest (0)")
    assert not takes_over(f"hook {name}s of conftest (0)")
    assert not takes_over(name)


def test_the_hooks_that_decide_about_tests_are_named_with_their_module() -> None:
    again = REPORT.replace("4567", "ffff")
    assert deciding((CALL, CONFIGURE, REPORT, again)) == (
        "pytest_pyfunc_call of tests.conftest",
        "pytest_runtest_makereport of tests.conftest",
    )
