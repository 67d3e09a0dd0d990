"""`make real`: real projects, as their developers have them, through the gate and a whole session.

Each is fetched, put under git and given a `.venv`. Its suite is run there, then a session with one
small task and a scripted model works on it. What the gate's run on the base counts must be what the
developer counts, and the session must end done.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from bench.endpoint import ROOT
from bench.real_home import settle, suite_at_home
from bench.sources import fetch

sys.path.insert(0, str(ROOT / "tests"))

from support.messages_api import MessagesServer, by_role, call  # tests/ is no package

# What a project's tests need beside the project.
PROJECTS: Mapping[str, tuple[str, ...]] = {
    "iniconfig": (),
    "humanize": ("freezegun", "pytest-benchmark"),
    "inflection": (),
    "itsdangerous": ("freezegun",),
    "python-slugify": (),
    "tabulate": (),
    "cachetools": (),
    "pluggy": (),
    "markupsafe": (),
    "toolz": (),
    "zipp": ("jaraco.itertools", "jaraco.functools", "jaraco.test", "more_itertools", "big-O"),
    "wcwidth": ("pytest-cov",),
    "platformdirs": ("appdirs", "covdefaults", "pytest-cov", "pytest-mock"),
    "tomlkit": ("PyYAML",),
    "click": (),
    "jinja2": ("trio",),
    "boltons": (),
    "more-itertools": (),
    "structlog": ("pytest-asyncio", "simplejson", "time-machine", "rich", "twisted"),
    "pytest-mock": ("pytest-asyncio",),
    "pytest-timeout": ("pytest-cov", "pexpect"),
    "packaging": ("pretend", "tomli_w", "hypothesis"),
    "pathspec": (),
    "simplejson": (),
    "prettytable": ("pytest-lazy-fixtures",),
    "tinydb": ("pyyaml", "pytest-cov"),
}
_TASK = {
    "id": "T-001",
    "title": "Add one",
    "description": "The new module tilth_sample has a function add_one.",
    "acceptance_criteria": ["add_one(x) gives x + 1"],
}
_SEED = """\
from tilth_sample import add_one


def test_add_one() -> None:  # AC-1
    assert add_one(1) == 2
