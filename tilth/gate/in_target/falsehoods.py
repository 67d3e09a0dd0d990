"""False values: what stands in the place of an expectation that is to be noticed.

The same random source gives the same value. A false value is of the kind of the true one, so that
neither of the two tells which it is; where there is none of that kind, it is like nothing at all.
"""

from __future__ import annotations

import enum
import numbers
import string
from random import Random
from typing import Any


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
    """Give a number beside; to one that is too great to have others near it, its half."""
    step = random.choice([*range(-9, 0), *range(1, 10)])
    near = (value + step, value / 2 if value else step, step)
    return next(each for each in near if each != value)


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
