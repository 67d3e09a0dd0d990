import pytest

from inventory import Stock, StockError


def test_pieces_come_and_go():
    stock = Stock()
    stock.receive("rake", 5)
    stock.take("rake", 2)
    assert stock.level("rake") == 3
    assert stock.level("hoe") == 0


@pytest.mark.parametrize("count", [0, -1, 6])
def test_what_cannot_be_taken_is_refused(count):
    stock = Stock()
    stock.receive("rake", 5)
    with pytest.raises(StockError):
        stock.take("rake", count)
    assert stock.level("rake") == 5
