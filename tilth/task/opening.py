"""Opening: what is gathered and recorded before a worker's first call on a task."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from tilth.base.errors import WorkspaceError
from tilth.base.plain_file import read_plain
from tilth.contract.case import RAISE_BLOCKER, SUBMIT_CASE
from tilth.contract.operator_requests import answers_for
from tilth.contract.outcomes import Fresh, SetAside
from tilth.contract.prd import Plan, Status, Task
from tilth.gate.findings import Baseline, ValidatorReport
from tilth.gate.steering import fits_one
from tilth.log.events import (
    ContextReset,
    Emit,
    MemoryLoad,
    SeedAlreadyGreen,
    ValidatorRun,
)
from tilth.model.messages import Conversation, Role
from tilth.task.asking import open_conversation
from tilth.task.attempt import Attempt
from tilth.task.bench import Bench
from tilth.task.briefs import (
    Background,
    NamedText,
    Upstream,
    WorkerView,
    worker_message,
    worker_system,
)
from tilth.task.budget import Allowance
from tilth.task.landing import flag_red_done, set_aside_ref


def begin(
    bench: Bench,
    task: Task,
    plan: Plan,
    why: Fresh | None = None,
    *,
    base: str | None = None,
) -> Attempt:
    """Start a task in a fresh conversation, on its base or else the tip of the session's branch."""
    base = base or bench.tree.tip()
    if base is None:
        raise WorkspaceError(f"branch {bench.tree.branch} is gone; restore it or reset the session")
    task, why = _started(bench, task), why or Fresh()
    aside = _take_up_aside(bench, task)
    emit = bench.emit.bind(task_id=task.id, trace_id=bench.new_id() + bench.new_id(), iter=0)
    emit(
        ContextReset(
            agent=task.agent or "",
            base=base,
            reason=why.reason,
            was=why.was,
            now=why.now,
            set_aside=aside,
        )
    )
    bench.tree.drop_aside(set_aside_ref(bench.record.id, task.id))
    baseline = take_baseline(bench, task, plan, base, emit)
    view = worker_view(bench, task, plan, base)
    emit(_memory(view))
    conversation = Conversation(
        id=bench.new_id(),
        role=Role.WORKER,
        model=bench.worker.name,
        max_tokens=bench.settings.max_output_tokens,
        system=worker_system(),
        tools=(*bench.tools.specs, SUBMIT_CASE, RAISE_BLOCKER),
        cached_for=bench.words.state.cache_gaps.life(Role.WORKER),
    )
    conversation.say(bench.mask.result(worker_message(view)))
    open_conversation(conversation, bench.worker, emit)
    return Attempt(
        task=task,
        base=base,
        conversation=conversation,
        allowance=Allowance.of(bench.settings),
        emit=emit,
        baseline=baseline,
        ledger_start=len(view.ledger),
    )


def _started(bench: Bench, task: Task) -> Task:
    agent = task.agent or f"worker-{bench.new_id()}"
    if task.status is Status.IN_PROGRESS:
        # Begun before, but with nothing that could be taken up.
        task = task.model_copy(update={"agent": agent})
    else:
        task = task.moved(Status.IN_PROGRESS, agent=agent)
    bench.record.save_task(task)
    return task


def _take_up_aside(bench: Bench, task: Task) -> SetAside | None:
    """Put partial work that was set aside back into the files, and say how that went."""
    ref = set_aside_ref(bench.record.id, task.id)
    if bench.tree.aside(ref) is None:
        return None
    return SetAside.BACK if bench.tree.apply_aside(ref) else SetAside.NO_LONGER_FITS


def take_baseline(bench: Bench, task: Task, plan: Plan, base: str, emit: Emit) -> Baseline:
    """Prove the seed tests red on the untouched base, and record what was found."""
    baseline = bench.gate.baseline(task, plan, base)
    if baseline.report is not None:
        emit(validator_run(bench, baseline.report, phase="base", tree=base))
    if baseline.suite_report is not None:
        emit(validator_run(bench, baseline.suite_report, phase="base", tree=base))
    if baseline.red_elsewhere:
        flag_red_done(bench, task, emit, baseline.red_elsewhere)
    if baseline.already_green and task.round == 1:
        emit(SeedAlreadyGreen(tests=baseline.already_green))
    return baseline


def baseline_of(bench: Bench, attempt: Attempt) -> Baseline:
    """Give an attempt's baseline; a reattached one takes it when it is first needed."""
    if attempt.baseline is None:
        attempt.baseline = take_baseline(
            bench, attempt.task, bench.record.plan, attempt.base, attempt.emit
        )
    return attempt.baseline


