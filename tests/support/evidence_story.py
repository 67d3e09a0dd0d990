"""A story of one concern that is proven: found outside the diff, half mended, then mended.

The rule that the first change breaks stands in a file it does not touch. Worker and evaluator look
at what they are shown and keep no count of their own, so a killed run ends like an undisturbed one.
"""

from __future__ import annotations

import json
from typing import Any

from support.flow_site import accept, reject, submit, write
from support.light_gate import LIGHT
from support.messages_api import Answer, Reply, Request, call

RULES = "# No sum in this project is ever above LIMIT.\nLIMIT = 100\n"
PROJECT = '[tool.tilth]\nsuite = false\n[tool.ruff]\nlint.select = ["F"]\n'
FILES = {"rules.py": RULES, "pyproject.toml": PROJECT}
LIGHT_FILES = {"rules.py": RULES, "pyproject.toml": LIGHT}
FIRST = "def add1(x):\n    return x + 1\n"
HALF = "def add1(x):\n    return min(x + 1, 101)\n"
WHOLE = "from rules import LIMIT\n\n\ndef add1(x):\n    return LIMIT if x >= LIMIT else x + 1\n"
PROBE = "from feature1 import add1\n\n\ndef test_limit():\n    assert add1(500) == 100\n"
CONCERN = "add1(500) gives 501; rules.py allows no sum above 100."

LOOK = call("read_file", path="rules.py")
TRY = call("run_probe", test=PROBE)


def proven_reject(**changes: Any) -> Answer:
    return reject(
        "spec_violation",
        concern=CONCERN,
        evidence=["feature1.py:add1"],
        next_step="Bound the sum by LIMIT.",
        **{"probe": PROBE, **changes},
    )


WORKER = [
    write("feature1.py", FIRST),
    submit(1),
    write("feature1.py", HALF),
    submit(1),
    write("feature1.py", WHOLE),
    submit(1),
]


def settled() -> Answer:
    return accept(resolved=["C1"], score=95)


def answer(request: Request) -> Reply:
    """Answer by what is shown."""
    messages = request.body["messages"]
    seen = sum(message["role"] == "user" for message in messages) - 1
    if request.role != "evaluator":
        return WORKER[min(seen, len(WORKER) - 1)]
    if "x >= LIMIT" in json.dumps(messages[0]):
        return settled()
    return [LOOK, TRY, proven_reject()][min(seen, 2)]
