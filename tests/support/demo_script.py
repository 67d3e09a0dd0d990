"""The demo's script: what worker and evaluator say, and how the recording is made from it.

    .venv/bin/python tests/support/demo_script.py

runs the real `tilth run` on the demo's project against a scripted endpoint and writes its log to
`tilth/demo/events.jsonl`. Nothing of the machine it was made on stays in it.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from support.commands import start  # noqa: E402
from support.messages_api import Answer, MessagesServer, Request, call, say  # noqa: E402  # tests/ is no package
from tilth.demo.material import RECORDING, lay_out_bundle, lay_out_project  # noqa: E402

WORKER, EVALUATOR = "claude-sonnet-5-5", "claude-opus-5-5"

REMINDERS = '''\
"""Whom to remind."""

from collections.abc import Iterable
from datetime import date

from invoices.invoice import Invoice


def overdue(invoices: Iterable[Invoice], today: date) -> list[Invoice]:
    """Give the unpaid invoices whose due date has passed, the oldest first."""
    late = [invoice for invoice in invoices if not invoice.paid and invoice.due <= today]
    return sorted(late, key=lambda invoice: invoice.due)
'''

TERMS = '''\
"""Payment terms."""

from datetime import date, timedelta

SATURDAY = 5


def due_date(issued: date, days: int) -> date:
    """Give the day an invoice is due; one that falls on a weekend moves to Monday."""
    if days < 0:
        raise ValueError(f"days must not be negative, got {days}")
    due = issued + timedelta(days=days)
    if due.weekday() >= SATURDAY:
        due += timedelta(days=2)
    return due
'''

TERMS_TEST = """\
from datetime import date

import pytest

from invoices.terms import due_date

MONDAY = date(2026, 3, 16)


@pytest.mark.parametrize("day", [13, 14, 15, 16])
def test_around_a_weekend_only_the_weekend_moves(day):
    issued = date(2026, 3, day)
    assert due_date(issued, 0) == (issued if day == 13 else MONDAY)
