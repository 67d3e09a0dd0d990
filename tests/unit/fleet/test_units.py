"""Units: what the file may say, and what is refused in one line before anything is started."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from support.flow_site import KEY, Site, task

from tilth.base.errors import UserError
from tilth.fleet.units import Unit, read_units

GOOD = 'name = "a"\nbundle = "plan"\nrepo = "repo"\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    site = Site.make(tmp_path)
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan" / "prd.json").write_text(json.dumps([task(1)]), encoding="utf-8")
    (tmp_path / "empty").mkdir()
    return site.root


def read(root: Path, text: str) -> tuple[Unit, ...]:
    (root / "units.toml").write_text(text, encoding="utf-8")
    return read_units(root / "units.toml", {"HOME": str(root)})


def test_paths_are_relative_to_the_file_and_settings_are_texts(root: Path) -> None:
    (root / "py").symlink_to(sys.executable)
    settings = "settings = { TILTH_MAX_TOKENS = 5, TILTH_EVALUATE = false, TILTH_PYTHON = 'py' }\n"
    (unit,) = read(root, f"[[unit]]\n{GOOD}{settings}")
    assert unit.name == "a"
    assert unit.prd == root / "plan" / "prd.json"
    assert unit.repo == str(root / "repo")
    wanted = {"TILTH_MAX_TOKENS": "5", "TILTH_EVALUATE": "false", "TILTH_PYTHON": str(root / "py")}
    assert unit.settings == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "lists no unit"),
        ("unit = []\n", "lists no unit"),
        ("[unit]\nname = 'a'\n", "lists no unit"),
        ("unit = [1]\n", "unit 1 is not a table"),
        ("[[unit]\n", "not TOML"),
        ("a = " + "[" * 100_000, "nested too deeply"),
        ("a" + ".a" * 100_000 + " = 1", "nested too deeply"),
        ("[[units]]\n", "'units' is not known; a unit is a [[unit]] table"),
        (f"[[unit]]\n{GOOD}[[unit]]\n{GOOD}", "two units are named 'a'"),
        ("[[unit]]\nbundle = 'plan'\nrepo = 'repo'\n", "unit 1: name must be a text"),
        ("[[unit]]\nname = ' '\nbundle = 'plan'\nrepo = 'repo'\n", "unit 1: name must be a text"),
        ("[[unit]]\nname = 'a'\nrepo = 'repo'\n", "unit 1: bundle must be a text"),
        ("[[unit]]\nname = 'a'\nbundle = 'plan'\n", "unit 1: repo must be a text"),
        (f"[[unit]]\n{GOOD}jobs = 2\n", "'jobs' is not known; a unit has name, bundle"),
        ('[[unit]]\nname = "a\\nb"\nbundle = "p"\nrepo = "r"\n', "name must be one line"),
        (GOOD.join(["[[unit]]\n", "settings = 1\n"]), "settings must be a table"),
        (GOOD.join(["[[unit]]\n", "settings.TILTH_MAX_TOKEN = 1\n"]), "did you mean TILTH_MAX_TO"),
        (GOOD.join(["[[unit]]\n", "settings.max_tokens = 1\n"]), "'max_tokens' is not a setting"),
        (GOOD.join(["[[unit]]\n", f"settings.TILTH_API_KEY = '{KEY}'\n"]), "TILTH_API_KEY is secr"),
        (GOOD.join(["[[unit]]\n", "settings.ANTHROPIC_API_KEY = 'x'\n"]), "ANTHROPIC_API_KEY is s"),
        (GOOD.join(["[[unit]]\n", "settings.TILTH_EXTRA_HEADERS = '{}'\n"]), "is secret"),
        (GOOD.join(["[[unit]]\n", "settings.TILTH_NOTIFY = 'json://x'\n"]), "is secret"),
        (GOOD.join(["[[unit]]\n", "settings.TILTH_HOME = '/x'\n"]), "is the same for all units"),
        (
            GOOD.join(["[[unit]]\n", "settings.TILTH_MAX_TOKENS = 'many'\n"]),
            "TILTH_MAX_TOKENS must",
        ),
        (
            GOOD.join(["[[unit]]\n", "settings.TILTH_MAX_TOKENS = [1]\n"]),
            "must be a text, a number",
        ),
        (f"[[unit]]\n{GOOD}".replace("plan", "none"), "does not exist"),
        (f"[[unit]]\n{GOOD}".replace("plan", "empty"), "holds no prd.json"),
        (f"[[unit]]\n{GOOD}".replace('"repo"', '"none"'), "is not a directory"),
        (f"[[unit]]\n{GOOD}".replace('"repo"', '"plan"'), "is not a git repository"),
    ],
)
def test_a_bad_file_is_refused_in_one_line_that_names_the_fix(
    root: Path, text: str, said: str
) -> None:
    with pytest.raises(UserError) as refused:
        read(root, text)
    assert said in str(refused.value)
    assert str(root / "units.toml") in str(refused.value)
    assert "\n" not in str(refused.value)
    assert KEY not in str(refused.value)


def test_a_file_that_is_not_there_or_no_text_is_refused(root: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: No such file"):
        read_units(root / "none.toml", {})
    with pytest.raises(UserError, match="cannot be read: Is a directory"):
        read_units(root, {})
    (root / "raw.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="not UTF-8"):
        read_units(root / "raw.toml", {})
