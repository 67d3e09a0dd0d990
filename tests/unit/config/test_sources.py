"""Sources: Tilth's home, its `.env` and its oddities, and names that are no settings."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from tilth.base.errors import BadSetting
from tilth.config.env_file import read_env_file
from tilth.config.settings import Settings, load


@pytest.fixture
def env_file(tmp_path: Path) -> Path:
    (tmp_path / ".tilth").mkdir()
    return tmp_path / ".tilth" / ".env"


def read(home: Path, **environ: str) -> Settings:
    return load({}, {"HOME": str(home), **environ})


def test_home_may_be_elsewhere_and_brings_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / ".env").write_text("TILTH_MAX_TOKENS=5\n")
    settings = read(tmp_path, TILTH_HOME="~/deep")
    assert (settings.home, settings.max_tokens) == (tmp_path / "deep", 5)
    assert settings.env_file == tmp_path / "deep" / ".env"


@pytest.mark.parametrize("text", ["~/s", "$TILTH_HOME/../s", "${TILTH_HOME}/../s"])
def test_a_path_may_start_at_home(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, TILTH_SESSIONS_DIR=text).sessions_dir == tmp_path / "s"


def test_a_relative_path_starts_where_it_was_written(tmp_path: Path, env_file: Path) -> None:
    (tmp_path / "here").mkdir()
    with contextlib.chdir(tmp_path / "here"):
        assert read(tmp_path, TILTH_SESSIONS_DIR="s").sessions_dir == tmp_path / "here" / "s"
        env_file.write_text("TILTH_SESSIONS_DIR=s\n")
        assert read(tmp_path).sessions_dir == tmp_path / ".tilth" / "s"


def test_no_env_file_is_read_from_the_current_directory(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / ".env").write_text("TILTH_MAX_TOKENS=5\nTILTH_API_KEY=planted-key\n")
    with contextlib.chdir(repo):
        settings = read(tmp_path)
    assert settings.max_tokens == 2_000_000
    assert settings.api_key is None


def test_home_cannot_be_moved_by_the_file_inside_it(tmp_path: Path, env_file: Path) -> None:
    env_file.write_text("TILTH_HOME=/elsewhere\n")
    settings = read(tmp_path)
    assert settings.home == tmp_path / ".tilth"
    assert settings.unknown == (
        f"TILTH_HOME in {env_file} has no effect: set it in the environment",
    )


def test_a_name_that_is_no_setting_is_told_with_the_nearest_one(
    tmp_path: Path, env_file: Path
) -> None:
    env_file.write_text("TILTH_MAX_TOKEN=5\nPATH=/bin\n")
    settings = read(tmp_path, tilth_sandbox="off", TILTH_ZEBRA="secret", OTHER="x")
    assert settings.unknown == (
        "TILTH_ZEBRA in the environment is not a setting",
        "tilth_sandbox in the environment is not a setting; did you mean TILTH_SANDBOX?",
        f"TILTH_MAX_TOKEN in {env_file} is not a setting; did you mean TILTH_MAX_TOKENS?",
    )


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b"TILTH_WORKER_MODEL=m", "m"),
        (b"TILTH_WORKER_MODEL='m'\n", "m"),
        (b'TILTH_WORKER_MODEL="m"\n', "m"),
        (b"  export  TILTH_WORKER_MODEL = m  # why\n", "m"),
        (b"# TILTH_WORKER_MODEL=no\n\nTILTH_WORKER_MODEL=m\n", "m"),
        (b"TILTH_WORKER_MODEL=m\r\nTILTH_MAX_TOKENS=5\r\n", "m"),
        (b"\xef\xbb\xbfTILTH_WORKER_MODEL=m\n", "m"),
        (b"TILTH_WORKER_MODEL=a\nTILTH_WORKER_MODEL=m\n", "m"),
        (b"TILTH_WORKER_MODEL=m#1\n", "m#1"),
        (b"TILTH_WORKER_MODEL='m # 1'\n", "m # 1"),
        (b"TILTH_WORKER_MODEL=${HOME}-m\n", "${HOME}-m"),
        ("TILTH_WORKER_MODEL=modèle\n".encode(), "modèle"),
        (b"TILTH_WORKER_MODEL=\n", None),
        (b"", None),
    ],
)
def test_the_file_is_read_as_people_write_it(
    tmp_path: Path, env_file: Path, content: bytes, value: str | None
) -> None:
    env_file.write_bytes(content)
    assert read(tmp_path).worker_model == value


def test_headers_stand_in_the_file_with_or_without_quotes(tmp_path: Path, env_file: Path) -> None:
    for written in ('{"x-a": "b"}', '\'{"x-a": "b"}\''):
        env_file.write_text(f"TILTH_EXTRA_HEADERS={written}\n")
        assert read(tmp_path).extra_headers["x-a"].get_secret_value() == "b"


def test_a_line_that_is_no_setting_is_named_by_number_and_not_shown(env_file: Path) -> None:
    env_file.write_text("A=1\n\n# note\nsk-ant-pasted-key\n\r\nB='open\n")
    with pytest.raises(BadSetting) as caught:
        read_env_file(env_file)
    assert str(caught.value).splitlines() == [
        f"{env_file} line 4 must read NAME=value",
        f"{env_file} line 6 must read NAME=value",
    ]


def test_a_missing_file_says_nothing(tmp_path: Path) -> None:
    assert read_env_file(tmp_path / "none" / ".env") == {}


def test_a_directory_in_place_of_the_file_is_one_clear_line(env_file: Path) -> None:
    env_file.mkdir()
    with pytest.raises(BadSetting, match=r"\.env cannot be read: Is a directory$"):
        read_env_file(env_file)


def test_a_file_the_system_will_not_open_is_one_clear_line(env_file: Path) -> None:
    env_file.symlink_to(env_file)
    with pytest.raises(BadSetting, match=r"\.env cannot be read: Too many levels"):
        read_env_file(env_file)


@pytest.mark.parametrize("content", [b"\xff\xfeT\0", b"TILTH_MAX_TOKENS=5\0"])
def test_a_binary_file_is_one_clear_line(env_file: Path, content: bytes) -> None:
    env_file.write_bytes(content)
    with pytest.raises(BadSetting, match=r"\.env must be a text file in UTF-8$"):
        read_env_file(env_file)