"""

OVERDUE_CASE = {
    "summary": "Added overdue(): unpaid invoices past their due date, the oldest first.",
    "ac_coverage": [
        {"criterion": "1", "addressed_by": "invoices/reminders.py:overdue"},
        {"criterion": "2", "addressed_by": "invoices/reminders.py:overdue"},
    ],
}
DUE_CASE = {
    "summary": "Added due_date(): calendar days, moved off the weekend, negative days refused.",
    "ac_coverage": [
        {
            "criterion": str(number),
            "addressed_by": "invoices/terms.py:due_date",
            "evidence": "tests/test_t002_due_date.py passes",
        }
        for number in (1, 2, 3)
    ],
}


def worker() -> Iterator[Answer]:
    """Say what the worker says, one answer after another."""
    yield say("I look at what is there before I add to it.") + call(
        "bash", command="ls invoices tests && cat invoices/invoice.py"
    )
    yield say("A small pure function. I write it next to the invoice.") + call(
        "write_file", path="invoices/reminders.py", content=REMINDERS
    )
    yield say("That covers both criteria, so I hand it in.") + call("submit_case", **OVERDUE_CASE)
    yield (
        say("An invoice that is due today is not late yet: `<=` must be `<`.")
        + call(
            "edit_file",
            path="invoices/reminders.py",
            old_string="invoice.due <= today",
            new_string="invoice.due < today",
        )
        + call("bash", command="python -m pytest -q tests/test_t001_overdue.py")
    )
    yield say("Green, and I have seen it this time.") + call("submit_case", **OVERDUE_CASE)
    yield (
        say("I read this task's tests and check how dates are handled so far.")
        + call("read_file", path="tests/test_t002_due_date.py")
        + call("grep", pattern="timedelta|weekday", path="invoices")
    )
    yield (
        say("Nothing to build on, so a module of its own.")
        + call("write_file", path="invoices/terms.py", content=TERMS)
        + call("bash", command="python -m pytest -q tests")
    )
    yield say("All tests pass.") + call("submit_case", **DUE_CASE)
    yield (
        say("Right: from a Sunday, Monday is one day away, not two. I count to Monday.")
        + call(
            "edit_file",
            path="invoices/terms.py",
            old_string="due += timedelta(days=2)",
            new_string="due += timedelta(days=7 - due.weekday())",
        )
        + call("write_file", path="tests/test_terms.py", content=TERMS_TEST)
        + call("bash", command="python -m pytest -q tests")
    )
    yield say("Saturday, Sunday and the days around them are covered now.") + call(
        "submit_case",
        **DUE_CASE,
        learnings=["Seed tests check one day of a weekend; test both when a rule names both."],
    )


def evaluator() -> Iterator[Answer]:
    """Say what the evaluator says, one verdict after another."""
    yield call(
        "submit_verdict",
        verdict="accept",
        rejection_category=None,
        concern="Compares strictly, leaves paid invoices out and sorts by due date, as asked.",
        evidence=["invoices/reminders.py:overdue"],
        next_step=None,
        score=94,
    )
    yield call(
        "submit_verdict",
        verdict="reject",
        rejection_category="tests_pass_but_wrong",
        concern=(
            "A Sunday is moved by two days, to Tuesday. due_date(date(2026, 1, 2), 30) is Sunday "
            "1 February and comes out as 3 February. The test tries a Saturday only."
        ),
        evidence=["invoices/terms.py:due_date"],
        next_step="Move both days to the Monday after, and test a Sunday.",
        score=45,
    )
    yield call(
        "submit_verdict",
        verdict="accept",
        rejection_category=None,
        concern="Saturday and Sunday both land on Monday now, and a test holds it.",
        evidence=["invoices/terms.py:due_date", "tests/test_terms.py"],
        next_step=None,
        score=96,
        resolved=["C1"],
    )


class Endpoint:
    """Answer from the script, with the usage such a conversation would have."""

    def __init__(self) -> None:
        self._scripts = {"worker": worker(), "evaluator": evaluator()}
        self._cached = 0

    def __call__(self, request: Request) -> Answer:
        answer = next(self._scripts[request.role])
        first = len(request.body["messages"]) == 1
        spoken = len(json.dumps(answer.blocks)) // 4 + 40
        read, wrote = (0, 4200) if first else (self._cached, 620)
        if request.role == "worker":
            self._cached = read + wrote + spoken
        usage = {
            "input_tokens": 6,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": wrote,
            "output_tokens": spoken,
        }
        return answer.but(usage=usage)


def record(gate: Callable[[dict[str, str]], dict[str, str]] = dict) -> str:
    """Run the demo's PRD against the script and give its log, free of this machine.

    `gate` says of the settings how a gate starts: a cold one names no place of its own.
    """
    with tempfile.TemporaryDirectory() as name, MessagesServer(Endpoint()) as server:
        root = Path(name).resolve()
        source = lay_out_project(root / "invoices")
        bundle = lay_out_bundle(root / "bundle")
        environ = {
            "TILTH_HOME": str(root / "home"),
            "TILTH_API_KEY": "none",
            "TILTH_BASE_URL": server.url,
            "TILTH_WORKER_MODEL": WORKER,
            "TILTH_EVALUATOR_MODEL": EVALUATOR,
            "TILTH_SANDBOX": "off",
        }
        with contextlib.redirect_stderr(io.StringIO()) as talk:
            code = start(bundle, source.root, {}, new=True, environ=gate(environ))
        if code != 0:
            raise RuntimeError(f"the demo's run ended with {code}:\n{talk.getvalue()}")
        [log] = (root / "home" / "sessions").glob("*/events.jsonl")
        lines = map(json.loads, log.read_text("utf-8").splitlines())
        return "".join(f"{_written(_cleaned(line))}\n" for line in lines)


def _cleaned(line: dict[str, Any]) -> dict[str, Any]:
    """Take this machine out of an event; no request is touched, so every hash stays true."""
    payload = line["payload"]
    if line["type"] == "session_start":
        payload["source"] = "/demo/invoices"
        payload["settings"] |= {
            "TILTH_HOME": "/demo",
            "TILTH_SESSIONS_DIR": "/demo/sessions",
            "TILTH_PYTHON": "auto",
            **{name: "" for name in payload["settings"] if name.endswith("_BASE_URL")},
        }
    elif line["type"] == "prompt_assembled":
        payload["endpoint"] = "https://api.anthropic.com"
    elif line["type"] == "model_call":
        payload["latency_ms"] = 700 + 22 * payload["usage"]["output_tokens"]
    elif line["type"] == "validator_run":
        payload["output"] = re.sub(r"(?m)^/\S*/(importlib/\S+)", r"/python/\1", payload["output"])
    return line


def _written(line: dict[str, Any]) -> str:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


_PASSING: tuple[tuple[str, str], ...] = (
    (r'"ts":"[^"]*"', '"ts":""'),
    (r'"tilth_version":"[^"]*"', '"tilth_version":""'),
    (r'"duration_ms":\d+', '"duration_ms":0'),
    (r"\b\d+\.\d+s\b", "0s"),
    (r"\b\d{8}-\d{6}-[0-9a-f]{6}\b", "<session>"),
)


def essence(log: str) -> list[str]:
    """Give a log's lines without what differs from run to run; ids are told by their order.

    What models are told and the settings in force grow with the program, while a recording is kept:
    what counts is that the same answers still lead to the same calls, gates, verdicts and commits.
    """
    lines = [json.loads(line) for line in log.splitlines()]
    # What is foretold depends on how fast it went.
    lines = [line for line in lines if line["type"] != "forecast"]
    for number, line in enumerate(lines, start=1):
        line["seq"] = number
        payload = line["payload"]
        match line["type"]:
            case "session_start":
                line["payload"] = {}
            case "prompt_assembled":
                line["payload"] = {"role": payload["role"]}
            case "model_call":
                del payload["request_sha256"]
            case "tool_result" if payload["name"] == "submit_case":
                del payload["content"], payload["sha256"]
            case "challenge":
                # Which expectations are made false is drawn by lot; that those turn red is not.
                runs = payload["runs"]
                payload["runs"] = all(one["false"] == one["red"] for one in runs)
            case "validator_run" if payload["phase"] == "base":
                # A traceback through the interpreter: each Python draws its own.
                payload["output"] = ""
    text = "\n".join(map(_written, lines))
    for pattern, name in _PASSING:
        text = re.sub(pattern, name, text)
    known: dict[str, str] = {}
    return re.sub(
        r"(?<![0-9a-f])[0-9a-f]{12,64}(?![0-9a-f])",
        lambda m: known.setdefault(m[0], f"id{len(known)}"),
        text,
    ).splitlines()


def first_change(before: Iterable[str], after: Iterable[str]) -> str | None:
    """Name the first line of two logs that differs."""
    for number, (old, new) in enumerate(zip(before, after, strict=False), start=1):
        if old != new:
            at = next(
                i for i, (a, b) in enumerate(zip(old + "\n", new + "\n", strict=False)) if a != b
            )
            span = slice(max(0, at - 80), at + 80)
            return f"line {number}: …{old[span]}… is now …{new[span]}…"
    return None


if __name__ == "__main__":
    RECORDING.write_text(record(), encoding="utf-8")
    print(f"wrote {RECORDING.relative_to(ROOT)}")
