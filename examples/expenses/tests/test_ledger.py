from expenses.ledger import read, total

LEDGER = """\
# November
2026-11-02 groceries 23.40
2026-11-05 travel 112.00

2026-12-01 groceries 8.5
"""


def test_a_ledger_is_read_line_by_line():
    assert [(e.category, e.cents) for e in read(LEDGER)] == [
        ("groceries", 2340),
        ("travel", 11200),
        ("groceries", 850),
    ]


def test_expenses_are_added_up():
    assert total(read(LEDGER)) == 14390
    assert total([]) == 0
