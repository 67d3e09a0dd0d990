"""What finished waiting jobs do, and what they leave behind."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

from nightly.queue import JobFailed, JobQueue, QueueError
from nightly.states import State


def fail():
    raise JobFailed("broken")


def fine():
    return None


def run_all(queue):
    """Run until nothing is ready, at most 50 jobs; gives the names in the order of running."""
    names = []
    while len(names) < 50 and (name := queue.run_next()) is not None:
        names.append(name)
    return names


ROOT = Path(__file__).resolve().parents[1]
OPEN_END = re.compile(r"\b(TO[D]O|FIX[M]E|XX[X]|HACK|WIP)\b", re.IGNORECASE)


def sources():
    """Give the text of each of the project's modules, the tests left out."""
    paths = (p for p in ROOT.rglob("*.py") if "tests" not in p.relative_to(ROOT).parts)
    return {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8") for p in sorted(paths)}


def nodes(source, *kinds):
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]


def comments(source):
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [t.string.lstrip("#").strip() for t in tokens if t.type == tokenize.COMMENT]


def is_code(comment):
    """Tell a statement that was commented out from words."""
    try:
        body = ast.parse(comment).body
    except SyntaxError:
        return False
    kinds = (ast.Assign, ast.AugAssign, ast.Return, ast.Raise, ast.Import, ast.ImportFrom)
    return any(
        isinstance(node, kinds) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        for node in body
    )


def test_no_debugging_output_is_left():
    for name, source in sources().items():
        called = {
            node.func.id for node in nodes(source, ast.Call) if isinstance(node.func, ast.Name)
        }
        assert not called & {"print", "pprint", "breakpoint"}, name
        assert "sys.std" not in source, name


def test_no_open_end_and_no_code_in_comments_is_left():
    for name, source in sources().items():
        found = [c for c in comments(source) if OPEN_END.search(c) or is_code(c)]
        assert not found, name
        assert "NotImplemented" not in source, name


def test_no_branch_or_function_is_left_empty():
    for name, source in sources().items():
        for node in nodes(source, ast.If, ast.For, ast.While, ast.FunctionDef):
            for body in (node.body, getattr(node, "orelse", [])):
                assert not (body and isinstance(body[-1], ast.Pass)), f"{name}:{node.lineno}"


def test_nothing_is_left_that_nothing_uses():
    for name, source in sources().items():
        used = {node.id for node in nodes(source, ast.Name)}
        used |= {node.attr for node in nodes(source, ast.Attribute)}
        defined = {node.name for node in nodes(source, ast.FunctionDef) if private(node.name)}
        imports = nodes(source, ast.Import, ast.ImportFrom)
        if not name.endswith("__init__.py"):
            defined |= {a.asname or a.name for node in imports for a in node.names}
        assert not defined - used - {"annotations"}, name


def private(name):
    return name.startswith("_") and not name.startswith("__")


def test_a_job_waits_for_all_it_names():
    queue = JobQueue()
    queue.add("a", fine)
    queue.add("b", fine)
    queue.add("c", fine, after=("a", "b"))
    queue.run_next()
    assert queue.state("c") is State.WAITING
    assert run_all(queue) == ["b", "c"]


def test_a_job_behind_a_done_one_is_ready_at_once():
    queue = JobQueue()
    queue.add("a", fine)
    queue.run_next()
    queue.add("b", fine, after=["a"])
    assert queue.state("b") is State.READY


def test_nothing_is_added_if_one_of_the_names_is_unknown():
    queue = JobQueue()
    queue.add("a", fine)
    with pytest.raises(QueueError):
        queue.add("b", fine, after=["a", "nobody"])
    with pytest.raises(QueueError):
        queue.add("c", fine, after=["c"])
    with pytest.raises(QueueError):
        queue.state("b")
    assert sum(queue.summary().values()) == 1


@pytest.mark.parametrize("end", ["fail", "cancel"])
def test_everything_behind_is_skipped_through_other_jobs_too(end):
    queue = JobQueue()
    queue.add("a", fail)
    queue.add("b", fine, after=["a"])
    queue.add("c", fine, after=["b"])
    queue.add("d", fine, after=["c"])
    queue.add("other", fine)
    if end == "cancel":
        queue.cancel("a")
    else:
        queue.run_next()
    assert [queue.state(name) for name in "bcd"] == [State.SKIPPED] * 3
    assert run_all(queue) == ["other"]


def test_cancelling_a_waiting_job_skips_what_waits_for_it():
    queue = JobQueue()
    queue.add("a", fine)
    queue.add("b", fine, after=["a"])
    queue.add("c", fine, after=["b"])
    queue.cancel("b")
    assert queue.state("c") is State.SKIPPED
    assert queue.state("a") is State.READY


def test_a_job_added_behind_one_that_will_never_be_done_is_skipped():
    queue = JobQueue()
    queue.add("failed", fail)
    queue.run_next()
    queue.add("gone", fine)
    queue.cancel("gone")
    queue.add("x", fine, after=["failed"])
    queue.add("y", fine, after=["gone"])
    queue.add("z", fine, after=["x"])
    assert [queue.state(name) for name in "xyz"] == [State.SKIPPED] * 3
    assert queue.run_next() is None


def test_a_skipped_job_stays_skipped_and_cannot_be_cancelled():
    queue = JobQueue()
    queue.add("a", fail)
    queue.add("b", fine)
    queue.add("c", fine, after=["a", "b"])
    assert run_all(queue) == ["a", "b"]
    assert queue.state("c") is State.SKIPPED
    for name in "abc":
        with pytest.raises(QueueError):
            queue.cancel(name)


def test_the_summary_counts_every_state_in_order():
    queue = JobQueue()
    assert queue.summary() == {state.value: 0 for state in State}
    queue.add("a", fail)
    queue.add("b", fine, after=["a"])
    queue.add("c", fine)
    queue.add("d", fine, after=["c"])
    queue.run_next()
    summary = queue.summary()
    assert list(summary) == [state.value for state in State]
    assert {name: count for name, count in summary.items() if count} == {
        "failed": 1,
        "skipped": 1,
        "ready": 1,
        "waiting": 1,
    }


def test_a_long_chain_is_no_trouble():
    queue = JobQueue()
    queue.add("0", fail)
    for number in range(1, 3000):
        queue.add(str(number), fine, after=[str(number - 1)])
    queue.run_next()
    assert queue.state("2999") is State.SKIPPED
