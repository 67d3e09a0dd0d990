"""What a run of seed tests is measured by: this task's own, those of done tasks, the base."""

from __future__ import annotations

import pytest

from tilth.gate.challenged import more
from tilth.gate.findings import Baseline, NodeResult
from tilth.gate.overlay import Seeds
from tilth.gate.passing import PytestRun
from tilth.gate.pristine import SeedReading
from tilth.gate.seed_proof import Judgement, baseline_of

OWN, DONE = "tests/test_t002_b.py", "tests/test_t001_a.py"


def ran(**endings: str) -> PytestRun:
    """Make a run of `own` and `done`, each a file with one test."""
    at = {"own": f"{OWN}::test_x", "done": f"{DONE}::test_x"}
    results = [NodeResult(node=at[name], ending=end) for name, end in endings.items()]
    return PytestRun(
        status=int(any(result.is_red for result in results)),
        collected=tuple(result.node for result in results),
        results=tuple(results),
        seeds={path: SeedReading(tests=("test_x",)) for path in (OWN, DONE)},
    )


def problems(run: PytestRun, **baseline: object) -> list[str]:
    return Judgement((OWN,), (DONE,), Baseline(**baseline)).problems(run)


def test_a_run_passes_if_this_tasks_tests_and_those_of_done_tasks_do() -> None:
    assert problems(ran(own="passed", done="passed")) == []
    assert problems(ran(own="failed", done="passed")) == [f"{OWN}::test_x: failed"]


def test_a_red_test_of_a_done_task_counts_whether_or_not_it_was_red_before() -> None:
    red = ran(own="passed", done="failed")
    said = f"{DONE}::test_x: failed (it belongs to a task that is done"
    assert problems(red) == [f"{said})"]
    [before] = problems(red, red_elsewhere=(f"{DONE}::test_x",))
    assert before == f"{said}; red before this one began, it must be mended too)"


def test_a_run_in_which_no_test_of_the_task_passed_proves_nothing() -> None:
    skipped = ran(own="skipped", done="passed")
    said = "not one test of this task passed: nothing is proven"
    assert problems(skipped, skipped=(f"{OWN}::test_x",)) == [said]
    assert Judgement((), (DONE,), Baseline()).problems(ran(done="passed")) == []


def test_a_baseline_knows_what_was_green_and_what_was_skipped_anywhere() -> None:
    seeds = Seeds(own={OWN: b""}, done={DONE: b""}, open_prefixes=(), all_prefixes=())
    run = PytestRun(
        status=0,
        results=tuple(
            NodeResult(node=node, ending=ending)
            for node, ending in (
                (f"{OWN}::a", "passed"),
                (f"{OWN}::b", "skipped"),
                (f"{OWN}::c", "failed"),
                (f"{DONE}::d", "xfailed"),
                (f"{DONE}::e", "passed"),
            )
        ),
    )
    found = baseline_of(seeds, None, run, ("r",), {"k": 1})
    assert [result.node for result in found.results] == [f"{OWN}::{n}" for n in "abc"]
    assert found.already_green == (f"{OWN}::a",)
    assert found.skipped == (f"{OWN}::b", f"{DONE}::d")
    assert (found.red_elsewhere, found.violations) == (("r",), {"k": 1})


@pytest.mark.parametrize(("lines", "said"), [(2, []), (3, []), (5, ["… and 2 more"])])
def test_what_a_list_leaves_out_is_counted(lines: int, said: list[str]) -> None:
    assert more(["x"] * lines, 3) == said
