"""A suite of two tiny cases, and scripted evaluators whose mistakes are known beforehand."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.flow_site import Site, accept, reject
from support.messages_api import Answer, MessagesServer, Reply, Request
from support.suite_case import HEADER, patch, write_case
from tilth.evalcheck.run import eval_check
from tilth.evalcheck.wanted import Wanted

# What stands in a change's diff, and what the change is.
RIGHT = {"n % 2 == 0": "remainder", "not n & 1": "last-bit"}
SECOND = "Find out even"
WRONG = {"n > 0 and": "above-zero", "n in (2,": "only-some"}


def write_suite(folder: Path) -> Path:
    """Write a suite of one case with two right and two wrong changes."""
    write_case(
        folder,
        {
            "right/last-bit.patch": patch("    return not n & 1\n"),
            "wrong/only-some.patch": patch("    return n in (2, 4, 6)\n", "Only three of them."),
        },
    )
    return folder


def write_second(folder: Path) -> Path:
    """Add a case of another category, with one right and one wrong change."""
    header = HEADER.replace("even-numbers", "odd-numbers").replace("Tell even", SECOND)
    header = header.replace("tests_pass_but_wrong", "half_finished")
    write_case(folder / "made", {"case.toml": header}).rename(folder / "odd-numbers")
    (folder / "made").rmdir()
    return folder


def told(request: Request) -> str:
    """Give the one message an evaluator judges by."""
    return str(request.body["messages"][0]["content"][0]["text"])


def is_wrong(request: Request) -> bool:
    """Tell a wrong change of these suites by its diff."""
    return any(part in told(request) for part in WRONG)


def ideal(request: Request) -> Answer:
    """Judge as a perfect evaluator would; a bar above its score asks for a next step."""
    if is_wrong(request):
        return reject("tests_pass_but_wrong", score=30)
    return accept(score=95, next_step="Name it better.")


@dataclass(frozen=True)
class Checked:
    """Hold what one run of the command came to."""

    code: int
    out: str
    err: str
    requests: tuple[Request, ...]

    @property
    def document(self) -> dict[str, Any]:
        return json.loads(self.out)


def run_check(
    site: Site,
    script: Callable[[Request], Reply],
    *,
    as_json: bool = True,
    wanted: Wanted,
    **settings: str,
) -> Checked:
    """Run the command against a script of its own."""
    with MessagesServer(script) as server:
        return check_at(server, site, wanted, as_json=as_json, **settings)


def check_at(
    server: MessagesServer, site: Site, wanted: Wanted, *, as_json: bool = True, **settings: str
) -> Checked:
    """Run the command as the program does, with what it prints kept."""
    before = len(server.requests)
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        environ = site.environ(server.url, **{"TILTH_SANDBOX": "auto", **settings})
        code = eval_check(wanted, as_json=as_json, environ=environ)
    return Checked(code, out.getvalue(), err.getvalue(), tuple(server.requests[before:]))
