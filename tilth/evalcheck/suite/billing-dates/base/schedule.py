"""When a subscription is charged."""

from __future__ import annotations

from datetime import date, timedelta


def charge_date(start: date, period: int) -> date:
    """Give the date of a charge; period 0 is the first one, on the day of the start."""
    return start + timedelta(days=30 * period)
