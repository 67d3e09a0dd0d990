"""What is hidden on the standard streams: every key that is known by then, whoever prints there.

It is the last look at a text. What a text is made of is masked before, where its parts are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from tilth.base.errors import UserError
from tilth.config.secrets import Mask, is_weak
from tilth.config.settings import known_secrets, load
from tilth.show.pen import hide_on_streams


def hide_in_print(secrets: Iterable[str]) -> None:
    """Hide keys in all that is printed from now on.

    Those that are short, plain words or made of digits could stand in the shape of what is printed,
    a number or a name of JSON: they are hidden where a text is put together.
    """
    strong = [secret for secret in secrets if not is_weak(secret) and not secret.isdigit()]
    if strong:
        hide_on_streams(Mask(strong).known)


def hide_what_is_set(environ: Mapping[str, str]) -> None:
    """Hide the settings' keys in all that is printed; what is wrong with them a command says."""
    with suppress(UserError, OSError):
        hide_in_print(known_secrets(load({}, environ)))