def validator_run(
    bench: Bench,
    report: ValidatorReport,
    *,
    phase: Literal["base", "case", "landing", "final"],
    tree: str,
) -> ValidatorRun:
    """Make the event of one validator's report; its output is masked like a tool's."""
    return ValidatorRun(
        name=report.name,
        phase=phase,
        passed=report.passed,
        exit_code=report.exit_code,
        output=bench.mask.result(report.output),
        duration_ms=report.duration_ms,
        tree=tree,
        tests=report.tests,
        suite=report.suite,
    )


def worker_view(bench: Bench, task: Task, plan: Plan, base: str) -> WorkerView:
    """Collect what the worker may see."""
    return WorkerView(
        task=task,
        tests=seed_test_names(bench, task),
        root=_root(bench.tree.files(base)),
        plan=tuple((item.id, item.title) for item in plan.tasks),
        upstream=upstream(bench, task, plan),
        answers=answers_for(bench.record.requests(), task.id),
        ledger=bench.record.read_ledger(task.id),
        conventions=conventions(bench, base),
        background=_background(bench),
        progress=_progress(bench, task, plan),
        notes=bench.words.state.notes_on(task.id),
    )


def _progress(bench: Bench, task: Task, plan: Plan) -> tuple[str, ...]:
    """Give the story so far; what other lanes do is none of a worker's business."""
    if not bench.queued:
        return bench.record.progress()
    before = [item.id for item in plan.upstream_of(task)]
    return bench.record.progress(*before) if before else ()


def _root(files: Iterable[str]) -> tuple[str, ...]:
    """Name what stands at the root, directories with a stroke."""
    names = {f"{path.split('/', 1)[0]}/" if "/" in path else path for path in files}
    return tuple(sorted(names))


def seed_test_names(bench: Bench, task: Task) -> tuple[str, ...]:
    """Give the names of a task's pristine seed tests."""
    names = (path.name for path in bench.record.seed_tests.iterdir())
    return tuple(sorted(name for name in names if task.owns_test(name)))


def seed_test_texts(bench: Bench, task: Task) -> tuple[NamedText, ...]:
    """Give a task's pristine seed tests with their text."""
    folder = bench.record.seed_tests
    return tuple(
        NamedText(name=f"tests/{name}", text=read_plain(folder / name).decode("utf-8", "replace"))
        for name in seed_test_names(bench, task)
    )


def conventions(bench: Bench, base: str) -> tuple[NamedText, ...]:
    """Read the project's conventions as they were when the session began.

    What a task of the plan may change is read from the root of this task's base.
    """
    globs = [glob for task in bench.record.plan.tasks for glob in task.may_change]
    start = bench.record.start_commit
    found = (
        (name, bench.tree.read(base if fits_one(name, globs) else start, name))
        for name in bench.settings.context_files
    )
    return tuple(
        NamedText(name=name, text=content.decode("utf-8", "replace"))
        for name, content in found
        if content
    )


def upstream(bench: Bench, task: Task, plan: Plan) -> tuple[Upstream, ...]:
    """Say what the tasks this one depends on have delivered.

    One further up is named only if it is below the bar: what is built on it stands on that.
    """
    wanted = [
        item
        for item in plan.upstream_of(task)
        if item.id in task.depends_on or item.quality_flag is not None
    ]
    return tuple(_delivered(bench, item) for item in wanted)


def _delivered(bench: Bench, task: Task) -> Upstream:
    files: tuple[str, ...] = ()
    if task.commit:
        changes = bench.tree.changes(f"{task.commit}^", task.commit)
        files = tuple(change.path for change in changes[:50])
    return Upstream(
        id=task.id,
        title=task.title,
        summary=task.summary,
        files=files,
        below_bar=task.quality_flag is not None,
        score=task.score,
    )


def _background(bench: Bench) -> Background:
    meta = bench.record.seed_meta()
    questions = meta.get("open_questions") or ()
    return Background(
        tldr=_text(meta.get("tldr")),
        scope_notes=_text(meta.get("scope_notes")),
        open_questions=tuple(str(question) for question in questions),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _memory(view: WorkerView) -> MemoryLoad:
    return MemoryLoad(
        files=tuple(file.name for file in view.conventions),
        bytes=sum(len(file.text.encode("utf-8", "replace")) for file in view.conventions),
    )
