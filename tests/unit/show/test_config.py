"""`tilth config` and `tilth init`: what is in force and why, and a file to begin with."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support.git_repo import Repo
from support.session_files import Shelf, snapshot

from tilth.base.errors import BadSetting, DiskError, UserError
from tilth.config.init import init
from tilth.config.reference import env_example
from tilth.config.settings import VARIABLES, load
from tilth.show.config import config

KEY = "sk-test-0123456789abcdef"


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir()
    return Shelf(tmp_path)


def document(shelf: Shelf, capsys: pytest.CaptureFixture[str], **environ: str) -> Any:
    assert config(as_json=True, environ={**shelf.environ, **environ}) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return json.loads(said.out)


def by_name(said: Any) -> dict[str, Any]:
    return {entry["name"]: entry for entry in said["settings"]}


def test_every_setting_is_there_with_its_value_and_origin(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    (shelf.root / "home" / ".env").write_text("TILTH_MAX_TOKENS=7\n")
    said = by_name(document(shelf, capsys, ANTHROPIC_BASE_URL="http://127.0.0.1:9"))
    assert list(said) == [variable.name for variable in VARIABLES]
    tokens, url, python = (said[f"TILTH_{name}"] for name in ("MAX_TOKENS", "BASE_URL", "PYTHON"))
    assert (tokens["value"], tokens["source"]) == ("7", "file")
    assert (url["source"], url["variable"]) == ("environment", "ANTHROPIC_BASE_URL")
    assert (python["value"], python["source"]) == ("auto", "default")


def test_keys_are_masked_in_both_forms(shelf: Shelf, capsys: pytest.CaptureFixture[str]) -> None:
    secrets = {"TILTH_API_KEY": KEY, "TILTH_EXTRA_HEADERS": f'{{"x-api-key": "{KEY}"}}'}
    for as_json in (True, False):
        assert config(as_json=as_json, environ={**shelf.environ, **secrets}) == 0
        said = capsys.readouterr()
        assert KEY not in said.out + said.err
        assert "sk-…cdef" in said.out


def test_an_unknown_name_is_a_warning_with_what_was_meant(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    assert config(as_json=False, environ={**shelf.environ, "TILTH_MAX_TOKEN": "1"}) == 0
    assert "warning: TILTH_MAX_TOKEN in the environment is not a setting; did you mean " in (
        capsys.readouterr().err
    )
    warnings = document(shelf, capsys, TILTH_MAX_TOKEN="1")["warnings"]
    assert len(warnings) == 1


def test_a_value_that_cannot_be_read_is_named(shelf: Shelf) -> None:
    with pytest.raises(BadSetting, match="TILTH_MAX_TOKENS must be"):
        config(as_json=False, environ={**shelf.environ, "TILTH_MAX_TOKENS": "many"})


def test_what_the_project_says_is_shown_as_the_projects(
    shelf: Shelf, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '[tool.tilth]\ncontext_files = ["HOUSE.md"]\n'
    repo = Repo(shelf.root / "repo", {"pyproject.toml": text})
    monkeypatch.chdir(repo.root)
    files = by_name(document(shelf, capsys))["TILTH_CONTEXT_FILES"]
    assert (files["value"], files["source"]) == ("HOUSE.md", "project")
    monkeypatch.chdir(shelf.root)
    assert config(repo=repo.root, as_json=False, environ=shelf.environ) == 0
    assert "project (tool.tilth.context_files)" in capsys.readouterr().out


def test_a_project_that_asks_for_too_much_is_a_warning_here_and_an_error_by_name(
    shelf: Shelf, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = Repo(shelf.root / "repo", {"pyproject.toml": '[tool.tilth]\nsandbox = "off"\n'})
    monkeypatch.chdir(repo.root)
    assert any("sandbox" in line for line in document(shelf, capsys)["warnings"])
    with pytest.raises(UserError, match="sandbox"):
        config(repo=repo.root, as_json=False, environ=shelf.environ)


def test_config_changes_nothing(shelf: Shelf, capsys: pytest.CaptureFixture[str]) -> None:
    before = snapshot(shelf.root)
    document(shelf, capsys)
    assert snapshot(shelf.root) == before


def test_init_writes_a_private_file_that_changes_no_setting(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    home = shelf.root / "deep" / "home"
    environ = {**shelf.environ, "TILTH_HOME": str(home)}
    before = load({}, environ)
    assert init(environ=environ) == 0
    said = capsys.readouterr()
    assert said.out == f"{home / '.env'}\n"
    assert "TILTH_API_KEY" in said.err
    assert (home / ".env").read_text() == env_example()
    assert (home / ".env").stat().st_mode & 0o777 == 0o600
    assert home.stat().st_mode & 0o777 == 0o700
    assert load({}, environ) == before


@pytest.mark.parametrize("kind", ["file", "dangling link"])
def test_init_never_overwrites(shelf: Shelf, kind: str) -> None:
    path = shelf.root / "home" / ".env"
    if kind == "file":
        path.write_text("TILTH_MAX_TOKENS=7\n")
    else:
        path.symlink_to(shelf.root / "elsewhere")
    before = os.readlink(path) if path.is_symlink() else path.read_text()
    with pytest.raises(UserError, match="is there already and is left as it is"):
        init(environ=shelf.environ)
    assert (os.readlink(path) if path.is_symlink() else path.read_text()) == before
    assert not (shelf.root / "elsewhere").exists()


def test_init_says_where_it_cannot_write(shelf: Shelf) -> None:
    (shelf.root / "block").write_text("")
    environ = {**shelf.environ, "TILTH_HOME": str(shelf.root / "block" / "home")}
    with pytest.raises((DiskError, UserError), match="block"):
        init(environ=environ)
