"""Earlier scores: how a verdict's score was read before it was cut to a whole number.

A log is played again as it was written: 59.5 was 60 then, and `72/100` could not be read.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from tilth.base.errors import Unreadable

_SCORE = re.compile(r"[*_`\s]*(\d{1,3}(?:\.\d+)?)[*_`\s]*")


def score_before(value: Any) -> int | None:
    """Read a score as it was read then, or raise Unreadable."""
    written = _SCORE.fullmatch(str(value))
    if value is None:
        return None
    if written is None:
        raise Unreadable("submit_verdict: score: must be a whole number from 0 to 100")
    return int(Decimal(written[1]).quantize(Decimal(1), ROUND_HALF_EVEN))
