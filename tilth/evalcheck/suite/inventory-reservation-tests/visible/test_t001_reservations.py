from pathlib import Path

import pytest

from inventory import Stock, StockError


@pytest.fixture
def stock():
    stock = Stock()
    stock.receive("rake", 5)
    stock.receive("hoe", 2)
    return stock


# AC-1
def test_a_reservation_is_all_or_nothing(stock):
    with pytest.raises(StockError):
        stock.reserve("A1", {"rake": 1, "hoe": 3})
    with pytest.raises(StockError):
        stock.reserve("A1", {"rake": 1, "hoe": 0})
    assert (stock.available("rake"), stock.available("hoe")) == (5, 2)


# AC-1
def test_an_order_reserves_once(stock):
    stock.reserve("A1", {"rake": 1})
    with pytest.raises(StockError):
        stock.reserve("A1", {"rake": 1})
    assert stock.available("rake") == 4


# AC-2
def test_what_is_reserved_cannot_be_taken(stock):
    stock.reserve("A1", {"rake": 4})
    assert (stock.level("rake"), stock.available("rake")) == (5, 1)
    with pytest.raises(StockError):
        stock.take("rake", 2)
    stock.take("rake", 1)
    assert stock.available("rake") == 0


# AC-3
def test_a_reservation_is_released_or_shipped(stock):
    stock.reserve("A1", {"rake": 4})
    stock.release("A1")
    assert (stock.level("rake"), stock.available("rake")) == (5, 5)
    stock.reserve("A1", {"rake": 4, "hoe": 2})
    stock.ship("A1")
    assert (stock.level("rake"), stock.available("rake")) == (1, 1)
    assert (stock.level("hoe"), stock.available("hoe")) == (0, 0)
    for end in (stock.release, stock.ship):
        with pytest.raises(StockError):
            end("A1")


# AC-4
def test_there_are_tests():
    path = Path(__file__).parent / "test_reservations.py"
    assert "def test_" in path.read_text(encoding="utf-8")
