"""The rules of a seed that need no test run: names, one file a task, tests that parse, criteria.

Pure: texts in, problems out, all of them at once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from tilth.contract.numbering import first_free_id
from tilth.contract.prd import Plan, Task
from tilth.gate.pristine import SeedReading, read_here
from tilth.interview.criteria import named_criteria

_FILE_NAME = re.compile(r"test_t[0-9]{3,}_[A-Za-z0-9_]+\.py")
_LARGEST_TEST = 200_000
Readings = Mapping[str, SeedReading]
_NONE: Readings = {}


def name_problems(names: Iterable[str], plan: Plan | None, taken: Collection[str]) -> list[str]:
    """Say what is wrong with the names of the test files; `taken` are paths on the base."""
    problems = []
    for name in names:
        if not _FILE_NAME.fullmatch(name):
            problems.append(
                f"test_files[{name!r}]: must be a plain file name like test_t001_parser.py, which "
                "goes into tests/; nothing is written anywhere else"
            )
        elif plan is not None and not any(task.owns_test(name) for task in plan.tasks):
            problems.append(f"test_files[{name!r}]: belongs to no task of the plan")
        elif f"tests/{name}" in taken:
            problems.append(f"test_files[{name!r}]: tests/{name} already stands in the repository")
    return problems


def number_problems(plan: Plan, taken: Collection[str], landed: Collection[str] = ()) -> list[str]:
    """Say which ids landed before, or have tests in the repository, from an earlier plan."""
    free, problems = first_free_id(taken, landed), []
    for task in plan.tasks:
        if task.id in landed:
            problems.append(f"{task.id}: a task of that id landed before; use ids from {free} on")
            continue
        old = [path for path in taken if _is_test_of(task, path)]
        if old:
            problems.append(
                f"{task.id}: {old[0]} already stands in the repository, and would count as a test "
                f"of this task; use ids from {free} on"
            )
    return problems


def _is_test_of(task: Task, path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return folder == "tests" and task.owns_test(name)


def task_problems(task: Task, names: Iterable[str], *, most: int | None = None) -> list[str]:
    """Say whether a task has its test file, and not more than it may have."""
    own = [name for name in names if task.owns_test(name)]
    if not own:
        return [f"{task.id}: has no test file: write tests/{task.test_prefix}<name>.py"]
    if most is not None and len(own) > most:
        return [f"{task.id}: has {len(own)} test files ({', '.join(own)}): put them into one"]
    return []


def text_problems(name: str, text: str, reading: SeedReading | None = None) -> list[str]:
    """Say whether a test file is text that parses and holds tests that always run.

    `reading` is what the interpreter that will run it reads in it, if that is another one.
    """
    where = f"tests/{name}"
    if len(text) > _LARGEST_TEST:
        return [f"{where}: is longer than {_LARGEST_TEST} characters: make it smaller"]
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        return [f"{where}: does not parse: {error}"]
    held = reading or read_here(content)
    if held.error is not None:
        return [f"{where}: does not parse: {held.error}"]
    if not held.tests:
        return [f"{where}: holds no test: write functions called test_..."]
    return [
        f"{where}:{line}: skips a test or expects it to fail: an acceptance test must always run"
        for line in held.skip_lines
    ]


def criteria_problems(
    task: Task, texts: Mapping[str, str], readings: Readings = _NONE
) -> Iterator[str]:
    """Say which criteria no test names, and which names mean no criterion."""
    count = len(task.acceptance_criteria)
    named = _named(texts, readings)
    if count > 1:
        for number in sorted(set(range(1, count + 1)) - named):
            yield (
                f"{task.id}: no test names criterion {number} "
                f"({_short(task.acceptance_criteria[number - 1])}): mark the test that proves it "
                f"with a comment `# AC-{number}`"
            )
    for number in sorted(named - set(range(1, count + 1))):
        yield f"{task.id}: a test names AC-{number}, but the task has {count} criteria"


def covered(task: Task, texts: Mapping[str, str], readings: Readings = _NONE) -> int:
    """Count the criteria that tests name; a single criterion needs no name."""
    count = len(task.acceptance_criteria)
    if count == 1:
        return 1 if texts else 0
    named = _named(texts, readings)
    return len(named & set(range(1, count + 1)))


def _named(texts: Mapping[str, str], readings: Readings) -> set[int]:
    return {
        number
        for name, text in texts.items()
        for number in named_criteria(text, readings.get(name))
    }


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 80 else flat[:79] + "…"
