"""The person's events: what a person is asked, and what a person said to a session.

One event holds the whole of a word, so that nothing can come between it and its effect: the ledger,
the plan and the conversation are put right from it.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from tilth.contract.operator_word import Verb
from tilth.contract.verdict import Decision, LedgerEntry, RejectionCategory
from tilth.log.envelope import Payload


class OperatorRequested(Payload):
    synced: ClassVar[bool] = True
    type: Literal["operator_request"] = "operator_request"
    request: str
    kind: str
    text: str


class OperatorSpoke(Payload):
    """Hold one word at the moment it was taken up.

    `tree` is what a verdict is about and `entry` what it adds to the ledger; `call_id` is the case
    it answers. Otherwise `note` is what stands in the next message of `conversation`. A word whose
    time was over is kept with the reason it was `refused`.
    """

    synced: ClassVar[bool] = True
    sparse: ClassVar[tuple[str, ...]] = ("ends",)
    type: Literal["operator_word"] = "operator_word"
    id: str
    verb: Verb
    task: str | None = None
    text: str = ""
    category: RejectionCategory | None = None
    request: str | None = None
    decision: Decision | None = None
    tree: str | None = None
    entry: LedgerEntry | None = None
    call_id: str | None = None
    conversation: str | None = None
    note: str | None = None
    refused: str | None = None
    # It ends the attempt: what it sends back had been accepted and waited for its turn to land.
    ends: bool = False

    @property
    def sends_back(self) -> bool:
        return self.decision is Decision.REJECT and self.refused is None

    @property
    def drops(self) -> bool:
        return self.verb is Verb.DROP and self.refused is None

    @property
    def accepts(self) -> bool:
        return self.decision is Decision.ACCEPT and self.refused is None
