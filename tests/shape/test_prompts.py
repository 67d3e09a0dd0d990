"""What every prompt part costs stands in the docs, and stays true."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tilth.contract.case import RAISE_BLOCKER, SUBMIT_CASE
from tilth.contract.ruling import SUBMIT_RULING
from tilth.contract.verdict import SUBMIT_VERDICT, SUBMIT_VERDICT_AND_PROBE
from tilth.interview.contract_review import SUBMIT_REVIEW
from tilth.interview.draft import WRITE_SEED
from tilth.interview.question import ASK_USER
from tilth.model.messages import ToolSpec
from tilth.sandbox.confinement import Access, Unconfined
from tilth.task.evaluator_tools import RUN_PROBE
from tilth.tools.registry import Toolbox

ROOT = Path(__file__).resolve().parents[2]
PROMPTS = ROOT / "tilth" / "prompts"
CONTROL = (
    *(SUBMIT_CASE, RAISE_BLOCKER, SUBMIT_VERDICT, SUBMIT_RULING),
    *(SUBMIT_REVIEW, WRITE_SEED, ASK_USER, RUN_PROBE),
)


def size_of(tool: ToolSpec) -> int:
    return len(json.dumps(tool.to_wire(), ensure_ascii=False))


def sizes(root: Path) -> dict[str, int]:
    """Measure every prompt and every tool in characters."""
    box = Toolbox(
        root=root,
        confinement=Unconfined(),
        access=Access(),
        env={},
        bash_timeout_s=1.0,
        ruff=None,
    )
    tools = {tool.name: size_of(tool) for tool in (*box.specs, *CONTROL)}
    tools["submit_verdict-with-probe"] = size_of(SUBMIT_VERDICT_AND_PROBE)
    return {path.name: len(path.read_text("utf-8")) for path in PROMPTS.glob("*.md")} | tools


def test_the_size_of_every_prompt_part_stands_in_the_docs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "prompts.md").read_text("utf-8")
    told = {
        name: int(count) for name, count in re.findall(r"^\| `([\w.-]+)` \| (\d+) \|", page, re.M)
    }
    assert told == sizes(tmp_path)


@pytest.mark.parametrize("tool", CONTROL, ids=lambda tool: tool.name)
def test_no_tool_carries_what_a_model_does_not_need(tool: ToolSpec) -> None:
    text = json.dumps(tool.input_schema)
    for noise in ('"$defs"', '"$ref"', '"default"', '"anyOf"', "path/to"):
        assert noise not in text
    assert '"title": "' not in text
