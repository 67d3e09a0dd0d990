"""The report as Markdown: what `report.md` holds and `tilth report` prints.

One line a task in each part, so that ten tasks stay within LINES; criteria get lines of their own
where there is room. Texts are cut between words, evidence that is quoted stands as it was written,
and nothing a model wrote can become a link, an image or a tag. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from tilth.base.safe_text import ELLIPSIS, inert, one_line, shortened
from tilth.contract.case import Coverage
from tilth.show import figures
from tilth.show.foresight import foreseen_words
from tilth.show.purposes import purpose
from tilth.show.report import Cost, Effort, Report, TaskReport
from tilth.show.times import local_time

LINES = 60
SHOWN_FIRST = 10
_TEXT = 200
# A section's title with the blank lines around it.
_HEADING = 3
_TICKS = re.compile(r"`+")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def markdown(report: Report) -> str:
    """Write the report."""
    before = [
        *_head(report),
        *_section("What to look at first", _look_first(report)),
        *_section("Questions that wait", _questions(report)),
        *_section("Tasks", _table(report)),
    ]
    after = [
        *_section("What it cost", _cost(report)),
        *_section("Next", _next(report)),
    ]
    shown = [task for task in report.tasks if task.coverage]
    room = LINES - len(before) - len(after) - _HEADING
    if len(shown) > room:
        # Blank lines below headings go before anything that says something does.
        before, after = _tight(before), _tight(after)
        room = LINES - len(before) - len(after) - _HEADING
    lines = [*before, *_section("Evidence", _evidence(shown, room)), *after]
    return "\n".join(lines).strip("\n") + "\n"


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    held = list(lines)
    if held:
        yield from ("", f"## {title}", "", *held)


def _tight(lines: Sequence[str]) -> list[str]:
    return [
        line
        for above, line in zip(["", *lines], lines, strict=False)
        if line or not above.startswith("## ")
    ]


def _head(report: Report) -> Iterator[str]:
    named = f": {prose(report.feature)}" if report.feature else ""
    yield f"# Session {report.session}{named}"
    yield ""
    ended = report.ended
    if ended is None:
        yield "**Not stopped**: this is how it stands so far.  "
    else:
        detail = f": {_safe(_whole(ended.detail))}" if ended.detail else ""
        yield f"**Stopped: {ended.why}** (`{ended.reason}`, exit {ended.exit_code}){detail}  "
    yield from (f"**One cause: {_safe(_whole(cause.text))}**  " for cause in report.causes)
    yield f"Tasks: {report.tally or 'none yet'}. {_landed(report)}  "
    yield from _seconds(report)
    times = [local_time(moment) for moment in (report.started, report.updated) if moment]
    starts = figures.counted(report.starts, "start")
    base = f" from {report.base_commit[:12]}" if report.base_commit else ""
    yield f"{' to '.join(times)}, {starts}, branch `{report.branch}`{base}"


def _seconds(report: Report) -> Iterator[str]:
    """Say at the top how other reviewers stand to what was done."""
    asked = [task for task in report.tasks if task.second]
    against = [task.id for task in asked if task.second and task.second.agrees is False]
    if against:
        others = f"; {len(asked) - len(against)} without a disagreement" if asked[1:] else ""
        yield f"**Another reviewer disagrees on {', '.join(against)}**{others}.  "
    elif asked:
        yield f"Second opinions on {', '.join(task.id for task in asked)}: no disagreement.  "


def _landed(report: Report) -> str:
    total = report.landed
    if total.fault:
        return f"What landed is not known: {prose(total.fault)}."
    if not total.commits:
        return "Nothing landed."
    commits, files = (
        figures.counted(total.commits, "commit"),
        figures.counted(total.files, "file"),
    )
    return f"Landed: {commits}, {files}, +{total.added} -{total.deleted} lines."


def _look_first(report: Report) -> Iterator[str]:
    for number, task_id in enumerate(report.look_first[:SHOWN_FIRST], start=1):
        task = report.task(task_id)
        reasons = "; ".join(prose(reason.text).rstrip(".") for reason in task.reasons)
        named = f"**{task.id}** {prose(task.title)}, doubt {task.doubt}"
        yield f"{number}. {named}: {reasons}. `{task.show}`"
    rest = report.look_first[SHOWN_FIRST:]
    after = [""] if report.look_first else []
    if rest:
        yield from (*after, f"Less in doubt: {', '.join(rest)}.")
    if report.clear:
        yield from (*after, f"Nothing speaks against {', '.join(report.clear)}.")
    if not report.look_first and not report.clear:
        yield "No task has ended yet."


def _questions(report: Report) -> Iterator[str]:
    for asked in report.questions:
        about = f" ({asked.task_id})" if asked.task_id else ""
        yield f"- **{asked.request}**{about}: {_safe(_whole(asked.text))} `{asked.command}`"


def _table(report: Report) -> Iterator[str]:
    if not report.tasks:
        return
    yield "| task | ending | score | doubt | iterations | cost | commit | lines | files |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for task in report.tasks:
        landed, remark = task.landed, ", ".join(_remarks(task))
        cells = (
            f"{task.id} {prose(task.title)}",
            f"{task.ending} ({remark})" if remark else str(task.ending),
            "" if task.score is None else str(task.score),
            str(task.doubt) if task.reasons else "",
            _iterations(task.effort),
            _money(task.cost) if task.cost.tokens else "",
            figures.short_sha(landed.commit) if landed else "",
            f"+{landed.added} -{landed.deleted}" if landed else "",
            str(len(landed.paths)) if landed else "",
        )
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _remarks(task: TaskReport) -> Iterator[str]:
    if task.failure:
        yield task.failure
    elif task.sent_back:
        yield "sent back"
    if task.tampered:
        yield "TAMPERED"


def _iterations(effort: Effort) -> str:
    if not effort.rework:
        return str(effort.iterations or "")
    return f"{effort.iterations} ({effort.rework} rework)"


def _evidence(tasks: Sequence[TaskReport], room: int) -> Iterator[str]:
    """Give each task's claims: a line a criterion, else a line a task, as there is room."""
    claims = [[_claim(item) for item in task.coverage] for task in tasks]
    heads = [f"**{task.id}** {_proofs(task)}" for task in tasks]
    if len(tasks) + sum(map(len, claims)) <= room:
        for head, said in zip(heads, claims, strict=True):
            yield from (f"- {head}", *(f"  - {claim}" for claim in said))
        return
    each = [f"{head}. {'; '.join(said)}" for head, said in zip(heads, claims, strict=True)]
    alone = len(each) if len(each) <= room else max(0, room - 1)
    yield from (f"- {line}" for line in each[:alone])
    if each[alone:]:
        yield f"- {' '.join(each[alone:])}"


