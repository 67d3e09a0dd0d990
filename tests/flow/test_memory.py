"""Memory: what a long conversation keeps when it no longer fits, and that it goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.flow_site import Run, Site, accept, reject, solve, submit, write
from support.light_gate import LIGHT
from support.messages_api import Answer, MessagesServer, Reply, Request, by_role, call, error, say

from tilth.log.reader import read_events
from tilth.log.verification import verify
from tilth.session.resume import resume
from tilth.session.start import start

TOO_LONG = error(400, "prompt is too long: 300000 tokens > 200000", "invalid_request_error")
CONCERN = "Negative numbers are not handled."
LINE = "the quick brown fox jumps over the lazy dog and looks for its den\n"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site.make(tmp_path, {"pyproject.toml": LIGHT, "big.txt": LINE * 900})


def narrow(script: Callable[[Request], Reply], limit: int) -> Callable[[Request], Reply]:
    """Refuse every request whose messages hold more than so many characters."""

    def answer(request: Request) -> Reply:
        if len(json.dumps(request.body["messages"])) > limit:
            return TOO_LONG
        return script(request)

    return answer


def sent(run: Run, index: int = -1) -> str:
    return json.dumps(run.asked("worker")[index].body["messages"], ensure_ascii=False)


def holds(run: Run) -> bool:
    return verify(read_events(run.session / "events.jsonl")).holds


def test_a_concern_outlives_eight_commands_and_a_full_window(site: Site) -> None:
    looks: list[Reply] = [call("bash", command=f"seq {n} 900") for n in range(8)]
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), *looks, TOO_LONG, TOO_LONG, solve(1) + submit(1)],
        evaluator=[reject(), accept(resolved=["C1"])],
    )
    assert run.code == 0
    assert CONCERN in sent(run)
    assert "Added add1." in sent(run)
    assert len(run.of("context_trimmed")) == 2
    assert holds(run)


def test_a_stub_says_what_it_was_and_that_it_can_be_had_again(site: Site) -> None:
    looks: list[Reply] = [call("read_file", path="big.txt", offset=n) for n in range(1, 9)]
    run = site.run(
        site.bundle(1), worker=[*looks, TOO_LONG, solve(1) + submit(1)], evaluator=[accept()]
    )
    (trimmed,) = run.of("context_trimmed")
    assert len(trimmed["contents"]) == 2
    for stub in trimmed["contents"].values():
        assert "read_file `big.txt`" in stub
        assert "make the call again" in stub
    # The newest are whole.
    assert sent(run).count("make the call again") == 2
    assert sent(run).count(LINE.strip()) > 1000


def test_one_big_read_does_not_end_a_session_on_a_small_endpoint(site: Site) -> None:
    script = by_role(
        worker=[call("read_file", path="big.txt"), solve(1) + submit(1)], evaluator=[accept()]
    )
    with MessagesServer(narrow(script, 24_000)) as server:
        environ = site.environ(server.url)
        code = start(site.bundle(1), site.repo, {}, new=True, environ=environ).exit_code
    run = Run(site, code, tuple(server.requests))
    assert run.code == 0
    kept = sent(run)
    assert "characters of what read_file `big.txt` gave are removed here" in kept
    assert kept.count(LINE.strip()) > 20
    assert holds(run)


def test_a_session_that_stopped_for_want_of_room_goes_on(site: Site) -> None:
    first = by_role(worker=[call("read_file", path="big.txt")])
    wide: list[Callable[[Request], Reply]] = []
    small = narrow(first, 3_000)
    with MessagesServer(lambda request: (wide or [small])[0](request)) as server:
        ended = start(site.bundle(1), site.repo, {}, new=True, environ=site.environ(server.url))
        assert ended.exit_code == 5
        again = by_role(worker=[solve(1) + submit(1)], evaluator=[accept()])
        wide.append(narrow(again, 24_000))
        code = resume(None, {}, fresh=False, environ=site.environ(server.url)).exit_code
    run = Run(site, code, tuple(server.requests))
    assert run.code == 0
    assert holds(run)


def test_a_call_that_was_cut_off_is_not_sent_back_whole(site: Site) -> None:
    cut = (say("All at once.") + write("feature1.py", "x = 1\n" * 2000)).but(
        stop_reason="max_tokens"
    )
    run = site.run(site.bundle(1), worker=[cut, solve(1) + submit(1)], evaluator=[accept()])
    assert run.code == 0
    assert len(sent(run)) < 6_000
    assert "All at once." in sent(run)
    assert "cut off at the length limit" in sent(run)
    assert holds(run)


def test_a_short_call_that_was_cut_off_stays_as_it_was(site: Site) -> None:
    cut: Answer = call("bash", command="touch cut.txt").but(stop_reason="max_tokens")
    run = site.run(site.bundle(1), worker=[cut, solve(1) + submit(1)], evaluator=[accept()])
    assert "touch cut.txt" in sent(run)
    assert run.of("context_trimmed") == []
