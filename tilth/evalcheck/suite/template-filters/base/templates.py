"""Mail templates: texts with fields such as {{ name }}, filled with values."""

import re

_FIELD = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)


class TemplateError(Exception):
    """A template that cannot be filled; the message names the line."""


def render(template, values):
    """Give the text of a template with every field filled in from a dict of values."""
    return _FIELD.sub(lambda match: _fill(match, values), template)


def field_names(template):
    """Give what stands in the fields of a template, in order, each once."""
    return list(dict.fromkeys(match[1].strip() for match in _FIELD.finditer(template)))


def _fill(match, values):
    name = match[1].strip()
    if not name.isidentifier():
        raise TemplateError(f"line {_line(match)}: {name!r} is no name")
    if name not in values:
        raise TemplateError(f"line {_line(match)}: there is no value for {name!r}")
    return str(values[name])


def _line(match):
    """Give the number of the line on which a field begins."""
    return match.string.count("\n", 0, match.start()) + 1
