"""False values: what stands in the place of an expectation that is to be noticed.

The same random source gives the same value. A false value is of the kind of the true one, so that
neither of the two tells which it is; where there is none of that kind, it is like nothing at all.
"""

from __future__ import annotations

import enum
import numbers
import string
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

# How often two parts change their places, where a part could be changed.
_SWAPPED = 0.4


class Unexpected(Warning):
    """Be what nobody raises."""


class Unlike:
    """Be what is like nothing else: equal to nothing, less and greater than nothing, no member."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return False

    __lt__ = __le__ = __gt__ = __ge__ = __eq__


def random_of(*words: str) -> Random:
    """Give a source of random numbers that is the same for the same words."""
    return Random(ascii(words))  # noqa: S311 (what must not be guessed are the words)


def other(value: Any, random: Random) -> Any:
    """Give a value that is not equal to one."""
    if isinstance(value, enum.Enum):
        others = [each for each in type(value) if each is not value]
        return random.choice(others) if others else Unlike()
    if isinstance(value, bool):
        return not value
    if isinstance(value, numbers.Number):
        return _other_number(value, random)
    if isinstance(value, str):
        return _other_text(value, random)
    if isinstance(value, bytes):
        return _other_text(value.decode("latin-1"), random).encode("latin-1")
    if value is None:
        return random.randrange(2, 100)
    if type(value) in (list, tuple):
        return type(value)([other(each, random) for each in value] or [random.randrange(1, 100)])
    if type(value) in (set, frozenset):
        return type(value)({*value, random.randrange(10**6, 10**9)})
    if type(value) is dict:
        made = {key: other(each, random) for key, each in value.items()}
        return made or {random.choice(string.ascii_lowercase): random.randrange(1, 100)}
    return Unlike()


def _other_number(value: Any, random: Random) -> Any:
    """Give a number far from another; to one too great to have others, its half."""
    step = random.choice([*range(-9, 0), *range(1, 10)])
    times = random.choice((-3, -2, 2, 3))
    try:
        others = [value + step + times * abs(value), value + step]
    except ArithmeticError:
        others = []
    others += [value / 2 if value else step, step]
    # What is not finite is not written by its name.
    return next(each for each in others if each != value and _is_written(repr(each)))


def _is_written(text: str) -> bool:
    return not any(name in text for name in ("inf", "nan"))


def near(value: Any, random: Random) -> Any:
    """Give a value that differs a little from one, in one part of it; what has no such as it is."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        step = 1 if isinstance(value, int) else abs(value) / 64 or 0.5
        return value + random.choice((-step, step))
    if isinstance(value, str):
        return _near_text(value, random)
    if isinstance(value, bytes):
        return _near_text(value.decode("latin-1"), random).encode("latin-1")
    if type(value) in (list, tuple):
        return type(value)(_one_near([*value], random))
    if type(value) in (set, frozenset):
        one = random.choice([*sorted(value, key=repr)] or [0])
        return type(value)({*value} - {one} | {near(one, random)})
    if type(value) is dict:
        return dict(zip(value, _one_near([*value.values()], random)))  # noqa: B905 (Python 3.8)
    return value


def _one_near(parts: list[Any], random: Random) -> list[Any]:
    """Change one of several values, or put two that stand beside each other in another order."""
    if not parts:
        return parts
    at = random.randrange(len(parts))
    if at and parts[at - 1] != parts[at] and random.random() < _SWAPPED:
        parts[at - 1 : at + 1] = parts[at], parts[at - 1]
    else:
        parts[at] = near(parts[at], random)
    return parts


def _near_text(text: str, random: Random) -> str:
    """Change one letter or digit to its neighbour or its other case, or swap two characters."""
    places = [index for index, each in enumerate(text) if each.isascii() and each.isalnum()]
    if not places:
        return f"{text}_"
    at = random.choice(places)
    if at and text[at - 1] != text[at] and random.random() < _SWAPPED:
        return text[: at - 1] + text[at] + text[at - 1] + text[at + 1 :]
    beside = chr(ord(text[at]) + (-1 if text[at] in "9zZ" else 1))
    new = random.choice([text[at].swapcase(), beside]) if text[at].isalpha() else beside
    return text[:at] + new + text[at + 1 :]


def near_at(value: Any, way: Sequence[int], random: Random) -> Any:
    """Give a literal with the part that a way leads to changed a little."""
    if not way:
        return near(value, random)
    parts = [*value.values()] if isinstance(value, dict) else [*value]
    parts[way[0]] = near_at(parts[way[0]], way[1:], random)
    if isinstance(value, dict):
        return dict(zip(value, parts))  # noqa: B905 (Python 3.8)
    return type(value)(parts)


def _other_text(text: str, random: Random) -> str:
    """Change some letters or digits for others; what has none gets more."""
    places = [index for index, each in enumerate(text) if each.isascii() and each.isalnum()]
    if not places:
        at = random.randrange(len(text) + 1)
        return text[:at] + "".join(random.choices(string.ascii_lowercase, k=2)) + text[at:]
    letters = list(text)
    for index in random.sample(places, min(3, len(places))):
        old = letters[index].lower()
        kind = string.digits if old.isdigit() else string.ascii_lowercase
        new = random.choice([each for each in kind if each != old])
        letters[index] = new.upper() if letters[index].isupper() else new
    return "".join(letters)
