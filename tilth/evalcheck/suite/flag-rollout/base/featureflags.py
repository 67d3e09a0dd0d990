"""Feature flags: what is switched on, and for whom."""

from dataclasses import dataclass


class FlagError(Exception):
    """A flag that does not exist or cannot be read; the message names it."""


@dataclass(frozen=True)
class Flag:
    """A feature, on for all or for the users that are named."""

    name: str
    for_all: bool = False
    users: frozenset[str] = frozenset()


class Flags:
    """All flags of the shop, by name."""

    def __init__(self, flags):
        self._flags = {flag.name: flag for flag in flags}

    def is_on(self, name, user):
        """Tell whether a feature is switched on for a user."""
        if name not in self._flags:
            raise FlagError(f"there is no flag {name!r}")
        flag = self._flags[name]
        return flag.for_all or user in flag.users


def parse_flags(data):
    """Read flags from a dict of settings by name."""
    return Flags([_parse_flag(name, settings) for name, settings in data.items()])


def _parse_flag(name, settings):
    if not isinstance(settings, dict):
        raise FlagError(f"{name}: the settings of a flag are a dict, not {settings!r}")
    for_all = settings.get("for_all", False)
    users = settings.get("users", [])
    if not isinstance(for_all, bool):
        raise FlagError(f"{name}: for_all is true or false, not {for_all!r}")
    if not isinstance(users, list) or not all(isinstance(user, str) for user in users):
        raise FlagError(f"{name}: users is a list of names")
    return Flag(name, for_all, frozenset(users))
