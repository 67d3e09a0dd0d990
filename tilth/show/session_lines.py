"""The session's own lines: what is said of its start, its stops and what ran low."""

from __future__ import annotations

from collections.abc import Iterator

from tilth.contract.outcomes import StopReason
from tilth.log.session_events import (
    CacheWarning,
    CapWarning,
    ProposedLearnings,
    SeedCommitted,
    SessionPrepared,
    SessionResume,
    SessionStart,
    Stop,
)
from tilth.show import figures
from tilth.show.note import Note, Tone
from tilth.show.progress import Progress
from tilth.show.reasons import WORKTREE_LOST, cautions, fresh_reason, kinships

_CAP_NAMES = {
    StopReason.WALL_CLOCK.value: "the time for this start",
    StopReason.TOKEN_CAP.value: "the session's tokens",
    StopReason.COST_CAP.value: "the session's money",
}


def started(start: SessionStart, now: Progress) -> Iterator[Note]:
    """Say what begins, and what stands between the user and a good night."""
    evaluator = start.evaluator_model if start.evaluate else None
    details = (
        f"repo       {start.source}",
        f"branch     {start.branch}",
        f"files      {now.context.directory}" if now.context.directory else "",
        f"worker     {start.worker_model}",
        f"evaluator  {evaluator or 'none'}",
        *(f"reviewer   {name}: {model}" for name, model in start.reviewers.items()),
        f"sandbox    {start.sandbox}",
    )
    name = figures.joined((now.state.session or "", figures.counted(start.tasks, "task")))
    yield Note("session", name, Tone.HEAD, details=details, opens=True)
    if start.sandbox == "off":
        text = "SANDBOX OFF: what the model runs has your rights, your files and your network"
        yield Note("warning", text, Tone.LOUD, "!")
    for text in cautions(start):
        yield Note("warning", text, Tone.LOUD, "!")
    for text in kinships(start):
        yield Note("note", text, Tone.WARN)


def prepared(prepared: SessionPrepared, now: Progress) -> Iterator[Note]:
    """Say what an interview has made ready."""
    size = f"{figures.counted(prepared.tasks, 'task')}, {figures.counted(prepared.tests, 'test')}"
    yield Note("prepared", f"{size}, commit {figures.short_sha(prepared.commit)}", Tone.GOOD, "✓")


def seeded(seed: SeedCommitted, now: Progress) -> Iterator[Note]:
    """Say which acceptance tests the work begins from."""
    files = figures.counted(len(seed.files), "acceptance test file")
    text = f"{files} committed as {figures.short_sha(seed.commit)}"
    yield Note("tests", text, Tone.QUIET, more=seed.files)


def resumed(resume: SessionResume, now: Progress) -> Iterator[Note]:
    """Say where a session goes on."""
    state, start = now.state, now.state.start
    after = f"goes on after {resume.last_stop}" if resume.last_stop else "goes on"
    fresh = fresh_reason(resume.fresh_reason or "", resume.was, resume.now)
    details = (
        f"repo       {start.source}" if start else "",
        f"branch     {start.branch}" if start else "",
        f"files      {now.context.directory}" if now.context.directory else "",
        f"continues  {' '.join(resume.lanes) or resume.reattached}" if resume.reattached else "",
        f"anew       {' '.join(resume.anew)}" if resume.anew else "",
        f"again      {' '.join(resume.retried)}" if resume.retried else "",
        f"to do      {' '.join(resume.pending)}" if resume.pending else "",
        f"taken off  {figures.short_sha(resume.unwound_commit)}" if resume.unwound_commit else "",
        WORKTREE_LOST if resume.worktree_lost and not resume.notes else "",
        fresh,
        *(cautions(resume.judging) if resume.judging else ()),
        *resume.notes,
    )
    name = figures.joined((state.session or "", after))
    yield Note("session", name, Tone.HEAD, details=details, opens=True)


def learned(learned: ProposedLearnings, now: Progress) -> Iterator[Note]:
    """Say how many lessons wait for the person."""
    lessons = figures.counted(len(learned.learnings), "lesson")
    text = f"{lessons} for you in proposed-learnings.md"
    yield Note("learned", text, Tone.QUIET, more=learned.learnings, story=bool(learned.learnings))


def ran_low(warning: CapWarning, now: Progress) -> Iterator[Note]:
    """Say which cap is nearly used up."""
    share = f"{100 * warning.used / warning.limit:.0f}%" if warning.limit else "all"
    used, limit = (_of_cap(warning.cap, amount) for amount in (warning.used, warning.limit))
    name = _CAP_NAMES.get(warning.cap, warning.cap)
    yield Note("warning", f"{share} of {name} is used: {used} of {limit}", Tone.WARN, "!")


def _of_cap(cap: str, amount: float) -> str:
    name = cap.lower()
    if "cost" in name:
        return figures.money(amount)
    if "token" in name:
        return figures.count(amount)
    return f"{amount:.0f} minutes" if "wall" in name else f"{amount:g}"


def uncached(warning: CacheWarning, now: Progress) -> Iterator[Note]:
    """Say that the endpoint reads little of what it was sent before, and where ours differs."""
    read, expected = figures.count(warning.read_tokens), figures.count(warning.expected_tokens)
    text = f"the {warning.role}'s endpoint reads {read} of {expected} tokens from its cache"
    yield Note("warning", f"{text}, twice in a row", Tone.WARN, "!", (_differing(warning),))


def _differing(warning: CacheWarning) -> str:
    place = warning.differs
    if place is None:
        return "what we sent has not changed: the endpoint, or a gateway on the way, drops it"
    if place.message is None:
        return f"first to differ from the request before: {place.kind}"
    of = f" of {place.name}" if place.name else ""
    where = f"block {place.block + 1} of message {place.message + 1}"
    return f"first to differ from the request before: {where}, a {place.kind}{of}"


def stopped(stop: Stop, now: Progress) -> Iterator[Note]:
    """Say why it ended."""
    # The console tells it by its last screen.
    yield Note("stopped", f"{stop.reason}, exit {stop.exit_code}", more=(stop.detail,), story=False)


LINES = (started, prepared, seeded, resumed, learned, ran_low, uncached, stopped)
