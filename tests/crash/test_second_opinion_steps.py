"""A session killed at every step of a second opinion, and resumed each time from its record."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.commands import start
from support.crash_stage import Stage, answer, die_after
from support.flow_site import accept, read_lines
from support.messages_api import Reply, Request, call
from support.replays import play, say_of, standings

STRICT = "claude-opus-5-5"
# The event after which a process dies, and its number among those of its kind.
DEATHS = [
    ("asked", 1),
    ("answer", 1),
    ("evaluator_tool", 1),
    ("answer", 2),
    ("second_opinion", 1),
]
ONCE = {"asked": 1, "answer": 2, "evaluator_tool": 1, "second_opinion": 1}


class Night(Stage):
    """Run a task with a second opinion."""

    def running(self) -> Callable[[], int]:
        environ, how = self.site.environ(self.server.url), {"new": True, "spend_leftovers": True}
        return lambda: start(self.target, self.site.repo, {}, environ=environ, **how)


def reply(request: Request) -> Reply:
    """Answer by what is shown; the other reviewer looks once before it rules."""
    if request.body["model"] != STRICT:
        return answer(request)
    looked = len(request.body["messages"]) > 1
    return accept(score=90) if looked else call("glob", pattern="feature*.py")


def kind_of(event: dict[str, Any]) -> str:
    payload = event["payload"]
    if event["type"] == "model_call" and payload["model"] == STRICT:
        return "answer"
    return "asked" if payload.get("second") else str(event["type"])


def test_a_second_opinion_goes_on_where_a_kill_left_it_and_nobody_is_asked_twice(
    tmp_path: Path,
) -> None:
    stage = Night(tmp_path, 1, reply)
    home = stage.site.root / "home"
    home.mkdir()
    (home / "evaluators.toml").write_text(f'[strict]\nmodel = "{STRICT}"\n', encoding="utf-8")
    with stage.server:
        for kind, nth in DEATHS:
            hook = die_after(lambda: stage.log, kind_of, kind, nth)
            assert stage.go_on(hook) == -signal.SIGKILL, f"{kind} {nth} was not reached"
        assert stage.go_on() == 0
    stage.check()
    told = Counter(kind_of(event) for event in read_lines(stage.log))
    assert {kind: told[kind] for kind in ONCE} == ONCE
    code, said = say_of(stage.site)
    assert (code, "requests identical" in said) == (0, True)
    assert set(standings(play(stage.site)).values()) == {"equal"}
