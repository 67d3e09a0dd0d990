"""`tilth fleet` as it is typed: units on this machine, their lines and record, what is refused."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.fleet_site import FleetSite
from support.flow_site import KEY
from support.warm_start import warm_tilth


class WarmSite(FleetSite):
    """Start the command warm; the units' processes are as cold as ever."""

    def command(self, *options: str) -> list[str]:
        return [str(warm_tilth()), "fleet", str(self.units), *options]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FleetSite]:
    site = WarmSite(tmp_path_factory.mktemp("fleet") / "site", 2)
    with site.server:
        yield site


@pytest.fixture(scope="module")
def first(site: FleetSite) -> subprocess.CompletedProcess[str]:
    """Run all units for the first time."""
    return site.run("--jobs", "2")


@pytest.fixture(scope="module")
def again(
    site: FleetSite, first: subprocess.CompletedProcess[str]
) -> subprocess.CompletedProcess[str]:
    """Ask for the same units once more."""
    return site.run("--json")


def test_every_unit_is_one_session_with_its_commit(
    site: FleetSite, first: subprocess.CompletedProcess[str]
) -> None:
    assert first.returncode == 0, first.stderr
    site.check_all()
    assert sorted(site.register()) == ["unit-1", "unit-2"]


def test_lines_of_what_happened_go_to_stdout_and_notices_to_stderr(
    first: subprocess.CompletedProcess[str],
) -> None:
    told = [line.split(maxsplit=1)[1] for line in first.stdout.splitlines()]
    for number in (1, 2):
        mine = [line for line in told if line.startswith(f"unit-{number} ")]
        assert [line.split()[1] for line in mine[:2]] == ["started", f"T-00{number}"]
        assert re.search(r"all done · 1 of 1 task · \$\S+ · session 20", mine[-1])
    assert told[-1] == "units: 2 all done"
    assert "unit-1: WARNING: no sandbox" in first.stderr
    assert "\x1b" not in first.stdout + first.stderr


def test_no_key_is_kept_or_shown(site: FleetSite, first: subprocess.CompletedProcess[str]) -> None:
    assert KEY not in first.stdout + first.stderr
    assert KEY not in (site.sessions / "fleet.json").read_text()


def test_a_unit_that_has_a_session_goes_on_with_it_and_json_stands_alone(
    site: FleetSite,
    first: subprocess.CompletedProcess[str],
    again: subprocess.CompletedProcess[str],
) -> None:
    assert again.returncode == 0
    assert again.stderr == ""
    document = json.loads(again.stdout)
    assert document["exit_code"] == 0
    units = {unit["name"]: unit for unit in document["units"]}
    for number in (1, 2):
        unit = units[f"unit-{number}"]
        assert unit["session"] == site.session(number).name
        assert (unit["status"], unit["exit_code"], unit["begun"]) == ("done", 0, 1)
        assert (unit["tasks_done"], unit["tasks_total"], unit["error"]) == (1, 1, None)
        assert unit["branch"] == f"session/{unit['session']}"
    site.check_all()


@pytest.mark.parametrize(
    ("options", "settings", "said"),
    [
        (("--jobs", "0"), {}, "--jobs"),
        (("--jobs", "many"), {}, "--jobs"),
        (("--engine", "spark"), {}, "--engine must be local or dask, got 'spark'"),
        (("--scheduler", "tcp://127.0.0.1:1"), {}, "--scheduler is of --engine dask"),
        ((), {"TILTH_API_KEY": ""}, "TILTH_API_KEY is not set"),
        ((), {"TILTH_MAX_TOKENS": "many"}, "TILTH_MAX_TOKENS must be"),
    ],
)
def test_wrong_usage_is_refused_and_makes_nothing(
    site: FleetSite,
    tmp_path: Path,
    options: tuple[str, ...],
    settings: dict[str, str],
    said: str,
) -> None:
    done = site.run(*options, **{"TILTH_HOME": str(tmp_path / "home"), **settings})
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "home").exists()


def test_a_file_with_a_key_in_it_is_refused_and_makes_nothing(
    site: FleetSite, tmp_path: Path
) -> None:
    text = site.units.read_text() + f'[unit.settings]\nTILTH_EVALUATOR_API_KEY = "{KEY}"\n'
    kept = site.units.read_text()
    try:
        site.units.write_text(text)
        done = site.run("--json", TILTH_HOME=str(tmp_path / "home"))
    finally:
        site.units.write_text(kept)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "TILTH_EVALUATOR_API_KEY is secret" in done.stderr
    assert KEY not in done.stderr
    assert not (tmp_path / "home").exists()
