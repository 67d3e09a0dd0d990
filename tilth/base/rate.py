"""The rate: a share of a number of trials, and the interval in which the true share lies. Pure."""

from __future__ import annotations

import math

from tilth.base.values import Value

# The 97.5% point of the normal distribution: 95% lie between it and its mirror image.
_Z = 1.959963984540054
_DIGITS = 6


class Rate(Value):
    """Hold how many of how many, with the 95% interval; of nothing, nothing is known."""

    count: int
    of: int
    rate: float | None
    low: float
    high: float

    @classmethod
    def share(cls, count: int, of: int) -> Rate:
        """Work out a share and its Wilson interval."""
        if not of:
            return cls(count=0, of=0, rate=None, low=0.0, high=1.0)
        low, high = wilson(count, of)
        return cls(count=count, of=of, rate=round(count / of, _DIGITS), low=low, high=high)

    def __str__(self) -> str:
        if self.rate is None:
            return "unknown"
        return f"{_percent(self.rate)} (95% {_percent(self.low)} to {_percent(self.high)})"


def wilson(count: int, of: int) -> tuple[float, float]:
    """Give the 95% Wilson score interval of a share; both ends stay within 0 and 1."""
    share, square = count / of, _Z * _Z
    middle = (share + square / (2 * of)) / (1 + square / of)
    spread = share * (1 - share) / of + square / (4 * of * of)
    reach = _Z * math.sqrt(spread) / (1 + square / of)
    low = 0.0 if count == 0 else max(0.0, middle - reach)
    high = 1.0 if count == of else min(1.0, middle + reach)
    return round(low, _DIGITS), round(high, _DIGITS)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
