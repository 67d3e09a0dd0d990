"""The budget: what a task and a session may spend, and what they have spent.

Pure sums and comparisons; the clock's readings are handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tilth.base.values import Value
from tilth.config.settings import Settings
from tilth.contract.outcomes import StopReason
from tilth.model.messages import Role, Usage

WARN_AT = 0.8
# Which setting raises which limit of a session, in the order in which they stop it.
CAP_SETTINGS = {
    StopReason.WALL_CLOCK: "TILTH_MAX_WALL_CLOCK_MINUTES",
    StopReason.TOKEN_CAP: "TILTH_MAX_TOKENS",
    StopReason.COST_CAP: "TILTH_MAX_COST_USD",
}


class Allowance(Value):
    """Say how many worker calls a task may make; each rejection that counts adds a bonus."""

    budget: int
    bonus: int
    rejections: int = 0

    @classmethod
    def of(cls, settings: Settings, rejections: int = 0) -> Allowance:
        """Give what the settings allow a task after so many rejections."""
        budget, bonus = settings.max_iterations_per_task, settings.iteration_bonus_per_rejection
        return cls(budget=budget, bonus=bonus, rejections=rejections)

    def after(self, rejections: int) -> Allowance:
        """Give the same after so many rejections."""
        return self.model_copy(update={"rejections": rejections})

    @property
    def total(self) -> int:
        """Give the budget with its bonus; the bonus never exceeds the budget itself."""
        return self.budget + min(self.bonus * self.rejections, self.budget)

    def after_rejection(self) -> Allowance:
        return self.after(self.rejections + 1)


class Spend(Value):
    """Sum what one role has used; calls without a known price are counted, never priced at 0."""

    usage: Usage = Usage()
    calls: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0

    def after(self, usage: Usage, cost_usd: float | None) -> Spend:
        return Spend(
            usage=self.usage + usage,
            calls=self.calls + 1,
            cost_usd=self.cost_usd + (cost_usd or 0.0),
            unpriced_calls=self.unpriced_calls + (cost_usd is None),
        )

    @classmethod
    def total(cls, spends: Iterable[Spend]) -> Spend:
        """Add up what several have used."""
        added = tuple(spends)
        return cls(
            usage=sum((spend.usage for spend in added), Usage()),
            calls=sum(spend.calls for spend in added),
            # Rounded so that a long sum shows no dust of binary fractions.
            cost_usd=round(sum(spend.cost_usd for spend in added), 9),
            unpriced_calls=sum(spend.unpriced_calls for spend in added),
        )

    @property
    def cost_known(self) -> bool:
        """Tell whether `cost_usd` is the whole cost."""
        return not self.unpriced_calls

    @property
    def whole_cost_usd(self) -> float | None:
        """Give the whole cost; None where a part of it is unknown."""
        return self.cost_usd if self.cost_known else None


class Caps(Value):
    """Hold the limits of a session."""

    tokens: int
    cost_usd: float
    wall_clock_s: float

    @classmethod
    def of(cls, settings: Settings) -> Caps:
        """Give the limits that the settings name."""
        minutes = settings.max_wall_clock_minutes
        return cls(
            tokens=settings.max_tokens, cost_usd=settings.max_cost_usd, wall_clock_s=minutes * 60
        )


class Meter:
    """Read what a session has spent so far, by role, across all its starts."""

    def __init__(self, spend: Callable[[], Mapping[Role, Spend]]) -> None:
        self._spend = spend

    @property
    def by_role(self) -> Mapping[Role, Spend]:
        return self._spend()

    @property
    def tokens(self) -> int:
        return sum(spend.usage.counted for spend in self.by_role.values())

    @property
    def cost_usd(self) -> float:
        return sum(spend.cost_usd for spend in self.by_role.values())

    @property
    def unpriced_calls(self) -> int:
        return sum(spend.unpriced_calls for spend in self.by_role.values())


class CapReading(Value):
    """Hold one cap: what is used of it and what it allows."""

    reason: StopReason
    setting: str
    used: float
    limit: float

    @property
    def reached(self) -> bool:
        return self.used >= self.limit

    @property
    def near(self) -> bool:
        return self.used >= WARN_AT * self.limit


def readings(meter: Meter, elapsed_s: float, caps: Caps) -> tuple[CapReading, ...]:
    """Read every cap of the session, in the order in which they stop it."""
    amounts = {
        StopReason.WALL_CLOCK: (elapsed_s / 60, caps.wall_clock_s / 60),
        StopReason.TOKEN_CAP: (meter.tokens, caps.tokens),
        StopReason.COST_CAP: (meter.cost_usd, caps.cost_usd),
    }
    return tuple(
        CapReading(
            reason=reason, setting=setting, used=amounts[reason][0], limit=amounts[reason][1]
        )
        for reason, setting in CAP_SETTINGS.items()
    )
