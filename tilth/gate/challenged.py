"""What a challenge showed: which tests noticed that what they expect was made false.

Values and their wording for worker and evaluator. Never runs anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilth.base.values import Value

_MOST_NAMED = 10


class ChallengeRun(Value):
    """Hold one run, a sign for each test: `1` was made false, `1` was not green."""

    false: str
    red: str


class Challenged(Value):
    """Hold what a challenge showed.

    `runs` are about `tests`, in their order. `refused` says of tests what fails the gate;
    `unnoticed` are those that prove nothing and fail nothing, `coarse` says which notice no small
    difference, `left_out` those that were not
    challenged, with why. The nonce made the patterns of all tries.
    """

    validator: str
    tests: tuple[str, ...] = ()
    nonce: str = ""
    tries: int = 0
    runs: tuple[ChallengeRun, ...] = ()
    noticed: tuple[str, ...] = ()
    unnoticed: tuple[str, ...] = ()
    coarse: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    duration_ms: int = 0

    @property
    def passed(self) -> bool:
        return not self.refused

    def render(self) -> str:
        """Say it to worker and evaluator."""
        if self.refused:
            return "\n".join([*self.refused[:_MOST_NAMED], *more(self.refused, _MOST_NAMED)])
        little = f"; {len(self.coarse)} of them not at a small change" if self.coarse else ""
        return (
            f"challenge: {len(self.noticed)} of {len(self.tests)} tests turned red when what they "
            f"expect was made false, and were green otherwise{little}"
        )

    def notes(self) -> tuple[str, ...]:
        """Name what the challenge could not show."""
        blind = [
            f"{node}: proves nothing: it stays green whatever of its expectations is made false"
            for node in self.unnoticed
        ]
        small = [
            f"{said}: the test, or what the code gives, tells no such two apart"
            for said in self.coarse
        ]
        named = [*blind, *small]
        return (*named[:_MOST_NAMED], *more(named, _MOST_NAMED), *self.left_out)


# Gives, by the name of a validator, what is known of the challenge of its tests.
Known = Callable[[str], Challenged | None]


def unknown(validator: str) -> Challenged | None:
    """Know of no challenge."""


def more(lines: Sequence[str], most: int) -> list[str]:
    """Count what a list of lines had to leave out."""
    return [f"… and {len(lines) - most} more"] if len(lines) > most else []
