"""What stands on an invoice."""

from __future__ import annotations

from datetime import date

from schedule import charge_date


def period_label(start: date, period: int) -> str:
    """Say which days an invoice is for: from one charge up to the day of the next."""
    begins, ends = charge_date(start, period), charge_date(start, period + 1)
    return f"{begins.isoformat()} to {ends.isoformat()}"
