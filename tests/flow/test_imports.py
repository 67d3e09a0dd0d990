"""The worker's shell finds what the gate finds, however pytest is called there."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.flow_site import Site
from support.messages_api import call

FILES = {
    "top.py": "WHERE = 'root'\n",
    "src/inner/__init__.py": "WHERE = 'src'\n",
    "checks/test_both.py": (
        "import inner\nimport top\n\n\ndef test_both():\n    assert inner.WHERE + top.WHERE\n"
    ),
}


@pytest.mark.parametrize("sandbox", ["off", "auto"])
def test_bare_pytest_imports_what_the_gate_imports(tmp_path: Path, sandbox: str) -> None:
    site = Site.make(tmp_path, FILES)
    ways = ("pytest -q checks", "python -m pytest -q checks")
    commands = [call("bash", command=way) for way in ways]
    run = site.run(site.bundle(1), worker=commands, TILTH_SANDBOX=sandbox)
    assert ["1 passed" in each["content"] for each in run.of("tool_result")] == [True, True]
    base = next(each for each in run.of("validator_run") if each["name"] == "suite")
    assert base["tests"]["passed"] == 1
