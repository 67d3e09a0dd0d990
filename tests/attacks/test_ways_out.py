"""Ways out: no attack of a hostile worker reaches anything outside its worktree."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from support.flow_site import KEY, Site, accept, git, solve, submit
from support.hostile_world import EVALUATORS_KEY, WORD, Raid, bash, open_world, processes, raid
from support.ways_out import DAEMONS, TRAPS, WAYS_OUT


@pytest.mark.parametrize("name", WAYS_OUT)
def test_there_is_no_way_out_for_a_worker_that(name: str, raided: Raid) -> None:
    *prepared, last = raided.results[name]
    assert [step["exit_code"] for step in prepared] == [0] * len(prepared), prepared
    assert raided.breach(name) is None, last["content"]
    # It was stopped for the right reason, not by a slip in the attack.
    assert re.search(WAYS_OUT[name].because, last["content"]), last["content"]


def test_without_a_wall_the_same_attacks_get_through() -> None:
    attacks = {name: one for name, one in WAYS_OUT.items() if one.open}
    with open_world("open") as world:
        unconfined = raid(world, attacks, TILTH_SANDBOX="off")

    assert [name for name in attacks if unconfined.breach(name) is None] == []
    assert set(world.reached) == {"tcp", "abstract", "home_socket", "shown_socket"}
    assert unconfined.after != unconfined.before


def test_the_home_the_checkout_and_the_repository_are_as_they_were(raided: Raid) -> None:
    assert raided.after == raided.before
    assert git(raided.world.site.repo, "status", "--porcelain") == ""


def test_no_server_outside_was_reached(raided: Raid) -> None:
    assert raided.world.reached == []


def test_nothing_of_the_workers_ran_outside_the_wall(raided: Raid) -> None:
    steps = raided.results["plant"]
    assert [step["is_error"] for step in steps] == [False] * len(steps)
    assert "w41.py" in steps[-2]["content"]
    assert not raided.world.marker.exists()


def test_a_directory_that_is_swapped_for_a_link_leads_nowhere(raided: Raid) -> None:
    swapped, _ = raided.results["swap"]
    assert swapped["exit_code"] == 0
    assert not (raided.world.home / "planted").exists()


@pytest.mark.parametrize("name", DAEMONS)
def test_no_process_is_left_that_was_started(name: str, raided: Raid) -> None:
    line = DAEMONS[name].replace("@pid@", raided.world.names()["pid"])
    (seconds,) = re.findall(r"sleep (\d+)", line)

    assert raided.last(f"daemon {name}")["exit_code"] == 0
    assert processes(seconds) == ""


def test_no_key_and_no_secret_stands_in_the_record_or_was_sent(raided: Raid) -> None:
    record = "\n".join(
        path.read_text(errors="replace")
        for path in raided.run.session.rglob("*")
        if path.is_file() and "workspace" not in path.parts
    )
    sent = "\n".join(request.raw.decode() for request in raided.run.requests)
    # The attacks themselves search for the word; no answer may hold a line of a secret file.
    for text in (record, sent, raided.screen):
        assert f"# {WORD}" not in text
        assert f"key {WORD}" not in text
        assert KEY not in text
        assert EVALUATORS_KEY not in text


def test_the_work_itself_is_judged_and_committed_as_ever(raided: Raid) -> None:
    assert raided.run.code == 0
    changed = git(raided.world.site.repo, "diff", "--name-only", f"main..{raided.run.branch}")
    assert changed.split() == ["feature1.py", "tests/test_t001_add.py"]


def test_a_worktree_full_of_traps_is_judged_and_cleared(tmp_path: Path) -> None:
    site = Site.make(tmp_path / "site", {"app.py": "x = 1\n", ".gitignore": "local\n"})
    traps = [bash(line.replace("@home@", str(tmp_path))) for line in TRAPS]

    run = site.run(
        site.bundle(1),
        worker=[*traps, solve(1) + submit(1)],
        evaluator=[accept()],
        TILTH_SANDBOX="auto",
    )

    assert run.code == 0
    assert {item["exit_code"] for item in run.of("tool_result") if item["name"] == "bash"} == {0}
    committed = git(site.repo, "ls-tree", "-r", "--name-only", run.branch).split("\n")
    assert "feature1.py" in committed
    assert not {"pipe", "socket", "large"}.intersection(committed)
    workspace = run.session / "workspace"
    assert not {"pipe", "socket", "large"}.intersection(os.listdir(workspace))
    # A tree this deep is more than pytest can clear away later.
    subprocess.run(["rm", "-rf", str(site.root)], check=True)


def test_a_fork_bomb_is_bounded(raided: Raid) -> None:
    (made,) = re.findall(r"made (\d+)", raided.last("bound forks")["content"])
    assert 100 < int(made) < 600


def test_a_command_cannot_take_all_memory(raided: Raid) -> None:
    assert "MemoryError" in raided.last("bound memory")["content"]


def test_a_command_cannot_write_a_huge_file(raided: Raid) -> None:
    # 153: ended by the signal for a file that grew too large.
    assert raided.last("bound file")["exit_code"] == 153


def test_a_command_cannot_raise_its_own_limits(raided: Raid) -> None:
    assert "Operation not permitted" in raided.last("bound descriptors")["content"]


def test_a_flood_of_output_is_cut(raided: Raid) -> None:
    content = raided.last("bound output")["content"]
    assert len(content) < 40_000
    assert "bytes omitted" in content


def test_a_command_that_never_ends_is_stopped(raided: Raid) -> None:
    assert "timed out after 1 s" in raided.last("bound time")["content"]


def test_the_screen_shows_no_control_sequence_of_the_worker(raided: Raid) -> None:
    assert "\x1b]0;owned" in raided.last("bound colours")["content"]
    assert "red" in raided.last("bound colours")["content"]
    assert "\x1b" not in raided.screen


def test_what_looks_like_a_key_is_masked(raided: Raid) -> None:
    content = raided.last("bound a key")["content"]
    assert "[hidden: " in content
    assert "sk-ant" not in content
