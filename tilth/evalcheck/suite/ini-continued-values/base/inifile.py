"""Settings files: sections of `key = value` lines, read and written."""

COMMENT = ("#", ";")


class IniError(ValueError):
    """A text that is no settings file, or data that cannot be written as one."""


def loads(text):
    """Read a text: the sections by name, in each the values by key, in the order of the text."""
    data = {}
    section = None
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if not line or line.startswith(COMMENT):
            continue
        if line.startswith("["):
            section = data.setdefault(_section_name(line, number), {})
            continue
        if section is None:
            raise IniError(f"line {number}: a value stands before the first section")
        key, value = _pair(line, number)
        section[key] = value
    return data


def dumps(data):
    """Write sections, whose values are texts, so that loads reads the same data."""
    return "\n".join(_block(name, values) for name, values in data.items())


def _block(name, values):
    lines = [f"[{name}]"]
    for key, value in values.items():
        lines.append(f"{key} = {value}".rstrip())
    return "\n".join(lines) + "\n"


def _section_name(line, number):
    if not line.endswith("]") or not line[1:-1].strip():
        raise IniError(f"line {number}: {line!r} is no section header")
    return line[1:-1].strip()


def _pair(line, number):
    key, equals, value = line.partition("=")
    if not equals or not key.strip():
        raise IniError(f"line {number}: {line!r} is no `key = value`")
    return key.strip(), value.strip()
