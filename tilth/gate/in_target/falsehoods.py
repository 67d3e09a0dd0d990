"""False values: what stands in the place of an expectation that is to be noticed.

The same random source gives the same value. A false value is of the kind of the true one, so that
neither of the two tells which it is; where there is none of that kind, it equals nothing at all.
"""

from __future__ import annotations

import enum
import numbers
import string
from random import Random
from typing import Any

_FAR = 10**15


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


def falsified(kind: str, value: Any, random: Random) -> Any:
    """Give the false value for a true one: how it is false is said by the kind of expectation.

    `value` is compared for being the same, `absent` and `within` are the two sides of `in`, `above`
    and `below` those of an order; `truth` is a condition and `instead` an expected exception.
    """
    if kind == "truth":
        return not value
    if kind == "instead":
        return Unexpected
    if kind in ("above", "below"):
        far = _FAR + random.randrange(_FAR)
        is_number = isinstance(value, (int, float))
        return (far if kind == "above" else -far) if is_number else Unlike()
    if kind == "within" and isinstance(value, (str, bytes)):
        known = value if isinstance(value, str) else value.decode("latin-1")
        letters = [each for each in string.printable if each not in known] or [""]
        made = "".join(random.choices(letters, k=len(value)))
        return made if isinstance(value, str) else made.encode()
    return _other(value, random, is_far=kind in ("absent", "within"))


def _other(value: Any, random: Random, *, is_far: bool) -> Any:
    if isinstance(value, enum.Enum):
        others = [each for each in type(value) if each is not value]
        return random.choice(others) if others else Unlike()
    if isinstance(value, bool) and not is_far:
        return not value
    if isinstance(value, numbers.Number):
        return _other_number(value, random, is_far=is_far)
    if isinstance(value, str):
        return _other_text(value, random, is_far=is_far)
    if isinstance(value, bytes):
        return _other_text(value.decode("latin-1"), random, is_far=is_far).encode("latin-1")
    if value is None:
        return random.randrange(2, 100)
    if type(value) in (list, tuple, set, frozenset):
        # The members of a set must not be each other's.
        is_far = is_far or type(value) in (set, frozenset)
        made = [_other(each, random, is_far=is_far) for each in value]
        return type(value)(made or [random.randrange(1, 100)])
    if type(value) is dict:
        if is_far:
            other = {_other(key, random, is_far=True): each for key, each in value.items()}
        else:
            other = {key: _other(each, random, is_far=False) for key, each in value.items()}
        return other or {random.choice(string.ascii_lowercase): random.randrange(1, 100)}
    return Unlike()


def _other_number(value: Any, random: Random, *, is_far: bool) -> Any:
    """Give a number beside; to one that is too great to have others near it, its half."""
    step = random.choice([*range(-9, 0), *range(1, 10)])
    made = value + (step * _FAR if is_far else step)
    return made if made != value else (value / 2 if value / 2 != value else step)


def _other_text(text: str, random: Random, *, is_far: bool) -> str:
    """Change some letters or digits for others; what has none, or must be far, gets more."""
    places = [index for index, each in enumerate(text) if each.isascii() and each.isalnum()]
    if is_far or not places:
        at = random.randrange(len(text) + 1)
        more = "".join(random.choices(string.ascii_lowercase, k=8 if is_far else 2))
        return text[:at] + more + text[at:]
    letters = list(text)
    for index in random.sample(places, min(3, len(places))):
        old = letters[index].lower()
        kind = string.digits if old.isdigit() else string.ascii_lowercase
        new = random.choice([each for each in kind if each != old])
        letters[index] = new.upper() if letters[index].isupper() else new
    return "".join(letters)
