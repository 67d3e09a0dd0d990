"""The flags of the mirror command."""

from dataclasses import dataclass


class UsageError(Exception):
    """Arguments that the command does not understand; one line for the user."""


@dataclass(frozen=True)
class Options:
    """What the command was asked to do."""

    source: str
    output: str = "mirror"
    verbose: bool = False


def parse_arguments(arguments):
    """Read the arguments behind the command's name."""
    found = {}
    position = 0
    while position < len(arguments):
        argument = arguments[position]
        position += 1
        name, equals, value = argument.partition("=")
        if name == "--output":
            if not equals:
                value, position = _next(arguments, position, name)
            found["output"] = value
        elif argument == "--verbose":
            found["verbose"] = True
        elif argument.startswith("-"):
            raise UsageError(f"there is no flag {name}")
        elif "source" in found:
            raise UsageError(f"one source is enough, what is {argument!r}?")
        else:
            found["source"] = argument
    if "source" not in found:
        raise UsageError("say what to mirror")
    return Options(**found)


def _next(arguments, position, name):
    """Give the value behind a flag and the position after it."""
    if position == len(arguments):
        raise UsageError(f"{name} needs a value")
    return arguments[position], position + 1
