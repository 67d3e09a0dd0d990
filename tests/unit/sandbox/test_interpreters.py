"""Which interpreters may be used, and what is shown for each of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tilth.sandbox.interpreters import fault_of, named_places, own_places


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    return tmp_path / "home"


def make_venv(place: Path, home_line: str = "/usr/bin", leads_to: str = "/usr/bin/env") -> Path:
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "python").symlink_to(leads_to)
    (place / "pyvenv.cfg").write_text(f"home = {home_line}\nversion = 3.11\n")
    return place


def install(prefix: Path) -> Path:
    """Make what a Python installation looks like."""
    for folder in ("bin", "lib/python3.11", "include", "private"):
        (prefix / folder).mkdir(parents=True)
    (prefix / "lib" / "python3.11" / "os.py").touch()
    python = prefix / "bin" / "python3.11"
    python.touch(mode=0o755)
    return python


def test_one_on_the_systems_own_installation_can_be_used(tmp_path: Path, home: Path) -> None:
    assert fault_of(make_venv(tmp_path / ".venv"), (home,)) is None


def test_one_on_tilths_own_installation_can_be_used_in_a_hidden_home(tmp_path: Path) -> None:
    base = Path(sys.base_prefix)
    venv = make_venv(tmp_path / ".venv", f"{base}/bin", str(Path(sys.executable).resolve()))

    assert fault_of(venv, (base.parent, tmp_path / "home")) is None


@pytest.mark.parametrize("line", ["{home}/.ssh/x", "{home}/tool/bin", "/tmp/x/bin", "/run/x/bin"])
def test_a_base_in_a_hidden_place_makes_it_unusable(tmp_path: Path, home: Path, line: str) -> None:
    venv = make_venv(tmp_path / ".venv", line.format(home=home))

    assert "stands in a hidden place" in (fault_of(venv, (home,)) or "")


def test_a_second_base_counts_as_the_first(tmp_path: Path, home: Path) -> None:
    venv = make_venv(tmp_path / ".venv", f"/usr/bin\nHOME = {home}/.ssh/x")

    assert "stands in a hidden place" in (fault_of(venv, (home,)) or "")


def test_a_base_that_is_reached_by_a_link_counts_where_it_leads(tmp_path: Path, home: Path) -> None:
    (tmp_path / "way").symlink_to(home / ".ssh")
    venv = make_venv(tmp_path / ".venv", f"{tmp_path}/way/x")

    assert fault_of(venv, (home,)) is not None


def test_a_program_that_leads_into_a_hidden_place_is_none(tmp_path: Path, home: Path) -> None:
    program = home / "bin" / "tool"
    program.parent.mkdir()
    program.touch(mode=0o755)

    assert "hidden place" in (
        fault_of(make_venv(tmp_path / "a", leads_to=str(program)), [home]) or ""
    )
    assert fault_of(make_venv(tmp_path / "b", leads_to=str(home / ".ssh")), (home,)) is not None


def test_a_linked_environment_is_none(tmp_path: Path, home: Path) -> None:
    make_venv(home / "venvs" / "x")
    (tmp_path / ".venv").symlink_to(home / "venvs" / "x")

    assert "is a link" in (fault_of(tmp_path / ".venv", (home,)) or "")


def test_of_a_named_interpreters_base_only_an_installation_is_shown(home: Path) -> None:
    python = install(home / "pythons" / "3.11")

    shown = set(named_places(python, (home,)))

    prefix = home / "pythons" / "3.11"
    assert {prefix / "bin", prefix / "lib"} <= shown
    assert not {prefix, prefix / "private", home / "pythons", home} & shown


def test_a_named_interpreter_whose_base_is_no_installation_shows_itself_alone(
    tmp_path: Path, home: Path
) -> None:
    venv = make_venv(tmp_path / "venv", f"{home}/.ssh/x")

    shown = named_places(venv / "bin" / "python", (home,))

    assert {venv, venv / "bin" / "python"} <= set(shown)
    assert not any(place.is_relative_to(home) for place in shown)


def test_an_interpreter_right_in_the_home_does_not_show_the_home(home: Path) -> None:
    for prefix in (home, home / ".local"):
        python = install(prefix)

        shown = set(named_places(python, (home,)))

        assert {python, prefix / "lib" / "python3.11"} <= shown
        assert not {prefix, prefix / "bin", prefix / "lib", prefix / "private"} & shown


def test_tilths_own_is_narrowed_when_it_stands_right_in_a_home() -> None:
    base = Path(sys.base_prefix)

    assert base in own_places(())
    assert base not in own_places((base,))


@pytest.mark.parametrize("place", ["/tmp", "/var/tmp", "/run", "/dev", "/proc", "/sys"])
def test_a_base_where_commands_find_another_place_makes_it_unusable(
    tmp_path: Path, place: str
) -> None:
    venv = make_venv(tmp_path / ".venv", f"{place}/some/bin")
    assert "hidden place" in (fault_of(venv, ()) or "")


def test_of_an_installation_no_link_is_shown(home: Path) -> None:
    python = install(home / "pythons" / "3.11")
    prefix = home / "pythons" / "3.11"
    (prefix / "ssl").symlink_to(home / ".ssh")
    (prefix / "lib64").touch()
    shown = set(named_places(python, (home,)))
    assert shown & set(prefix.iterdir()) == {prefix / "bin", prefix / "lib", prefix / "include"}
