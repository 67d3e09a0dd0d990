"""What git ignores and the project needs: carried into worktree and gate, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.flow_site import Run, Site, accept, git, solve, submit
from support.ignored_files import FILES, GENERATED, bundle, make_site
from support.messages_api import Answer, call
from support.replays import play, standings

from tilth.interview.check import check
from tilth.session.doctor import examine


def bash(command: str) -> Answer:
    return call("bash", command=command)


def carried(run: Run) -> list[str]:
    """Name the files a session says that it carries."""
    return [file["path"] for said in run.of("carried") for file in said["files"]]


def done(site: Site, worker: list[Answer] | None = None, **settings: str) -> Run:
    steps = [*(worker or []), solve(1) + submit(1)]
    return site.run(bundle(site), worker=steps, evaluator=[accept()], **settings)


def test_generated_files_reach_the_worktree_and_the_gate(tmp_path: Path) -> None:
    run = done(make_site(tmp_path), [bash("cat src/pkg/_version.py; git status --short")])
    assert run.code == 0
    assert carried(run) == GENERATED
    [looked, *_] = run.of("tool_result")
    assert looked["content"].strip() == "version = '1.2'"
    base = next(each for each in run.of("validator_run") if each["name"] == "suite")
    assert base["tests"]["passed"] == 1
    kept = list((run.session / "carried").rglob("*"))
    assert {path.stat().st_mode & 0o777 for path in kept if path.is_dir()} == {0o700}
    assert {path.stat().st_mode & 0o777 for path in kept if path.is_file()} == {0o600}
    names = git(run.site.repo, "ls-tree", "-r", "--name-only", run.branch).split()
    assert not set(GENERATED) & set(names)


def test_a_setting_says_that_nothing_is_carried(tmp_path: Path) -> None:
    run = done(make_site(tmp_path), TILTH_CARRY="off")
    assert carried(run) == []
    assert "No module named 'pkg._version'" in run.of("validator_run")[0]["output"]


@pytest.mark.parametrize("said", ["project", "data/*.bin", "data/*"])
def test_more_is_carried_when_the_user_says_so_but_never_a_secret(
    tmp_path: Path, said: str
) -> None:
    run = done(make_site(tmp_path), TILTH_CARRY=said)
    assert carried(run) == ["data/table.bin", *GENERATED]


def test_what_setup_makes_is_carried(tmp_path: Path) -> None:
    line = """echo 'version = "1.2"' > src/pkg/_version.py; mkdir data; echo 7 > data/n"""
    setup = f"setup = ['''{line}''']\n"
    site = make_site(tmp_path, {"pyproject.toml": FILES["pyproject.toml"] + setup})
    (site.repo / "src/pkg/_version.py").unlink()
    run = done(site)
    assert run.code == 0
    assert carried(run) == ["data/n", *GENERATED]


def test_a_carried_file_that_the_worker_changes_is_not_what_the_gate_uses(tmp_path: Path) -> None:
    run = done(make_site(tmp_path), [bash("echo 'version = \"9\"' > src/pkg/_version.py")])
    assert run.code == 0


def test_what_the_worker_makes_and_git_ignores_is_not_carried(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    steps = [bash("echo 'def add1(x): return x + 1' > src/pkg/one_pb2.py")]
    steps += [call("write_file", path="feature1.py", content="from pkg.one_pb2 import add1\n")]
    run = site.run(bundle(site), worker=[*steps, submit(1)], TILTH_MAX_ITERATIONS_PER_TASK="3")
    assert run.code == 1
    assert "No module named 'pkg.one_pb2'" in run.of("tool_result")[-1]["content"]


def test_a_session_goes_on_with_its_own_copy(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    first = site.run(bundle(site, 1, 2), worker=[], evaluator=[])
    assert first.code == 5
    for path in GENERATED:
        (site.repo / path).unlink()
    shutil.rmtree(first.session / "workspace")
    run = site.resume(
        worker=[solve(1) + submit(1), solve(2) + submit(2)], evaluator=[accept(), accept()]
    )
    assert run.code == 0
    assert run.types.count("carried") == 1
    assert (run.session / "workspace" / "src/pkg/_version.py").is_file()


def test_a_copy_that_was_changed_is_refused(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    first = site.run(bundle(site), worker=[], evaluator=[])
    (first.session / "carried/src/pkg/_version.py").write_text("version = '3'\n")
    run = site.resume(worker=[solve(1) + submit(1)], evaluator=[accept()])
    assert run.code == 2
    assert "does not hold the files that this session carries" in run.of("stop")[-1]["detail"]


def test_several_jobs_carry_too(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    run = site.run(
        bundle(site), worker=[solve(1) + submit(1)], evaluator=[accept()], TILTH_JOBS="2"
    )
    assert run.code == 0
    assert (run.session / "workspaces/T-001/src/pkg/_version.py").is_file()


def test_a_replay_takes_the_sessions_copy(tmp_path: Path) -> None:
    run = done(make_site(tmp_path))
    for path in GENERATED:
        (run.site.repo / path).unlink()
    assert standings(play(run.site)) == {"T-001": "equal"}


def test_doctor_and_check_say_what_would_be_carried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    site = make_site(tmp_path)
    environ = site.environ("http://127.0.0.1:9")
    monkeypatch.chdir(site.repo)
    [said] = [each.found for each in examine(environ) if each.name == "carry"]
    assert "4 files that git ignores" in said
    assert check(bundle(site), site.repo, {}, environ=environ) == 0
    assert "carries 4 files that git ignores" in capsys.readouterr().out
    assert check(bundle(site), site.repo, {"carry": "off"}, environ=environ) == 1
    assert "`--carry src/pkg/_version.py` hands it on" in capsys.readouterr().out


def test_a_file_the_tests_miss_is_proposed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = "def test_table():\n    assert open('data/table.bin').read()\n"
    site = make_site(tmp_path, {"tests/test_table.py": own})
    check(bundle(site), site.repo, {}, environ=site.environ("http://127.0.0.1:9"))
    assert "`--carry data/table.bin` hands it on" in capsys.readouterr().out
