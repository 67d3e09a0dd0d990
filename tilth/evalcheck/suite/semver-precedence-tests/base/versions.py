"""Versions as in Semantic Versioning 2.0.0: read and written."""

import re
from dataclasses import dataclass

_PART = r"(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_NUMBER = r"(0|[1-9][0-9]*)"
_VERSION = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}"
    rf"(?:-({_PART}(?:\.{_PART})*))?"
    r"(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?"
)


class VersionError(ValueError):
    """A text that is no version."""


@dataclass(frozen=True)
class Version:
    """A version in its parts; the parts of a pre-release stay texts."""

    major: int
    minor: int
    patch: int
    pre: tuple[str, ...] = ()
    build: str = ""

    def __str__(self):
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.pre:
            text += "-" + ".".join(self.pre)
        return f"{text}+{self.build}" if self.build else text


def parse(text):
    """Read a version."""
    match = _VERSION.fullmatch(text)
    if match is None:
        raise VersionError(f"{text!r} is no version")
    major, minor, patch, pre, build = match.groups()
    parts = tuple(pre.split(".")) if pre else ()
    return Version(int(major), int(minor), int(patch), parts, build or "")
