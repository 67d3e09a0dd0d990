"""The outcomes: one exit code for every way a run can end."""

from __future__ import annotations

from enum import StrEnum
from itertools import combinations

import pytest

from tilth.contract.outcomes import (
    ExitCode,
    FailReason,
    FreshReason,
    Refused,
    SetAside,
    StopReason,
    exit_code,
    first_of,
)

# From the contract: where several apply, the first of these.
ORDER = (130, 5, 3, 6, 1, 4, 0)

CODES = {
    "all_done": 0,
    "iter_cap": 1,
    "evaluator_cap": 1,
    "no_case": 1,
    "no_progress": 1,
    "blocked": 6,
    "dropped": 1,
    "wall_clock": 3,
    "token_cap": 3,
    "cost_cap": 3,
    "provider_failure": 5,
    "interrupted": 130,
    "error": 2,
}


@pytest.mark.parametrize("reason", list(StopReason))
def test_every_stop_has_its_exit_code(reason: StopReason) -> None:
    assert exit_code(reason, request_open=False, below_bar=False) == CODES[reason]


def test_every_failure_of_a_task_can_stop_a_run() -> None:
    assert set(FailReason) <= set(StopReason)


@pytest.mark.parametrize("pair", list(combinations(ORDER, 2)))
def test_where_two_codes_apply_the_order_of_the_contract_decides(pair: tuple[int, int]) -> None:
    codes = [ExitCode(code) for code in pair]
    assert first_of(codes) == first_of(reversed(codes)) == pair[0]


def test_without_any_code_all_is_well() -> None:
    assert first_of([]) is ExitCode.DONE
    assert first_of(ExitCode) is ExitCode.INTERRUPTED


@pytest.mark.parametrize("reason", list(StopReason))
def test_an_open_request_counts_where_nothing_graver_does(reason: StopReason) -> None:
    graver = CODES[reason] in (130, 2, 5, 3)
    expected = CODES[reason] if graver else 6
    assert exit_code(reason, request_open=True, below_bar=True) == expected


@pytest.mark.parametrize("reason", list(StopReason))
def test_below_the_bar_counts_only_when_all_is_done(reason: StopReason) -> None:
    expected = 4 if reason is StopReason.ALL_DONE else CODES[reason]
    assert exit_code(reason, request_open=False, below_bar=True) == expected


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (StopReason, set(CODES)),
        (
            FailReason,
            {"iter_cap", "evaluator_cap", "no_case", "no_progress", "blocked", "dropped"},
        ),
        (
            FreshReason,
            {
                "task started",
                "taken_up",
                "asked",
                "not_begun",
                "worktree_lost",
                "model_changed",
                "endpoint_changed",
            },
        ),
        (SetAside, {"back", "no_longer_fits"}),
        (Refused, {"conflict", "gate", "verdict"}),
    ],
)
def test_the_words_that_stand_in_logs_stay_what_they_are(
    kind: type[StrEnum], words: set[str]
) -> None:
    assert {word.value for word in kind} == words


def test_a_red_tip_fails_a_run_that_did_everything() -> None:
    assert exit_code(StopReason.ALL_DONE, tip_red=True) is ExitCode.TASK_FAILED
    assert exit_code(StopReason.ALL_DONE, tip_red=True, below_bar=True) is ExitCode.TASK_FAILED
    assert exit_code(StopReason.INTERRUPTED, tip_red=True) is ExitCode.INTERRUPTED
