"""The leftovers: what a run has at hand to spend the rest of its budget on. It asks nobody."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tilth.log.past_reviews import PastReview
from tilth.model.messages import Model
from tilth.task.attempt import Review


@dataclass
class Leftovers:
    """Hold who may give a second opinion, on what, and what an interruption left open.

    `doubt` gives the points against every task that may be judged again. `over` says why the rest
    was not spent to its end.
    """

    others: Mapping[str, Model]
    reviews: Callable[[], Mapping[str, PastReview]]
    doubt: Callable[[], Mapping[str, int]]
    open: dict[str, Review] = field(default_factory=dict)
    over: str = ""
