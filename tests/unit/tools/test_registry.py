"""Whatever a model calls, it gets an answer."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from tilth.base.errors import DiskError
from tilth.model.messages import ToolCall
from tilth.sandbox.confinement import Access, Command, Unconfined
from tilth.tools import Toolbox

NAMES = ["bash", "read_file", "write_file", "edit_file", "glob", "grep"]


def toolbox(root: Path, confinement: Any = None) -> Toolbox:
    return Toolbox(
        root=root,
        confinement=confinement or Unconfined(),
        access=Access(),
        env={"PATH": os.environ["PATH"]},
        bash_timeout_s=5,
    )


def call(name: str, arguments: Any) -> ToolCall:
    return ToolCall(id="c1", name=name, arguments=arguments)


def test_the_tools_are_those_of_the_contract(tmp_path: Path) -> None:
    arguments = {
        spec.name: (
            list(spec.input_schema["properties"]),
            spec.input_schema.get("required", []),
        )
        for spec in toolbox(tmp_path).specs
    }

    assert arguments == {
        "bash": (["command", "timeout_seconds"], ["command"]),
        "read_file": (["path", "offset", "limit"], ["path"]),
        "write_file": (["path", "content"], ["path", "content"]),
        "edit_file": (
            ["path", "old_string", "new_string", "replace_all"],
            ["path", "old_string", "new_string"],
        ),
        "glob": (["pattern", "path"], ["pattern"]),
        "grep": (["pattern", "path", "glob"], ["pattern"]),
    }


def test_every_schema_is_an_object_that_forbids_the_unknown(tmp_path: Path) -> None:
    for spec in toolbox(tmp_path).specs:
        assert spec.input_schema["type"] == "object"
        assert not {"title", "default", "$defs", "additionalProperties"} & set(spec.input_schema)
        assert spec.description


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("arguments", "kind"), [(None, "null"), ([], "list"), ("ls", "str"), (3, "int"), (True, "bool")]
)
def test_arguments_that_are_no_object_are_an_error(
    tmp_path: Path, name: str, arguments: Any, kind: str
) -> None:
    outcome = toolbox(tmp_path).run(call(name, arguments))

    assert outcome.is_error
    assert outcome.content == f"{name}: the arguments must be a JSON object, got {kind}"


@pytest.mark.parametrize("name", NAMES)
def test_missing_arguments_are_named(tmp_path: Path, name: str) -> None:
    outcome = toolbox(tmp_path).run(call(name, {}))

    assert outcome.is_error
    required = next(
        spec.input_schema["required"] for spec in toolbox(tmp_path).specs if spec.name == name
    )
    assert all(f"{field}: is missing" in outcome.content for field in required)
    assert "\n" not in outcome.content


def test_unknown_fields_and_wrong_types_are_all_named_on_one_line(tmp_path: Path) -> None:
    arguments = {"path": ["x"], "content": None, "mode\n": 1}

    outcome = toolbox(tmp_path).run(call("write_file", arguments))

    assert outcome.is_error
    assert outcome.content == (
        "write_file: path: must be a string; content: must be a string; "
        "'mode\\n': is not an argument of this tool"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["Bash", "submit_case", "", "rm -rf", "a\nb", "\ud800"])
def test_an_unknown_tool_is_told_which_there_are(tmp_path: Path, name: str) -> None:
    outcome = toolbox(tmp_path).run(call("bash", {}).model_copy(update={"name": name}))

    assert outcome.is_error
    assert outcome.content.startswith("there is no tool ")
    assert outcome.content.endswith(f": use one of {', '.join(NAMES)}")
    assert "\n" not in outcome.content


def test_of_a_long_name_only_its_beginning_is_told(tmp_path: Path) -> None:
    name = "n" * 2_000_000
    said = f"{'n' * 99}…"
    unknown = toolbox(tmp_path).run(call("bash", {}).model_copy(update={"name": name}))
    argument = toolbox(tmp_path).run(call("bash", {"command": "true", name: 1}))

    assert unknown.content == f"there is no tool {said}: use one of {', '.join(NAMES)}"
    assert argument.content == f"bash: {said}: is not an argument of this tool"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("bash", {"command": "echo \ud800"}),
        ("read_file", {"path": "\ud800"}),
        ("write_file", {"path": "x", "content": "\ud800"}),
        ("grep", {"pattern": "\ud800"}),
        ("glob", {"pattern": "\ud800"}),
        ("write_file", {"path": "x", "content": "a\0b"}),
        ("write_file", {"path": "a\0b", "content": ""}),
        ("glob", {"pattern": "a\0b", "path": "\0"}),
        ("bash", {"command": "echo \0"}),
        ("bash", {"command": "  "}),
        ("bash", {"command": "true", "timeout_seconds": float("nan")}),
        ("bash", {"command": "true", "timeout_seconds": -1}),
        ("read_file", {"path": "x", "offset": 0}),
        ("read_file", {"path": ""}),
    ],
)
def test_text_that_cannot_be_used_is_one_clear_line(
    tmp_path: Path, name: str, arguments: dict[str, Any]
) -> None:
    outcome = toolbox(tmp_path).run(call(name, arguments))

    assert outcome.is_error
    assert "\n" not in outcome.content
    assert "unexpectedly" not in outcome.content
    assert outcome.content.encode()
    assert list(tmp_path.iterdir()) == []


class Failing:
    """A wall that cannot be built."""

    name = "failing"

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def wrap(self, command: Command, access: Access) -> Command:
        raise self.error


def test_a_fault_in_a_tool_is_an_outcome_that_names_it(tmp_path: Path) -> None:
    box = toolbox(tmp_path, Failing(RuntimeError("broken")))

    outcome = box.run(call("bash", {"command": "true"}))

    assert outcome.is_error
    assert outcome.content == "bash failed unexpectedly: RuntimeError: broken"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_not_the_models_business(tmp_path: Path, code: int) -> None:
    box = toolbox(tmp_path, Failing(OSError(code, os.strerror(code))))

    with pytest.raises(DiskError, match=os.strerror(code)):
        box.run(call("bash", {"command": "true"}))


def test_an_interrupt_passes_through(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        toolbox(tmp_path, Failing(KeyboardInterrupt())).run(call("bash", {"command": "true"}))


def test_the_guard_looks_only_at_command_lines(tmp_path: Path) -> None:
    box = toolbox(tmp_path)

    blocked = box.blocked(call("bash", {"command": "git push --force"}))

    assert blocked is not None
    assert blocked.rule == "git-push"
    assert box.blocked(call("bash", {"command": "ls"})) is None
    assert box.blocked(call("write_file", {"path": "x", "content": "git push"})) is None
    for odd in (None, [], "git push", {}, {"command": None}, {"command": ["git", "push"]}):
        assert box.blocked(call("bash", odd)) is None


def test_a_toolbox_for_reading_can_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    box = Toolbox.for_reading(tmp_path)

    assert [spec.name for spec in box.specs] == ["read_file", "glob", "grep"]
    assert box.run(call("read_file", {"path": "a.txt"})).content == "text"
    assert box.run(call("bash", {"command": "touch x"})).is_error
    assert box.run(call("write_file", {"path": "x", "content": ""})).is_error
