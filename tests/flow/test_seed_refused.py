"""Bad seeds: each kind is refused with its reason, and nothing of it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.flow_site import Site, git, seed_test, task
from support.interviews import Sitting, sit, write_seed
from support.messages_api import Reply, Request, error

from tilth.base.errors import UserError

NAME = "test_t001_add.py"
TWO = task(1, acceptance_criteria=["adds one", "takes text too"])
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a bad id": ({"prd_entries": [task(1, id="T-1")]}, "prd_entries: tasks[0].id: must be T-"),
    "no task": ({"prd_entries": []}, "must hold at least one task"),
    "a test outside tests/": (
        {"test_files": {NAME: seed_test(1), "../conftest.py": "x = 1\n"}},
        "test_files['../conftest.py']: must be a plain file name",
    ),
    "a test of no task": (
        {"test_files": {NAME: seed_test(1), "test_t002_add.py": seed_test(2)}},
        "test_files['test_t002_add.py']: belongs to no task",
    ),
    "a task without a test": (
        {"prd_entries": [task(1), task(2)]},
        "T-002: has no test file: write tests/test_t002_",
    ),
    "two files for a task": (
        {"test_files": {NAME: seed_test(1), "test_t001_more.py": seed_test(1)}},
        "T-001: has 2 test files",
    ),
    "a test that does not parse": (
        {"test_files": {NAME: "def test_add(:\n"}},
        f"tests/{NAME}: does not parse: line 1",
    ),
    "a file without a test": (
        {"test_files": {NAME: "import feature1\n"}},
        f"tests/{NAME}: holds no test",
    ),
    "a test that can be skipped": (
        {
            "test_files": {
                NAME: "import pytest\n\n\n@pytest.mark.skip\ndef test_a():\n    assert 0\n"
            }
        },
        f"tests/{NAME}:4: skips a test",
    ),
    "a test that is green already": (
        {"test_files": {NAME: "def test_add():\n    assert 1 + 1 == 2\n"}},
        f"tests/{NAME}::test_add: passes on the base already",
    ),
    "a fault inside the test": (
        {"test_files": {NAME: "def test_add():\n    assert ad1(1) == 2\n"}},
        "Undefined name `ad1`",
    ),
    "an unknown fixture": (
        {"test_files": {NAME: "def test_add(shop):\n    assert shop.add(1) == 2\n"}},
        "asks for a fixture that nobody defines",
    ),
    "a package that is misspelt": (
        {"test_files": {NAME: "import reqeusts\n\n\ndef test_a():\n    assert reqeusts\n"}},
        "no module is called reqeusts: did you mean requests?",
    ),
    "a criterion no test names": (
        {"prd_entries": [TWO], "test_files": {NAME: seed_test(1)}},
        "T-001: no test names criterion 2 (takes text too)",
    ),
    "a name of no criterion": (
        {"test_files": {NAME: seed_test(1).replace("    assert", "    # AC-3\n    assert")}},
        "T-001: a test names AC-3, but the task has 1 criteria",
    ),
    "not readable at all": ({"test_files": [1, 2]}, "write_seed: test_files: "),
}


@pytest.fixture(scope="module")
def refusals(tmp_path_factory: pytest.TempPathFactory) -> Sitting:
    """Hand in every bad seed, one after the other; the endpoint goes away before one is mended."""
    seeds = [write_seed(1, **changes) for changes, _ in BAD.values()]
    site = Site.make(tmp_path_factory.mktemp("refusals"))
    return sit(site, [*seeds, error(400, "gone")])


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_seed_is_refused_with_its_reason(refusals: Sitting, kind: str) -> None:
    result = refusals.of("tool_result")[list(BAD).index(kind)]
    assert BAD[kind][1] in result["content"]
    assert result["is_error"]


def test_of_all_refused_seeds_nothing_is_written(refusals: Sitting) -> None:
    assert len(refusals.results) == len(BAD)
    assert refusals.left_nothing
    assert refusals.checkpoint["status"] == "interviewing"
    assert git(refusals.site.repo, "status", "--porcelain") == ""


def refuse(site: Site, **changes: Any) -> Sitting:
    """Hand in one bad seed; the endpoint then goes away, so that nothing is mended."""
    return sit(site, [write_seed(1, **changes), error(400, "gone")])


def test_all_problems_come_back_at_once(tmp_path: Path) -> None:
    green = "def test_add():\n    assert True\n"
    sitting = refuse(
        Site.make(tmp_path),
        prd_entries=[task(1, title=""), task(2, id="T-1")],
        test_files={NAME: green, "test_t002_add.py": "def", "other.py": ""},
    )
    told = sitting.results[0]
    for said in (
        "tasks[0].title",
        "tasks[1].id",
        "'other.py'",
        "tests/test_t002_add.py: does not parse",
        f"tests/{NAME}::test_add: passes on the base already",
    ):
        assert said in told
    assert "5 problem(s)" in told


def test_a_test_that_hangs_is_stopped_and_refused(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    site.settings["TILTH_VALIDATOR_TIMEOUT_SECONDS"] = "3"
    hangs = "import time\n\n\ndef test_add():\n    time.sleep(600)\n"
    sitting = refuse(site, test_files={NAME: hangs})
    assert f"tests/{NAME}: did not finish within 3 seconds" in sitting.results[0]
    assert sitting.left_nothing


def test_a_test_file_that_upsets_the_others_is_refused(tmp_path: Path) -> None:
    upsets = (
        "import sys\nimport types\n\n"
        "sys.modules['feature1'] = types.SimpleNamespace(add1=lambda x: x + 1)\n"
    )
    sitting = sit(
        Site.make(tmp_path),
        [
            write_seed(
                1,
                2,
                test_files={
                    "test_t001_add.py": "def test_a():\n    import feature1\n\n"
                    "    assert feature1.add1(1) == 2\n",
                    "test_t002_add.py": upsets + seed_test(2),
                },
            ),
            error(400, "gone"),
        ],
    )
    assert "tests/test_t001_add.py: behaves differently when the tests of all" in sitting.results[0]
    assert sitting.left_nothing


def test_an_id_whose_test_stands_in_the_repository_is_refused(tmp_path: Path) -> None:
    site = Site.make(tmp_path, {"tests/test_t001_old.py": "def test_old():\n    assert True\n"})
    sitting = refuse(site)
    assert "T-001: tests/test_t001_old.py already stands in the repository" in sitting.results[0]
    assert "use ids from T-002 on" in sitting.results[0]


def test_a_refused_seed_can_be_mended(tmp_path: Path) -> None:
    bad = write_seed(1, test_files={NAME: "def test_add():\n    assert True\n"})
    sitting = sit(Site.make(tmp_path), [bad, write_seed(1)])
    assert sitting.code == 0
    assert sitting.subjects == ["seed: 1 task(s), 1 test(s)"]


def test_a_seed_that_cannot_be_committed_leaves_nothing(tmp_path: Path) -> None:
    site = Site.make(tmp_path)

    def script(request: Request) -> Reply:
        # In the middle of the interview: a branch so called leaves no room for others below it.
        git(site.repo, "branch", "session")
        return write_seed(1)

    sitting = sit(site, script)
    assert sitting.code == 2
    names = {path.name for path in sitting.session.iterdir()}
    assert not names & {"prd.json", "seed-meta.json", "workspace"}
    assert list((sitting.session / "seed-tests").iterdir()) == []
    assert sitting.checkpoint["status"] == "interviewing"


def test_a_repository_without_room_for_a_branch_is_refused_before_the_first_question(
    tmp_path: Path,
) -> None:
    site = Site.make(tmp_path)
    git(site.repo, "branch", "session")
    with pytest.raises(UserError, match=r"refs/heads/session .* is in the way"):
        sit(site, [])
    assert not site.sessions.exists()
