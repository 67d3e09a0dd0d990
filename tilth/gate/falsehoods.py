"""False values: what stands in the place of an expectation that is to be noticed. Pure.

The same random source gives the same value. A false value is of the kind of the true one, so that
neither of the two tells which it is.
"""

from __future__ import annotations

import ast
import hashlib
import string
from random import Random
from typing import Any

_FAR = 10**15
# By the kind of a site that holds no value: what leaves the test as it is, and what makes it false.
_SWITCHES = {"truth": ("False", "True"), "instead": ("None", "Unexpected")}


def random_of(*words: str) -> Random:
    """Give a source of random numbers that is the same for the same words."""
    seed = hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).digest()
    return Random(seed)  # noqa: S311 (what must not be guessed are the words)


def true_text(kind: str, true: str) -> str:
    """Give what is handed in where a site is left true."""
    return _SWITCHES[kind][0] if kind in _SWITCHES else true


def false_text(kind: str, true: str, random: Random) -> str:
    """Give what is handed in where a site is made false."""
    if kind in _SWITCHES:
        return _SWITCHES[kind][1]
    value = ast.literal_eval(true)
    if kind in ("above", "below") and isinstance(value, int | float):
        far = _FAR + random.randrange(_FAR)
        return repr(far if kind == "above" else -far)
    return repr(_other(value, random, is_far=kind == "absent"))


def _other(value: Any, random: Random, *, is_far: bool) -> Any:
    match value:
        case bool():
            return not value
        case int() | float() | complex():
            step = random.choice([*range(-9, 0), *range(1, 10)])
            return value + (step * _FAR if is_far else step)
        case str():
            return _other_text(value, random, is_far=is_far)
        case bytes():
            text = value.decode("latin-1")
            return _other_text(text, random, is_far=is_far).encode("latin-1")
        case list() | tuple() | set():
            made = [_other(each, random, is_far=is_far) for each in value]
            return type(value)(made or [random.randrange(1, 100)])
        case dict():
            other = {key: _other(each, random, is_far=is_far) for key, each in value.items()}
            return other or {random.choice(string.ascii_lowercase): random.randrange(1, 100)}
    return random.randrange(2, 100)


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
