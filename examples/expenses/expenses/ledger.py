"""The ledger: expenses read from text, one a line, and added up."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Expense:
    """Say when something was paid, for what, and how much in cents."""

    day: date
    category: str
    cents: int


def read(text):
    """Read a ledger; blank lines and lines that begin with `#` are left out."""
    lines = (line.strip() for line in text.splitlines())
    return [_expense(line) for line in lines if line and not line.startswith("#")]


def total(expenses):
    """Add up expenses, in cents."""
    return sum(expense.cents for expense in expenses)


def _expense(line):
    day, category, amount = line.split()
    whole, _, part = amount.partition(".")
    return Expense(date.fromisoformat(day), category, int(whole) * 100 + int(part.ljust(2, "0")))
