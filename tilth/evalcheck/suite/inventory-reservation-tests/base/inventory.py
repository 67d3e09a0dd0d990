"""The stock of a warehouse: how many pieces of each item there are."""


class StockError(Exception):
    """What was asked of the stock is not possible; nothing was changed."""


class Stock:
    """Count pieces by item."""

    def __init__(self):
        self._levels = {}

    def receive(self, item, count):
        """Put pieces into the stock."""
        _check(count)
        self._levels[item] = self.level(item) + count

    def take(self, item, count):
        """Take pieces out of the stock."""
        _check(count)
        if count > self.level(item):
            raise StockError(f"there are only {self.level(item)} of {item!r}")
        self._levels[item] -= count

    def level(self, item):
        """Give how many pieces of an item there are."""
        return self._levels.get(item, 0)


def _check(count):
    if count < 1:
        raise StockError(f"{count} is no number of pieces")
