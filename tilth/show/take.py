"""`tilth take`: what will come, then whether it came, and what to do if it did not."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from tilth.base.safe_text import first_lines, one_line
from tilth.base.values import jsonable
from tilth.contract.outcomes import ExitCode
from tilth.gate.findings import Validation
from tilth.session.frontend import Frontend
from tilth.session.proposal import Coming, How, Proposal, Size
from tilth.session.selection import Behind, Doubt
from tilth.session.shown_mask import find_to_show
from tilth.session.take import TakeEnd, TakeOptions, TakeResult
from tilth.session.take import take as bring
from tilth.show import figures
from tilth.show.note import Tone
from tilth.show.notices import after_the_fact, complain, tell
from tilth.show.tables import Page

_OUTPUT_LINES = 12
_DOUBTS = {
    Doubt.BELOW_BAR: "BELOW THE BAR",
    Doubt.SENT_BACK: "SENT BACK by a person",
    Doubt.NOT_EVALUATED: "not evaluated",
}
_BEHIND = {
    Behind.UNFINISHED: "it is not accepted",
    Behind.NOT_ASKED_FOR: "it was not asked for",
    Behind.IN_DOUBT: "it is in doubt",
    Behind.BUILT_ON_DOUBT: "it is built on work in doubt",
    Behind.ALREADY_THERE: "it is there already",
}
_HOW = {
    How.FAST_FORWARD: "by fast-forward",
    How.ANEW: "each task committed anew",
    How.SQUASH: "as one commit",
    How.ALREADY: "nothing new",
}


def take(
    wanted: str | None,
    options: TakeOptions,
    *,
    as_json: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> int:
    """Say what will come, bring it, and say how that went."""
    found = find_to_show(wanted or "latest", environ)
    page = Page.out(environ, found.mask)

    def announce(session: str, proposal: Proposal) -> None:
        if not as_json:
            for line, tone in _coming(session, found.checkpoint.source, proposal):
                page.line(line, tone)
            # Proving takes a while: what will come is read meanwhile.
            sys.stdout.flush()

    result = bring(
        found.id,
        options,
        announce=announce,
        environ=environ,
        frontend=Frontend(tell=tell),
    )
    with after_the_fact():
        if as_json:
            page.json(_document(result))
        else:
            for line in _outcome(result):
                page.line(line, Tone.GOOD)
    for line in _complaints(result):
        complain(found.mask.known(line))
    return result.exit_code


def _coming(session: str, source: str, proposal: Proposal) -> Iterator[tuple[str, Tone]]:
    where = f"{proposal.branch} at {figures.short_sha(proposal.before)}"
    yield f"session {session} into {where}: {_HOW[proposal.how]}", Tone.HEAD
    yield f"  repository {source}", Tone.PLAIN
    for coming in proposal.commits:
        yield f"  {_commit_line(coming)}", Tone.LOUD if coming.doubt else Tone.PLAIN
    for left in proposal.selection.behind:
        yield f"  {left.task} stays behind: {_BEHIND[left.why]}", Tone.QUIET
    if proposal.commits:
        count = figures.counted(len(proposal.commits), "commit")
        yield f"  {count}, {_size(proposal.size)}", Tone.PLAIN


def _commit_line(coming: Coming) -> str:
    doubt = f"  {_DOUBTS[coming.doubt]}" if coming.doubt else ""
    subject = one_line(coming.subject, 100)
    return f"{figures.short_sha(coming.commit)} {subject} ({_size(coming.size)}){doubt}"


def _size(size: Size) -> str:
    return f"{figures.counted(size.files, 'file')}, +{size.added} −{size.removed}"


def _outcome(result: TakeResult) -> Iterator[str]:
    proposal = result.proposal
    at = f"{proposal.branch} is at {figures.short_sha(proposal.after)}"
    match result.end:
        case TakeEnd.PLANNED:
            yield "nothing was changed (--dry-run)"
        case TakeEnd.TAKEN | TakeEnd.NO_PULL_REQUEST:
            checks = ", ".join(result.validation.summary) if result.validation else ""
            yield f"taken: {at}; {checks or 'no validator'} passed"
        case TakeEnd.ALREADY:
            yield f"all of it is on {proposal.branch} already"
        case _:
            return
    if result.pushed:
        yield f"pushed to {result.pushed}"
    if result.said and result.end is not TakeEnd.NO_PULL_REQUEST:
        yield f"pull request: {one_line(result.said)}"


def _complaints(result: TakeResult) -> Iterator[str]:
    proposal = result.proposal
    if not result.in_step:
        yield (
            f"the checkout holds changes that are neither {proposal.branch} before nor after the "
            "take that was cut off: see `git status` there"
        )
    match result.end:
        case TakeEnd.CLASH if proposal.clash is not None:
            clash = proposal.clash
            files = ", ".join(one_line(name) for name in clash.files[:10]) or "its files"
            yield (
                f"{clash.task} does not fit onto {proposal.branch}: conflict in {files}; nothing "
                f"was changed. Merge it by hand with `git cherry-pick {clash.origin[:12]}`, or "
                "leave it out with --only"
            )
        case TakeEnd.RED if result.validation is not None:
            yield from _red(result.validation, proposal)
        case TakeEnd.PUSH_REFUSED:
            yield f"the remote refused it: {one_line(result.said)}; nothing was changed"
        case TakeEnd.NO_PULL_REQUEST:
            yield (
                f"no pull request was opened: {one_line(result.said)}; {proposal.branch} was "
                "taken and pushed all the same"
            )


def _red(validation: Validation, proposal: Proposal) -> Iterator[str]:
    names = [report.name for report in validation.reports if not report.passed]
    yield (
        f"the result would be red on {proposal.branch} ({', '.join(names)}); nothing was changed. "
        "Leave tasks out with --only, or mend it on the session's branch"
    )
    for report in validation.reports:
        if not report.passed:
            for line in first_lines(report.output, _OUTPUT_LINES):
                yield f"  {report.name}: {line}"


def _document(result: TakeResult) -> dict[str, Any]:
    proposal = result.proposal
    return {
        "session": result.session,
        "outcome": result.end.value,
        "exit_code": int(ExitCode(result.exit_code)),
        "branch": proposal.branch,
        "before": proposal.before,
        "after": proposal.after,
        "how": proposal.how.value,
        "commits": [jsonable(coming) for coming in proposal.commits],
        "size": jsonable(proposal.size),
        "left_behind": [jsonable(left) for left in proposal.selection.behind],
        "conflict": jsonable(proposal.clash) if proposal.clash else None,
        "validators": dict(result.validation.summary) if result.validation else {},
        "pushed": result.pushed,
        "said": result.said or None,
    }