"""
_MODULE = '''\
"""Sample arithmetic."""

from __future__ import annotations


def add_one(x: int) -> int:
    """Give x + 1."""
    return x + 1
'''
_ENDINGS = ("passed", "failed", "errors", "skipped", "xfailed")


@dataclass
class Result:
    """Hold what was measured of one project."""

    name: str
    version: str = ""
    home: Mapping[str, int] = field(default_factory=dict)
    gate: Mapping[str, int] = field(default_factory=dict)
    carried: int = 0
    cases: int = 0
    code: int = -1
    said: str = ""

    @property
    def is_equal(self) -> bool:
        return all(self.home.get(each, 0) == self.gate.get(each, 0) for each in _ENDINGS)

    @property
    def holds(self) -> bool:
        return self.is_equal and self.code == 0

    def row(self) -> str:
        """Give a row of a table."""
        ending = "done" if self.code == 0 else f"exit {self.code}"
        ending += f", {self.cases} cases" if self.cases > 1 else ""
        counts = " | ".join(map(_counts, (self.home, self.gate)))
        return f"| {self.name} | {self.version} | {counts} | {self.carried} | {ending} |"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{counts[each]} {each}" for each in _ENDINGS if counts.get(each)) or "none"


def measure(name: str) -> Result:
    """Fetch a project, run its suite at home, and run a session on it."""
    with tempfile.TemporaryDirectory(prefix="tilth-real-") as place:
        root = Path(place)
        source = fetch(name, root)
        result = Result(name, source.name.rpartition("-")[2])
        settle(source, PROJECTS.get(name, ()))
        result.home = Counter(suite_at_home(source, root).values())
        _run(source, root, result)
        return result


def _run(source: Path, root: Path, result: Result) -> None:
    bundle = root / "bundle"
    (bundle / "tests").mkdir(parents=True)
    (bundle / "prd.json").write_text(json.dumps([_TASK]))
    (bundle / "tests" / "test_t001_add_one.py").write_text(_SEED)
    result.code, result.said = _session(bundle, source, root)
    for line in _log(root / "home" / "sessions"):
        payload = line["payload"]
        if line["type"] == "carried":
            result.carried = len(payload["files"])
        result.cases += line["type"] == "case_submitted"
        if line["type"] == "validator_run" and payload["name"] == "suite" and not result.gate:
            result.gate = payload["tests"] or {}


def _session(bundle: Path, source: Path, root: Path) -> tuple[int, str]:
    from tilth.base.errors import TilthError
    from tilth.interview.preflight import preflight
    from tilth.session.start import start
    from tilth.show.terminal import terminal

    case = {
        "summary": "Added add_one.",
        "ac_coverage": [{"criterion": "1", "addressed_by": "tilth_sample.py:add_one"}],
    }
    module = _header_of(source) + _MODULE
    work = call("write_file", path="tilth_sample.py", content=module)
    criteria = [{"n": 1, "met": True, "by": "test", "evidence": "test_add_one"}]
    verdict = {"verdict": "accept", "rejection_category": None, "concern": "Sound."}
    ruling = call("submit_verdict", **verdict, criteria=criteria)
    # What a worker does that is told by the project's own rules that a notice is missing.
    again = call(
        "write_file", path="tilth_sample.py", content=f"# Copyright 2026 the authors\n{module}"
    )
    worker = [each + call("submit_case", **case) for each in (work, again, again)]
    said = io.StringIO()
    with MessagesServer(by_role(worker=worker, evaluator=[ruling])) as server:
        environ = _environ(server.url, root)
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                how = {"preflight": preflight, "environ": environ, "frontend": terminal()}
                made = start(bundle, source, new=True, ping=False, **how)
        except TilthError as error:
            return 2, f"{said.getvalue()}\n{error}"
    return made.exit_code, said.getvalue()


def _header_of(source: Path) -> str:
    """Give the comments with which the project's own files begin, which its rules may ask for."""
    found = sorted((*source.glob("src/*/__init__.py"), *source.glob("*/__init__.py")))
    lines = found[0].read_text(encoding="utf-8").splitlines() if found else []
    head = list(takewhile(lambda line: line.startswith("#"), lines))
    return "".join(f"{line}\n" for line in (*head, "")) if head else ""


def _environ(url: str, root: Path) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(root),
        "TILTH_HOME": str(root / "home"),
        "TILTH_API_KEY": "sk-real-0123456789abcdef",
        "TILTH_BASE_URL": url,
        "TILTH_WORKER_MODEL": "claude-sonnet-5-5",
        "TILTH_MUTATION_SECONDS": "5",
        "TILTH_VALIDATOR_TIMEOUT_SECONDS": "900",
    }


def _log(sessions: Path) -> list[dict[str, Any]]:
    logs = sorted(sessions.glob("*/events.jsonl"))
    return [json.loads(line) for line in logs[-1].read_text().splitlines()] if logs else []


def main(names: tuple[str, ...]) -> int:
    """Print a row a project; 1 if more than one in twenty does not hold."""
    sys.stdout.write("| project | version | at home | in the gate | carried | session |\n")
    sys.stdout.write("|---|---|---|---|---|---|\n")
    failed, wanted = 0, names or tuple(PROJECTS)
    for name in wanted:
        try:
            result = measure(name)
        except (subprocess.SubprocessError, ValueError, OSError) as error:
            sys.stderr.write(f"{name}: not measured: {error}\n")
            failed += 1
            continue
        sys.stdout.write(f"{result.row()}\n")
        sys.stdout.flush()
        if not result.holds:
            failed += 1
            sys.stderr.write(f"{name}: {result.said[-6000:]}\n")
    return 1 if failed * 20 > len(wanted) else 0


if __name__ == "__main__":
    sys.exit(main(tuple(sys.argv[1:])))
