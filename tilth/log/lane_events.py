"""The lanes' events: what happens only where several tasks are worked on at the same time."""

from __future__ import annotations

from typing import ClassVar, Literal

from tilth.contract.outcomes import Refused
from tilth.log.envelope import Payload


class LandingRefused(Payload):
    """Tell that an accepted change did not land, and what its worker goes on from.

    From here on the task counts from `onto`, the branch's tip; `tree` is both together as they
    stand in its worktree, with markers where they are in conflict. `told` is the result of the case
    `call_id`. A change that nobody waits for any more has none: it stands in the next message of
    `conversation`.
    """

    synced: ClassVar[bool] = True
    type: Literal["landing_refused"] = "landing_refused"
    cause: Refused
    onto: str
    tree: str
    told: str
    call_id: str | None = None
    conversation: str | None = None
    # The files in conflict, and git's or the gate's words.
    files: tuple[str, ...] = ()
    report: str = ""
    # The tasks whose work is in `onto`.
    merged_with: tuple[str, ...] = ()

    @property
    def earns_bonus(self) -> bool:
        """Tell whether it adds iterations by itself; a verdict has done so already."""
        return self.cause is not Refused.VERDICT
