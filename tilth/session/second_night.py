"""The second night: a PRD whose ids have landed before, refused with the fix or renumbered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tilth.base.errors import UserError
from tilth.contract.numbering import first_free_id, renumbered, taken_ids
from tilth.git import trees
from tilth.git.landed_ids import landed_ids
from tilth.git.source import SourceRepo
from tilth.session.bundle import Bundle

_MOST_NAMED = 5


def taken_problem(source: SourceRepo, bundle: Bundle) -> str | None:
    """Say which ids of a PRD landed commits name already, and what to do about it."""
    landed = landed_ids(source)
    taken = taken_ids(bundle.plan, landed)
    if not taken:
        return None
    more = len(taken) - _MOST_NAMED
    named = ", ".join(taken[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    free = first_free_id(trees.files(source, source.head), landed)
    them = "that id" if len(taken) == 1 else "those ids"
    return (
        f"{named} landed in {source.root} before, and the tests of {them} would be mixed up: "
        f"number on from {free}, or have that done with `tilth run --renumber`"
    )


def numbered(
    source: SourceRepo, bundle: Bundle, tell: Callable[[str], None], *, renumber: bool
) -> Bundle:
    """Give a bundle whose ids are free; where they are not, raise unless it may be renumbered."""
    problem = taken_problem(source, bundle)
    if problem is None:
        return bundle
    if not renumber:
        raise UserError(problem)
    files = trees.files(source, source.head)
    new = renumbered(bundle.plan, bundle.tests, files, landed_ids(source))
    tell(f"renumbered: {', '.join(f'{old} is {now}' for old, now in new.ids.items())}")
    return replace(bundle, plan=new.plan, tests=new.tests)
