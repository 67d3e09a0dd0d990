"""Whether the change's own tests notice broken reservations."""

import sys
from pathlib import Path

from contextlib import suppress

import pytest
from inventory import Stock, StockError


OWN_TESTS = "test_reservations.py"

OWN = Path(__file__).resolve().parent / OWN_TESTS

# Parts of pytest that only cost time here.
NEEDLESS = ("terminal", "cacheprovider", "faulthandler", "unraisableexception", "threadexception")


class Tally:
    """Count how the tests of a run end."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def pytest_collectreport(self, report):
        self.failed += report.failed

    def pytest_runtest_logreport(self, report):
        self.failed += report.failed
        self.passed += report.passed and report.when == "call"


def run_own_tests():
    """Run the change's own tests on the product as it stands now, broken or not."""
    saved = {n: m for n, m in sys.modules.items() if getattr(m, "__file__", None) == str(OWN)}
    for name in saved:
        del sys.modules[name]
    known = set(sys.modules)
    tally = Tally()
    without = [f"-pno:{name}" for name in NEEDLESS]
    options = ["--import-mode=importlib", "--assert=plain", "--maxfail=1"]
    pytest.main([str(OWN), *options, *without], plugins=[tally])
    for name in set(sys.modules) - known:
        del sys.modules[name]
    sys.modules.update(saved)
    return tally


def test_the_own_tests_pass_as_things_are():
    tally = run_own_tests()
    assert tally.failed == 0
    assert tally.passed >= 1


RESERVE, RELEASE, SHIP = Stock.reserve, Stock.release, Stock.ship
AVAILABLE, TAKE, LEVEL = Stock.available, Stock.take, Stock.level


def keep_a_part(self, order, wanted):
    try:
        RESERVE(self, order, wanted)
    except StockError:
        part = {item: n for item, n in wanted.items() if 1 <= n <= AVAILABLE(self, item)}
        with suppress(StockError):
            RESERVE(self, order, part)
        raise


def keep_a_part_for_nobody(self, order, wanted):
    try:
        RESERVE(self, order, wanted)
    except StockError:
        part = {item: n for item, n in wanted.items() if 1 <= n <= AVAILABLE(self, item)}
        if part:
            RESERVE(self, object(), part)
        raise


def reserve_what_there_is(self, order, wanted):
    there = {item: min(n, AVAILABLE(self, item)) for item, n in wanted.items() if n > 0}
    RESERVE(self, order, {item: n for item, n in there.items() if n})


def accept_a_second_time(self, order, wanted):
    fits = all(1 <= n <= AVAILABLE(self, item) for item, n in wanted.items())
    try:
        RESERVE(self, order, wanted)
    except StockError:
        if not fits:
            raise


def available_is_the_level(self, item):
    return LEVEL(self, item)


def take_whatever_is_there(self, item, count):
    try:
        TAKE(self, item, count)
    except StockError:
        if not 1 <= count <= LEVEL(self, item):
            raise


def release_nothing(self, order):
    held = reserved(self, order)
    RELEASE(self, order)
    RESERVE(self, object(), held)


def ship_nothing(self, order):
    held = reserved(self, order)
    SHIP(self, order)
    for item, count in held.items():
        self.receive(item, count)


def reserved(stock, order):
    """Give what an order holds, seen from outside: what its release would give back."""
    items = list(ITEMS)
    before = {item: AVAILABLE(stock, item) for item in items}
    RELEASE(stock, order)
    held = {item: AVAILABLE(stock, item) - before[item] for item in items}
    held = {item: count for item, count in held.items() if count}
    RESERVE(stock, order, held)
    return held


def swallowing(method):
    def swallow(self, order):
        with suppress(StockError):
            method(self, order)

    return swallow


def raising_another(method):
    def raise_another(self, *arguments):
        try:
            return method(self, *arguments)
        except StockError as error:
            raise KeyError(str(error)) from None

    return raise_another


ITEMS = set()
RECEIVE = Stock.receive


def receive_and_remember(self, item, count):
    ITEMS.add(item)
    RECEIVE(self, item, count)


FAULTS = {
    "a refused reservation keeps a part": {"reserve": keep_a_part},
    "a refused reservation sets a part aside": {"reserve": keep_a_part_for_nobody},
    "more is reserved than there is": {"reserve": reserve_what_there_is},
    "a second reservation is accepted": {"reserve": accept_a_second_time},
    "available ignores reservations": {"available": available_is_the_level},
    "take ignores reservations": {"take": take_whatever_is_there},
    "release gives nothing back": {"release": release_nothing},
    "ship does not lower the level": {"ship": ship_nothing},
    "release without reservation": {"release": swallowing(RELEASE)},
    "ship without reservation": {"ship": swallowing(SHIP)},
    "another error from reserve": {"reserve": raising_another(RESERVE)},
    "another error from release": {"release": raising_another(RELEASE)},
    "another error from ship": {"ship": raising_another(SHIP)},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_own_tests_notice(fault, monkeypatch):
    monkeypatch.setattr(Stock, "receive", receive_and_remember)
    for name, broken in FAULTS[fault].items():
        monkeypatch.setattr(Stock, name, broken)
    assert run_own_tests().failed > 0


def test_the_product_is_right_itself():
    stock = Stock()
    stock.receive("rake", 3)
    stock.reserve("A", {"rake": 2})
    stock.reserve("B", {"rake": 1})
    stock.release("A")
    with pytest.raises(StockError):
        stock.reserve("C", {"rake": 1, "hoe": 1})
    stock.ship("B")
    assert (stock.level("rake"), stock.available("rake")) == (2, 2)
