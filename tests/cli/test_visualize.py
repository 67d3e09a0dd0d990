"""`tilth visualize` as a program meets it: whom it answers, and what an export holds."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.long_session import SESSION, make_session
from support.viewer_site import Viewer, served, warm
from support.viewer_site import visualize as run_visualize

EVENTS = 60


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    make_session(home / "sessions", EVENTS, tasks=2)
    return home


@pytest.fixture(scope="module")
def viewer(home: Path) -> Iterator[Viewer]:
    with served(home) as viewer:
        yield viewer


def visualize(home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return run_visualize(home, *args, program=warm())


def test_it_listens_on_loopback_and_prints_an_address_with_a_token(viewer: Viewer) -> None:
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", viewer.address)


def test_the_token_opens_the_page_and_becomes_a_cookie(viewer: Viewer) -> None:
    page = viewer.ask("/")
    assert page.status == 200
    assert "<title>Tilth</title>" in page.text
    cookie = page.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    again = viewer.ask("/data/overview", token=False, Cookie=cookie.partition(";")[0])
    assert json.loads(again.text)["id"] == SESSION


def test_no_answer_lets_a_page_run_foreign_script(viewer: Viewer) -> None:
    for path in ("/", "/main.js", "/data/overview", "/nothing"):
        policy = viewer.ask(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy


@pytest.mark.parametrize(
    "host",
    [
        "example.org",
        "example.org:{port}",
        "127.0.0.1.example.org:{port}",
        "localhost.example.org",
        "127.0.0.1@example.org",
        "127.0.0.2:{port}",
        "0.0.0.0:{port}",
        "",
        "127.0.0.1:{port}, example.org",
    ],
)
def test_a_foreign_host_is_refused_even_with_the_token(viewer: Viewer, host: str) -> None:
    for path in ("/", "/data/overview", "/nothing"):
        assert viewer.ask(path, Host=host.format(port=viewer.port)).status == 403


@pytest.mark.parametrize(
    "origin",
    [
        "http://example.org",
        "null",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1:1",
        "http://localhost:{port}",
    ],
)
def test_a_foreign_origin_is_refused_even_with_the_token(viewer: Viewer, origin: str) -> None:
    assert viewer.ask("/data/overview", Origin=origin.format(port=viewer.port)).status == 403


def test_its_own_names_and_origin_are_let_through(viewer: Viewer) -> None:
    own = f"http://127.0.0.1:{viewer.port}"
    assert viewer.ask("/data/overview", Origin=own).status == 200
    assert viewer.ask("/data/overview", Host=f"localhost:{viewer.port}").status == 200


def test_without_the_token_nothing_is_told(viewer: Viewer) -> None:
    for path in ("/", "/main.js", "/data/overview", "/data/stream", "/nothing"):
        assert viewer.ask(path, token=False).status == 401
        assert viewer.ask(f"{path}?token=wrong", token=False).status == 401
        assert viewer.ask(path, token=False, Cookie=f"tilth-{viewer.port}=wr\xf6ng").status == 401
    assert viewer.ask("/", method="POST", token=False).status == 401
    assert viewer.ask("/", Host="example.org", token=False).status == 403


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/../../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/vendor/../../server.py",
        "/vendor/..%2f..%2fserver.py",
        "//etc/passwd",
        "/page/main.js",
        "/main.js/",
        "/main.js%00",
        "/data",
        "/data/",
        "/data/../main.js",
        "/data/overview?session=../../etc",
        "/data/overview?session=20200101-000000-000000",
        "/data/task?task=..%2f..%2fprd",
        "/data/event?seq=0",
        "/data/event?seq=999999",
        "/data/event?seq=-1",
        "/data/event?seq=%2e%2e",
        "/data/stream?session=20200101-000000-000000",
    ],
)
def test_what_is_not_there_cannot_be_reached(viewer: Viewer, path: str) -> None:
    assert viewer.ask(path).status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_changed(viewer: Viewer, method: str) -> None:
    for path in ("/", "/main.js", "/data/overview", "/data/stream"):
        assert viewer.ask(path, method=method).status == 405


def test_events_come_in_pages(viewer: Viewer) -> None:
    page = json.loads(viewer.ask("/data/events?offset=10&limit=5").text)
    assert page["total"] == EVENTS
    assert [row["seq"] for row in page["rows"]] == [11, 12, 13, 14, 15]


def test_search_reads_all_text_and_filters_narrow_it(viewer: Viewer) -> None:
    found = json.loads(viewer.ask("/data/events?q=PART+7+of+T-002+ran").text)
    assert [row["type"] for row in found["rows"]] == ["tool_result"]
    kinds = json.loads(viewer.ask("/data/events?kind=worker&task=T-002").text)
    assert {row["task"] for row in kinds["rows"]} == {"T-002"}
    assert {row["kind"] for row in kinds["rows"]} == {"worker"}


def test_search_finds_the_words_a_line_is_told_in(viewer: Viewer) -> None:
    found = json.loads(viewer.ask("/data/events?q=all_done,+EXIT+0").text)
    assert [row["type"] for row in found["rows"]] == ["stop"]


def test_names_of_fields_are_no_finds(viewer: Viewer) -> None:
    assert json.loads(viewer.ask("/data/events?q=request_sha256").text)["total"] == 0


def test_ctrl_c_ends_it_in_peace(home: Path) -> None:
    with served(home) as viewer:
        viewer.process.send_signal(signal.SIGINT)
        assert viewer.process.wait(120) == 0


def test_a_port_can_be_asked_for_and_one_in_use_is_named(home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = visualize(home, "--port", str(port))
    assert done.returncode == 2
    assert f"port {port} cannot be used" in done.stderr
    assert done.stderr.count("\n") == 1
    with served(home, "--port", str(port), program=warm()) as viewer:
        assert viewer.port == port


def test_an_unknown_session_and_a_lone_redact_are_wrong_usage(home: Path) -> None:
    assert visualize(home, "20200101").returncode == 2
    done = visualize(home, "--redact")
    assert done.returncode == 2
    assert "--export" in done.stderr


def test_a_broken_log_is_named_before_anything_is_served(tmp_path: Path) -> None:
    directory = make_session(tmp_path / "sessions", 20, tasks=1)
    with (directory / "events.jsonl").open("a", encoding="utf-8") as log:
        log.write("no json\n")
    done = visualize(tmp_path)
    assert done.returncode == 2
    assert "line 21 is not JSON" in done.stderr


def test_it_takes_no_lock_and_leaves_the_session_as_it_was(home: Path, viewer: Viewer) -> None:
    directory = home / "sessions" / SESSION
    before = {path.name: path.stat().st_mtime_ns for path in directory.iterdir()}
    for path in ("/data/overview", "/data/events?q=part", "/data/task?task=T-001"):
        assert viewer.ask(path).status == 200
    assert {path.name: path.stat().st_mtime_ns for path in directory.iterdir()} == before


def test_an_export_is_one_file_that_names_no_other(home: Path, tmp_path: Path) -> None:
    target = tmp_path / "night.html"
    done = visualize(home, "--export", str(target))
    assert done.returncode == 0, done.stderr
    text = target.read_text("utf-8")
    assert text.count("<script") == text.count("</script>") == 4
    assert not re.search(r"""(src|href)=["'](?!data:)""", text)
    assert "Apache License" in text or "MIT License" in text
    (data,) = re.findall(r'id="session-data">(.*?)</script>', text)
    assert json.loads(data)["overview"]["id"] == SESSION
    assert [path.name for path in tmp_path.iterdir()] == ["night.html"]


