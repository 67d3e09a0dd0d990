"""What an exception that ended the work means for the record and for the exit code."""

from __future__ import annotations

import pytest

from tilth.base.errors import (
    CapReached,
    DiskError,
    Interrupted,
    ProviderError,
    UserError,
    WorkspaceError,
)
from tilth.contract.outcomes import StopReason
from tilth.task.ending import halt_of

CAP = CapReached("cost_cap", "the cost is at its cap")
REFUSED = ProviderError("HTTP 401")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Interrupted("stop"), StopReason.INTERRUPTED),
        (KeyboardInterrupt(), StopReason.INTERRUPTED),
        (CAP, StopReason.COST_CAP),
        (REFUSED, StopReason.PROVIDER_FAILURE),
        (WorkspaceError("moved"), StopReason.ERROR),
        (DiskError("full"), StopReason.ERROR),
        (UserError("wrong"), StopReason.ERROR),
        (ZeroDivisionError("oops"), StopReason.ERROR),
    ],
)
def test_each_exception_has_its_reason(error: BaseException, reason: StopReason) -> None:
    assert halt_of(error, wished=False).reason is reason


@pytest.mark.parametrize("error", [CAP, REFUSED])
def test_a_wish_to_stop_outranks_a_cap_and_an_endpoint_and_hides_neither(
    error: BaseException,
) -> None:
    halt = halt_of(error, wished=True)
    assert halt.reason is StopReason.INTERRUPTED
    assert str(error) in halt.detail


@pytest.mark.parametrize("error", [WorkspaceError("moved"), ZeroDivisionError("oops")])
def test_a_fault_stays_a_fault_though_a_stop_was_wished_for(error: BaseException) -> None:
    assert halt_of(error, wished=True).reason is StopReason.ERROR


def test_a_fault_of_our_own_is_named_with_its_place() -> None:
    assert halt_of(ZeroDivisionError("oops"), wished=False).detail == (
        "internal error: ZeroDivisionError: oops (unknown place)"
    )
