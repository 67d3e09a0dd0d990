"""Lives of sessions: made plans that are killed, stopped, given up in part, and go on otherwise.

    python tests/lives.py [LIVES] [FIRST SEED]

Each life is one session of a made plan. It begins with 1 to 4 jobs and is cut off at random steps:
by a kill, or by a stop. Before each resume the number of jobs may change, and now and then a person
drops a task that is not done. Tasks fail and are set aside as the plan has it. In the end every
resume must have gone on, and nothing may be lost: every task that is done has its one commit, every
piece of failed work stands aside, and the log replays.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support.crash_stage import fork, reap  # found beside this file, also when it is run by name
from support.flow_site import git, read_lines
from support.lane_plans import Outcome, PlanSite, make_plan
from support.replays import play, standings
from support.words import UNREACHED

from tilth.base.errors import TilthError
from tilth.contract.operator_word import Verb
from tilth.model.messages import Role
from tilth.session.speaking import Draft
from tilth.show.words import say_word

MOST_CUTS = 8
WAYS = ("kill", "kill", "kill", "stop", "stop", "calm")
MOST_TASKS = 6
# A replay takes longer than the life: every so many are replayed.
REPLAYED = 4


@dataclass
class Life:
    """Count what one session went through."""

    kills: int = 0
    stops: int = 0
    changes: int = 0
    dropped: set[str] = field(default_factory=set)


def live(root: Path, seed: int) -> tuple[Life, Outcome]:
    """Play one life to its end; raises at the first thing that was lost."""
    chance, life = random.Random(seed), Life()
    plan = make_plan(seed, MOST_TASKS)
    site = PlanSite(root, plan)
    jobs = chance.choice((1, 1, 2, 4))
    before: list[bytes] = []
    for number in range(MOST_CUTS + 1):
        way = chance.choice(WAYS) if number < MOST_CUTS else "calm"
        code = _once(site, jobs, way, chance)
        life.kills += code == -signal.SIGKILL
        life.stops += code == 130
        assert code in (0, 130, -signal.SIGKILL), f"a start ended with exit code {code}"
        before = _kept_whole(site, before)
        if way == "calm":
            break
        _drop_one(site, chance, life)
        now = chance.choice((1, 2, 3, 4))
        life.changes += now != jobs
        jobs = now
    outcome = site.outcome(_name(site) or "")
    _check(site, outcome, life)
    if seed % REPLAYED == 0:
        played = play(site.site)
        standing = standings(played)
        # What a call did that a kill cut off, nobody can play again.
        cut = _cut_off(read_lines(site.site.sessions / outcome.name / "events.jsonl"))
        bad = ("differs", "missing")
        differ = {n: how for n, how in standing.items() if how in bad and n not in cut}
        assert not differ, (differ, played)
    return life, outcome


def _cut_off(events: list[dict[str, Any]]) -> set[str]:
    """Name the tasks that end on a tool call without its result."""
    open_calls: dict[str, str] = {}
    for event in events:
        payload = event["payload"]
        if event["type"] == "tool_call":
            open_calls[payload["call_id"]] = event["task_id"]
        elif event["type"] == "tool_result":
            open_calls.pop(payload["call_id"], None)
    return set(open_calls.values())


def _once(site: PlanSite, jobs: int, way: str, chance: random.Random) -> int:
    step, call = chance.randint(10, 150), chance.randint(1, 12)

    def body() -> int:
        name, stop = _name(site), _stop_at(call) if way == "stop" else _never
        try:
            out = site.go_on(name, jobs, stop) if name else site.run(jobs, stop)
        except KeyboardInterrupt:
            return 130
        if out.faulty:
            os.write(2, f"{out.detail}\n".encode())
            return 2
        return 130 if "stopped by the user" in out.detail else 0

    return reap(fork(body, _die_at(step) if way == "kill" else None))


def _never(number: int, role: Role) -> None:
    """Let it be."""


def _stop_at(call: int) -> Callable[[int, Role], None]:
    left = [call]

    def before(number: int, role: Role) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt

    return before


def _die_at(step: int) -> Callable[[str], None]:
    left = [step]

    def hook(reached: str) -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return hook


def _name(site: PlanSite) -> str | None:
    place = site.site.sessions
    found = [each.name for each in place.iterdir() if each.name[0] != "."] if place.exists() else []
    return found[0] if found else None


def _kept_whole(site: PlanSite, before: list[bytes]) -> list[bytes]:
    """Hold the log to what was acknowledged."""
    name = _name(site)
    log = site.site.sessions / (name or "") / "events.jsonl"
    if name is None or not log.exists():
        return before
    now = [line for line in log.read_bytes().splitlines(keepends=True) if line[-1:] == b"\n"]
    assert now[: len(before)] == before, "an acknowledged record was changed"
    return now


def _drop_one(site: PlanSite, chance: random.Random, life: Life) -> None:
    """Now and then give a task up, as a person would; one that is done by then is refused."""
    name = _name(site)
    if name is None or chance.random() > 0.3:
        return
    task = f"T-{chance.choice(site.plan.tasks).number:03d}"
    environ = site.site.environ(UNREACHED)

    def body() -> int:
        try:
            return say_word(name, Draft(Verb.DROP, task=task), environ=environ)
        except TilthError:
            return 2

    step = chance.randint(1, 60)
    code = reap(fork(body, _die_at(step)))
    assert code in (0, 2, -signal.SIGKILL)
    if code == 0:
        life.dropped.add(task)


def _check(site: PlanSite, outcome: Outcome, life: Life) -> None:
    """Hold a session that was lived to its end against what every session must be."""
    session = site.site.sessions / outcome.name
    events = read_lines(session / "events.jsonl")
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    subjects = [commit.split("\0")[1].splitlines()[0] for commit in outcome.commits]
    assert not [subject for subject in subjects if subject.startswith("FAILED")] or _halts(site)
    landed = Counter(s.partition(":")[0] for s in subjects if not s.startswith("FAILED"))
    done = {name for name, status in outcome.statuses.items() if status == "done"}
    assert set(landed) == done
    assert set(landed.values()) <= {1}
    told = Counter(event["task_id"] for event in events if event["type"] == "task_done")
    assert told == Counter(done)
    _check_failed(site, outcome, life, events)
    if not _halts(site):
        _check_rest(site, outcome)


def _halts(site: PlanSite) -> bool:
    return site.plan.halts


def _check_failed(
    site: PlanSite, outcome: Outcome, life: Life, events: list[dict[str, object]]
) -> None:
    """Every piece of failed work is kept, under a ref or on the branch."""
    failed = {name for name, status in outcome.statuses.items() if status == "failed"}
    refs = git(site.site.repo, "for-each-ref", "--format=%(refname)", "refs/tilth").splitlines()
    aside = {ref.rpartition("/")[2] for ref in refs}
    newest = outcome.commits[-1].split("\0")[1].splitlines()[0] if outcome.commits else ""
    began = {str(e["task_id"]) for e in events if e["type"] == "commit"}
    for name in failed & began:
        assert name in aside or f" {name}:" in newest, f"the work of {name} is lost"
    assert life.dropped <= failed, f"{life.dropped - failed} was dropped, and is not failed"


def _check_rest(site: PlanSite, outcome: Outcome) -> None:
    """Where a failure stops nothing, all is done that can be."""
    left = {name for name, status in outcome.statuses.items() if status != "done"}
    for ways in site.plan.tasks:
        needs = {f"T-{each:03d}" for each in ways.depends_on}
        status = outcome.statuses[f"T-{ways.number:03d}"]
        assert status in ("done", "failed") or needs & left, f"T-{ways.number:03d} is {status}"


def main() -> None:
    lives = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    total, dropped = Life(), 0
    folder = Path(tempfile.mkdtemp(prefix="lives-"))
    for seed in range(first, first + lives):
        try:
            life, outcome = live(folder / str(seed), seed)
        except AssertionError:
            print(f"life {seed}: its session is kept in {folder}", flush=True)
            raise
        total.kills += life.kills
        total.stops += life.stops
        total.changes += life.changes
        dropped += len(life.dropped)
        print(
            f"life {seed}: {life.kills} kills, {life.stops} stops, {len(outcome.commits)} commits",
            flush=True,
        )
        shutil.rmtree(folder / str(seed))
    folder.rmdir()
    print(
        f"{lives} lives, {total.kills} kills, {total.stops} stops, {total.changes} changes of "
        f"--jobs, {dropped} dropped tasks: nothing was lost, and every resume went on"
    )


if __name__ == "__main__":
    main()
