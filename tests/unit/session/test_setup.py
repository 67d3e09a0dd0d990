"""Setup commands: in order, recorded, and stopping at the first that fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tilth.base.errors import UserError
from tilth.config.secrets import Mask
from tilth.log.events import HookRan
from tilth.sandbox.confinement import Access, Unconfined
from tilth.session.setup import Setup, is_prepared


def setup_of(root: Path, *commands: str, timeout_s: float = 10) -> Setup:
    return Setup(
        commands=commands,
        root=root,
        confinement=Unconfined(),
        access=Access(),
        env={"PATH": os.environ["PATH"]},
        timeout_s=timeout_s,
    )


def ran(subject: str, exit_code: int | None, hook: str = "setup") -> HookRan:
    return HookRan(hook=hook, subject=subject, exit_code=exit_code, output="")


def test_commands_run_in_order_in_the_worktree_and_are_recorded(tmp_path: Path) -> None:
    told: list[HookRan] = []

    setup_of(tmp_path, "echo a > made", "cat made && pwd").run(told.append, Mask(()))

    assert [(item.hook, item.subject, item.exit_code) for item in told] == [
        ("setup", "echo a > made", 0),
        ("setup", "cat made && pwd", 0),
    ]
    assert told[1].output == f"a\n{tmp_path}\n"


def test_the_first_failure_stops_and_says_what_to_do(tmp_path: Path) -> None:
    told: list[HookRan] = []

    with pytest.raises(UserError) as caught:
        setup_of(tmp_path, "echo no index; exit 3", "touch later").run(told.append, Mask(()))

    assert "`echo no index; exit 3` failed (exit code 3): no index" in str(caught.value)
    assert "`tilth resume` runs setup again" in str(caught.value)
    assert len(told) == 1
    assert not (tmp_path / "later").exists()


def test_a_command_that_does_not_end_is_a_failure(tmp_path: Path) -> None:
    told: list[HookRan] = []

    with pytest.raises(UserError, match="it did not finish"):
        setup_of(tmp_path, "sleep 300", timeout_s=0.3).run(told.append, Mask(()))

    assert told[0].exit_code is None


def test_a_key_that_a_command_prints_is_masked(tmp_path: Path) -> None:
    told: list[HookRan] = []

    setup_of(tmp_path, "echo my-secret-key").run(told.append, Mask(("my-secret-key",)))

    assert "my-secret-key" not in told[0].output


@pytest.mark.parametrize(
    ("hooks", "done"),
    [
        ([], False),
        ([ran("a", 0), ran("b", 0)], True),
        ([ran("a", 0), ran("b", 1)], False),
        ([ran("a", 0), ran("b", 1), ran("a", 0), ran("b", 0)], True),
        ([ran("a", 0), ran("b", 0), ran("x.py", 1, hook="ruff")], True),
        ([ran("b", 0), ran("a", 0)], False),
        ([ran("a", 0), ran("b", None)], False),
    ],
)
def test_the_log_tells_whether_setup_is_done(hooks: list[HookRan], done: bool) -> None:
    assert is_prepared(hooks, ("a", "b")) is done


def test_without_commands_there_is_nothing_to_do() -> None:
    assert is_prepared([], ())
