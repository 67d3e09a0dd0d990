"""The `.env` file in Tilth's home: its bytes to names and values.

It reads the one file it is given and never looks for another. Values are taken as they stand: no
`${NAME}` in them is expanded, because that would pull in the environment unseen. An error names
the file and the line and never shows what stands there, which may be a key.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from pathlib import Path

from dotenv.parser import Binding, parse_stream

from tilth.base.errors import BadSetting
from tilth.base.plain_file import read_plain


def read_env_file(path: Path) -> Mapping[str, str]:
    """Give the file's values by name, the last of equal names; nothing if there is no file."""
    values: dict[str, str] = {}
    problems: list[str] = []
    for binding in parse_stream(io.StringIO(_text(path))):
        if binding.error or (binding.key is not None and binding.value is None):
            problems.append(f"{path} line {_line(binding)} must read NAME=value")
        elif binding.key is not None and binding.value is not None:
            values[binding.key] = binding.value
    if problems:
        raise BadSetting("\n".join(problems))
    return values


def _text(path: Path) -> str:
    try:
        text = read_plain(path).decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise BadSetting(f"{path} must be a text file in UTF-8") from None
    except OSError as error:
        raise BadSetting(f"{path} cannot be read: {error.strerror}") from None
    if "\0" in text:
        raise BadSetting(f"{path} must be a text file in UTF-8")
    return text


def _line(binding: Binding) -> int:
    # the parser counts from the blank lines before the statement
    written = binding.original.string
    blank = written[: len(written) - len(written.lstrip())]
    return binding.original.line + len(re.findall(r"\r\n|\n|\r", blank))
