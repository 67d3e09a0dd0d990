from datetime import date

import pytest

from invoice import period_label
from schedule import charge_date, next_charge


# AC-1
@pytest.mark.parametrize(
    ("start", "period", "charged"),
    [
        (date(2023, 3, 15), 0, date(2023, 3, 15)),
        (date(2023, 3, 15), 1, date(2023, 4, 15)),
        (date(2023, 11, 15), 3, date(2024, 2, 15)),
        (date(2023, 11, 15), 1, date(2023, 12, 15)),
    ],
)
def test_charges_are_a_month_apart(start, period, charged):
    assert charge_date(start, period) == charged


def test_a_negative_period_is_refused():
    with pytest.raises(ValueError):
        charge_date(date(2023, 3, 15), -1)


# AC-2
def test_a_short_month_is_charged_on_its_last_day():
    assert charge_date(date(2023, 1, 31), 1) == date(2023, 2, 28)
    assert charge_date(date(2024, 1, 31), 1) == date(2024, 2, 29)
    assert charge_date(date(2023, 3, 31), 1) == date(2023, 4, 30)


# AC-3
def test_the_next_charge():
    start = date(2023, 3, 15)
    assert next_charge(start, date(2023, 3, 20)) == date(2023, 4, 15)
    assert next_charge(start, date(2023, 5, 3)) == date(2023, 5, 15)
    assert next_charge(start, date(2023, 1, 1)) == start


def test_the_invoice_names_the_calendar_month():
    assert period_label(date(2023, 3, 15), 1) == "2023-04-15 to 2023-05-15"
