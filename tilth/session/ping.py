"""The ping: one smallest call to every model a run will need, before anything is made.

A wrong key, address or model name is found in the evening and not at the first task. The calls
stand outside log and caps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tilth.base.clock import Clock
from tilth.base.errors import UserError
from tilth.base.interrupt import Interrupt
from tilth.config.settings import Endpoint, Settings
from tilth.model.health import CallError, Failure, fix_for, may_pass
from tilth.model.messages import Conversation, Role
from tilth.session.endpoints import model_at

PATIENCE_S = 60.0
_LONGEST_DELAY_S = 15.0
_FIRST_DELAY_S = 1.0


@dataclass(frozen=True)
class Needed:
    """Name a model that a run needs, and what it is needed as; a reviewer has a name."""

    endpoint: Endpoint
    role: Role
    reviewer: str = ""

    def words(self) -> str:
        return f"reviewer {self.reviewer!r}" if self.reviewer else str(self.role)

    def fix(self, failure: Failure) -> str:
        if self.reviewer:
            return f"check [{self.reviewer}] in evaluators.toml"
        return fix_for(failure, self.role)


def needed(settings: Settings, reviewers: Mapping[str, Endpoint]) -> tuple[Needed, ...]:
    """Give every model a run needs, each once, whatever it is needed as."""
    found: dict[tuple[str, str | None, str], Needed] = {}
    for each in _wanted(settings, reviewers):
        end = each.endpoint
        found.setdefault((end.model, end.base_url, end.api_key.get_secret_value()), each)
    return tuple(found.values())


def _wanted(settings: Settings, reviewers: Mapping[str, Endpoint]) -> Iterator[Needed]:
    yield Needed(settings.require_endpoint(Role.WORKER), Role.WORKER)
    if settings.evaluate:
        yield Needed(settings.require_endpoint(Role.EVALUATOR), Role.EVALUATOR)
        for name, endpoint in reviewers.items():
            yield Needed(endpoint, Role.EVALUATOR, name)


def ping(each: Needed, interrupt: Interrupt, clock: Clock, warn: Callable[[str], None]) -> None:
    """Ask a model for one token; raise UserError where it can never answer.

    What may pass is tried again for a minute and then only warned about: the run itself waits
    longer than that.
    """
    model = model_at(each.endpoint, interrupt, clock)
    conversation = Conversation.from_head(
        "ping", each.role, {"max_tokens": 1, "model": each.endpoint.model}
    )
    conversation.say("Hi")
    began, delay_s = clock.monotonic(), _FIRST_DELAY_S
    try:
        while True:
            try:
                model.ask_once(conversation)
                return
            except CallError as failed:
                failure = failed.failure
            if not may_pass(failure) or failure.is_unreached:
                said = f"the {each.words()} cannot be asked: {model.endpoint}: {failure.text}"
                raise UserError(said, each.fix(failure))
            wait_s = failure.retry_after_s or delay_s
            if clock.monotonic() - began + wait_s > PATIENCE_S:
                warn(f"warning: the {each.words()} does not answer yet: {failure.text}")
                return
            _sleep(wait_s, interrupt, clock)
            delay_s = min(2 * delay_s, _LONGEST_DELAY_S)
    finally:
        model.close()


def _sleep(seconds: float, interrupt: Interrupt, clock: Clock) -> None:
    until = clock.monotonic() + seconds
    while (left := until - clock.monotonic()) > 0:
        interrupt.nap(left)
