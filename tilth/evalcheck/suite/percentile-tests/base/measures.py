"""Measures of a series of numbers."""

import math


class MeasureError(Exception):
    """The measure is not defined for these numbers."""


def mean(values):
    """Give the arithmetic mean."""
    values = _some(values)
    return math.fsum(values) / len(values)


def median(values):
    """Give the value in the middle, or the mean of the two in the middle."""
    values = sorted(_some(values))
    middle = len(values) // 2
    if len(values) % 2:
        return values[middle]
    return (values[middle - 1] + values[middle]) / 2


def spread(values):
    """Give the distance between the smallest and the largest value."""
    values = _some(values)
    return max(values) - min(values)


def _some(values):
    """Take the values as a list of their own, and refuse none."""
    values = list(values)
    if not values:
        raise MeasureError("there are no values")
    return values