def test_an_export_that_cannot_be_written_is_one_line(home: Path, tmp_path: Path) -> None:
    done = visualize(home, "--export", str(tmp_path / "none" / "night.html"))
    assert done.returncode == 2
    assert "cannot write" in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_export_takes_the_place_of_an_ordinary_file_alone(home: Path, tmp_path: Path) -> None:
    pipe, folder = tmp_path / "pipe", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()
    before = [path.lstat() for path in (pipe, folder)]
    for place in (pipe, folder):
        done = visualize(home, "--export", str(place))
        assert done.returncode == 2
        assert f"cannot write {place}: it is no ordinary file" in done.stderr
    assert [path.lstat() for path in (pipe, folder)] == before


def test_an_export_through_a_link_writes_what_the_link_names(home: Path, tmp_path: Path) -> None:
    link, target = tmp_path / "latest.html", tmp_path / "night.html"
    link.symlink_to(target.name)
    assert visualize(home, "--export", str(link)).returncode == 0
    assert link.readlink() == Path(target.name)
    assert target.read_text("utf-8").startswith("<!doctype html>")


def test_a_redacted_export_leaves_out_prompts_output_and_paths(home: Path, tmp_path: Path) -> None:
    whole, redacted = tmp_path / "whole.html", tmp_path / "redacted.html"
    visualize(home, "--export", str(whole))
    visualize(home, "--export", str(redacted), "--redact")
    for secret in ("You work in a repository.", "a line that says a little more", "/nowhere/words"):
        assert secret in whole.read_text("utf-8")
        assert secret not in redacted.read_text("utf-8")
    assert "I take the next step." in redacted.read_text("utf-8")
