"""Word to a person: what is told, to whom, and that it never stands in a run's way."""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from support.event_samples import SAMPLES, Tape
from support.flow_site import KEY, Run, Site, accept, block, read_lines, solve, submit
from support.light_gate import LIGHT
from support.messages_api import call

from tilth.config.secrets import Mask
from tilth.session.notify import Notice, NoticeKind, Notifier
from tilth.show.doctor import doctor


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site.make(tmp_path, {"pyproject.toml": LIGHT})


def keeper(site: Site, more: str = "") -> str:
    """Write a program that keeps what it reads, and give the command that starts it."""
    program = site.root / "keep.py"
    program.write_text(
        f"import os, sys\n{more}\n"
        f"open({str(site.root / 'words')!r}, 'a').write(sys.stdin.read())\n"
        f"open({str(site.root / 'env')!r}, 'a').write(repr(dict(os.environ)))\n",
        encoding="utf-8",
    )
    return f"{sys.executable} {program}"


def words(site: Site) -> list[dict[str, Any]]:
    return read_lines(site.root / "words")


def run_one(site: Site, **settings: str) -> Run:
    return site.run(site.bundle(1), worker=[solve(1) + submit(1)], evaluator=[accept()], **settings)


def test_the_end_is_told_with_outcome_and_exit_code(site: Site) -> None:
    run = run_one(site, TILTH_NOTIFY_COMMAND=keeper(site))
    assert run.code == 0
    (word,) = words(site)
    assert set(word) == {"kind", "session", "outcome", "exit_code", "task", "text"}
    assert (word["kind"], word["outcome"], word["exit_code"]) == ("end", "all_done", 0)
    assert word["session"] == run.session.name
    assert "1 of 1 tasks done" in word["text"]
    assert run.of("notified") == [{"kind": "end", "channel": "command", "ok": True, "error": None}]
    assert KEY not in (site.root / "env").read_text(encoding="utf-8")
    assert "TILTH_" not in (site.root / "env").read_text(encoding="utf-8")


def test_a_question_to_a_person_is_told(site: Site) -> None:
    blocker = block("Criteria 1 and 2 contradict.", evidence="line 5")
    ruling = call("submit_ruling", contract_at_fault=True, reason="They do.")
    run = site.run(
        site.bundle(1),
        worker=[blocker],
        evaluator=[ruling],
        TILTH_NOTIFY_COMMAND=keeper(site),
    )
    assert run.code == 6
    told = {word["kind"]: word for word in words(site)}
    assert list(told) == ["question", "end"]
    assert told["question"]["task"] == "T-001"
    assert "R-001 (T-001)" in told["question"]["text"]
    assert told["end"]["exit_code"] == 6


def test_a_cap_that_is_near_is_told(site: Site) -> None:
    costly = {"input_tokens": 10, "output_tokens": 30_000}
    run = site.run(
        site.bundle(1),
        worker=[call("bash", command=f"echo {n}").but(usage=costly) for n in range(9)],
        TILTH_MAX_COST_USD="2",
        TILTH_NOTIFY_COMMAND=keeper(site),
    )
    assert run.code == 3
    assert [word["kind"] for word in words(site)] == ["cap_warning", "end"]
    assert "(cost_cap)" in words(site)[0]["text"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("/nonexistent/program", "could not be started"),
        (f"{sys.executable} -c \"import sys; sys.exit('not {KEY} today')\"", "not [hidden"),
    ],
)
def test_one_that_fails_is_a_warning_and_never_an_ending(
    site: Site, command: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_one(site, TILTH_NOTIFY_COMMAND=command)
    assert run.code == 0
    (told,) = run.of("notified")
    assert not told["ok"]
    assert said in told["error"]
    assert KEY not in json.dumps(run.events)
    assert "command was not reached" in capsys.readouterr().out


class Heard(BaseHTTPRequestHandler):
    """Keep what a service is sent."""

    bodies: ClassVar[list[bytes]] = []

    def do_POST(self) -> None:
        self.bodies.append(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def test_apprise_reaches_a_service_and_its_address_stands_nowhere(site: Site) -> None:
    server = HTTPServer(("127.0.0.1", 0), Heard)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        address = f"json://127.0.0.1:{server.server_port}/a-secret-token-0123456789"
        run = run_one(site, TILTH_NOTIFY=address)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert b"ended: all_done" in Heard.bodies[0]
    (told,) = run.of("notified")
    assert (told["channel"], told["ok"]) == ("json (1)", True)
    assert "a-secret-token" not in (run.session / "events.jsonl").read_text(encoding="utf-8")


def test_a_channel_that_hangs_is_given_up_at_the_end() -> None:
    never = threading.Event()

    class Hanging:
        name = "hanging"

        def send(self, word: Notice) -> str | None:
            never.wait()
            return None

    notifier = Notifier([Hanging()], Mask())
    notifier.take(Tape().event(SAMPLES["cap_warning"]))
    (told,) = notifier.finish(limit_s=0.01)
    never.set()
    assert (told.kind, told.ok) == (NoticeKind.CAP_WARNING, False)
    assert "not sent within" in (told.error or "")


def test_the_doctor_tries_each_of_them(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    environ = site.environ("http://127.0.0.1:9", TILTH_NOTIFY_COMMAND=keeper(site))
    doctor(online=False, notify=True, as_json=True, environ=environ)
    checks = json.loads(capsys.readouterr().out)["checks"]
    (found,) = [check for check in checks if check["check"] == "notify"]
    assert (found["grade"], found["found"]) == ("pass", "command: sent")
    assert [word["kind"] for word in words(site)] == ["test"]
    environ = site.environ("http://127.0.0.1:9")
    doctor(online=False, notify=True, as_json=True, environ=environ)
    checks = json.loads(capsys.readouterr().out)["checks"]
    assert [c["grade"] for c in checks if c["check"] == "notify"] == ["warn"]
