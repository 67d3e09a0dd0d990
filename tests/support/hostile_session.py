"""One long session of a worker that tries to look done: trick after trick, each with a submission.

A round starts from the untouched base, does what its tricks say and hands that in. What the gate
and the reviewer then said is kept by the round's name.
"""

from __future__ import annotations

import base64
import io
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.flow_site import Run, Site, accept, reject, submit, task
from support.messages_api import Answer, call

WRONG = "def add(a, b):\n    return 0\n"
RIGHT = "def add(a, b):\n    return a + b\n"
SEED = "tests/test_t001_add.py"
ADD_TEST = """\
from calc import add


def test_add():
    assert add(2, 3) == 5


def test_add_of_negatives():
    assert add(-1, -1) == -2
"""
SECOND_TEST = "from calc import double\n\n\ndef test_double():\n    assert double(4) == 8\n"
BASE = {
    "calc.py": "x = 1\n",
    "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef two():\n    return 2\n",
    "pyproject.toml": '[project]\nname = "calc"\nversion = "1"\n\n'
    '[tool.pytest.ini_options]\naddopts = "-q"\n\n[tool.ruff.lint]\nselect = ["F"]\n',
    ".gitignore": "local/\n",
}
RESET = "find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +; git archive HEAD | tar x"
CASE = {"ac_coverage": [{"criterion": "1", "addressed_by": "calc.py:add"}]}

Step = str | Mapping[str, str]


@dataclass(frozen=True)
class Trick:
    """Hold what a worker does: command lines, and files by their path.

    `restored` are the paths that the gate must put right and say so.
    """

    steps: tuple[Step, ...]
    restored: tuple[str, ...] = ()


def plants(content: Mapping[str, str], *steps: str) -> Trick:
    return Trick((*steps, content), tuple(content))


@dataclass(frozen=True)
class Round:
    """Hold the tricks of one submission, on top of some code."""

    tricks: tuple[Trick, ...]
    code: str | None = WRONG
    judged: bool = False

    def answer(self, name: str) -> Answer:
        first = {} if self.code is None else {"calc.py": self.code}
        steps = (RESET, first, *(step for trick in self.tricks for step in trick.steps))
        lines = (step if isinstance(step, str) else _unpacking(step) for step in steps if step)
        (case,) = submit(1, **CASE).blocks
        # One call for all of it: a submission for every trick takes long enough.
        return call("bash", command="\n".join(lines)) + Answer(blocks=({**case, "id": name},))


def _unpacking(content: Mapping[str, str]) -> str:
    """Write files of any content, by one command line."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in content.items():
            about = tarfile.TarInfo(name)
            about.size = len(text.encode())
            archive.addfile(about, io.BytesIO(text.encode()))
    return f"base64 -d <<< {base64.b64encode(packed.getvalue()).decode()} | tar xz --no-same-owner"


@dataclass(frozen=True)
class Told:
    """Hold what came of one submission."""

    content: str
    reports: Mapping[str, Mapping[str, Any]]
    tampered: tuple[str, ...]
    notes: tuple[str, ...]
    review: str | None


@dataclass(frozen=True)
class Played:
    """Hold what came of a whole session."""

    run: Run
    told: Mapping[str, Told]


def play(root: Path, rounds: Mapping[str, Round], second: Mapping[str, Round]) -> Played:
    """Play the rounds, then do the work honestly; then the same for a second task."""
    site = Site.make(root, BASE)
    site.settings = {"TILTH_SANDBOX": "auto", "TILTH_MAX_ITERATIONS_PER_TASK": "200"}
    bundle = site.bundle(tasks=[task(1), task(2, depends_on=["T-001"])])
    (bundle / "tests" / "test_t001_add.py").write_text(ADD_TEST)
    (bundle / "tests" / "test_t002_double.py").write_text(SECOND_TEST)
    double = f"{RIGHT}\n\ndef double(a):\n    return add(a, a)\n"
    everything = {**rounds, "honest": Round((), RIGHT), **second, "honest too": Round((), double)}
    verdicts = [
        # Another place each time: the same one three times over would end the task.
        reject(evidence=[f"place{number}.py"])
        for number, one in enumerate(everything.values())
        if one.judged
    ]
    run = site.run(
        bundle,
        worker=[one.answer(name) for name, one in everything.items()],
        evaluator=_in_order(everything, verdicts),
    )
    return Played(run, dict(_told(run, everything)))


def _in_order(rounds: Mapping[str, Round], verdicts: Sequence[Answer]) -> Iterator[Answer]:
    left = iter(verdicts)
    for name, one in rounds.items():
        if one.judged:
            yield next(left)
        elif name.startswith("honest"):
            yield accept()


def _told(run: Run, rounds: Mapping[str, Round]) -> Iterator[tuple[str, Told]]:
    reviews = iter(run.asked("evaluator"))
    events: dict[str, list[dict[str, Any]]] = {}
    name = ""
    for event in run.events:
        if event["type"] == "case_submitted":
            name = event["payload"]["call_id"]
        events.setdefault(name, []).append(event)
    for name in rounds:
        found = events.get(name, [])
        results = [e["payload"] for e in found if e["type"] == "tool_result"]
        tampering = [e["payload"] for e in found if e["type"] == "seed_tampered"]
        asked = any(
            e["type"] == "evaluator_verdict" and e["payload"]["source"] == "evaluator"
            for e in found
        )
        yield (
            name,
            Told(
                content=next((r["content"] for r in results if r["call_id"] == name), ""),
                reports={
                    e["payload"]["name"]: e["payload"]
                    for e in found
                    if e["type"] == "validator_run"
                },
                tampered=tuple(path for item in tampering for path in item["files"]),
                notes=tuple(note for item in tampering for note in item["notes"]),
                review=_text(next(reviews).body) if asked else None,
            ),
        )


def _text(body: Mapping[str, Any]) -> str:
    return "\n".join(block["text"] for block in body["messages"][0]["content"])