def _claim(item: Coverage) -> str:
    evidence = f" ({code(item.evidence)})" if item.evidence else ""
    return f"{prose(item.criterion)}: {code(item.addressed_by)}{evidence}"


def _proofs(task: TaskReport) -> str:
    gates = [f"{name} {'passed' if ok else 'FAILED'}" for name, ok in task.validators.items()]
    return figures.joined(
        (
            ", ".join(code(name) for name in task.seed_tests) or "no seed test",
            ", ".join(gates),
            f"probes: {', '.join(task.probes)}" if task.probes else "",
            "only the worker's claims, the last verdict objects" if task.objected else "",
        )
    )


def _next(report: Report) -> Iterator[str]:
    for line in report.next:
        does = purpose(line)
        yield f"- {_ticked(_whole(line))}" + (f" {does}" if does else "")


def _cost(report: Report) -> Iterator[str]:
    each = report.usd_per_accepted
    per = "" if each is None else f"{figures.money(each)} per accepted task"
    tokens = f"{figures.count(report.cost.tokens)} tokens"
    yield f"{figures.joined((_money(report.cost), per, tokens))}  "
    effort = report.effort
    yield (
        f"{figures.counted(effort.iterations, 'iteration')}: {effort.work} work, "
        f"{effort.rework} rework after a rejection; of all, {effort.tail} between the last edit "
        "and the case; "
        f"{figures.counted(effort.retries, 'retry', 'retries')} of the endpoint"
        f"{'  ' if report.forecast else ''}"
    )
    if report.forecast:
        yield foreseen_words(report.forecast)


def _money(cost: Cost) -> str:
    return figures.known_cost(cost.usd, whole=cost.known)


def prose(text: str) -> str:
    """Put a text into one line of prose, cut between words where it is long."""
    return _safe(one_line(text, _TEXT))


def code(text: str) -> str:
    """Quote a text as it was written; of a long one its first line or words, and a mark."""
    first, _, more = text.strip().partition("\n")
    line = shortened(inert(first), _TEXT)
    if more.strip() and not line.endswith(ELLIPSIS):
        line += ELLIPSIS
    return _ticked(line)


def _ticked(line: str) -> str:
    fence = "`" * (max(map(len, _TICKS.findall(line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _whole(text: str) -> str:
    return " ".join(line.strip() for line in inert(text).split("\n") if line.strip())


def _safe(text: str) -> str:
    return _TAG.sub(r"\\<", text).replace("](", "]\\(")
