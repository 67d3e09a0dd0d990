"""A composite action, run step by step as a runner does: shell, expressions, output files."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_SHELL = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c")


@dataclass
class Action:
    """Hold an action, what it was given, and what its steps have said so far."""

    path: Path
    given: Mapping[str, str]
    workspace: Path
    temp: Path
    environ: Mapping[str, str]
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    log: str = ""

    @property
    def document(self) -> dict[str, Any]:
        return yaml.safe_load(self.path.read_text("utf-8"))

    @property
    def inputs(self) -> dict[str, str]:
        declared = self.document["inputs"]
        assert set(self.given) <= set(declared)
        missing = [name for name, about in declared.items() if about.get("required")]
        assert set(missing) <= set(self.given)
        return {
            name: self.given.get(name, about.get("default", "")) for name, about in declared.items()
        }

    @property
    def summary(self) -> str:
        return (self.temp / "summary").read_text("utf-8")

    def run(self) -> int:
        """Run its own steps; what another action does is left out. Give the last exit code."""
        code = 0
        self.temp.mkdir(exist_ok=True)
        for step in self.document["runs"]["steps"]:
            if "run" not in step or (code and "if" not in step):
                continue
            code = self._step(step) or code
        return code

    def value(self, text: str) -> str:
        """Fill in the expressions of a text."""
        return _EXPRESSION.sub(lambda found: self._evaluated(found[1]), text)

    def _step(self, step: Mapping[str, Any]) -> int:
        assert step["shell"] == "bash"
        # A value that is pasted into a script could be a script: they come as variables alone.
        assert "${{" not in step["run"]
        told = self.temp / f"output-{len(self.log)}"
        told.touch()
        environ = {
            **self.environ,
            **{name: self.value(value) for name, value in step.get("env", {}).items()},
            "GITHUB_OUTPUT": str(told),
            "GITHUB_STEP_SUMMARY": str(self.temp / "summary"),
        }
        done = subprocess.run(
            [*_SHELL, step["run"]],
            cwd=self.workspace,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.log += f"== {step['name']}: exit {done.returncode}\n{done.stdout}"
        lines = (line.partition("=") for line in told.read_text("utf-8").splitlines())
        self.outputs[step.get("id", "")] = {name: value for name, _, value in lines}
        return done.returncode

    def _evaluated(self, expression: str) -> str:
        for part in expression.split("||"):
            if found := self._looked_up(part.strip()):
                return found
        return ""

    def _looked_up(self, name: str) -> str:
        match name.split("."):
            case ["inputs", key]:
                return self.inputs[key]
            case ["steps", step, "outputs", key]:
                return self.outputs.get(step, {}).get(key, "")
            case ["github", "action_path"]:
                return str(self.path.parent)
            case ["runner", "temp"]:
                return str(self.temp)
        raise AssertionError(f"unknown in this action: {name}")
