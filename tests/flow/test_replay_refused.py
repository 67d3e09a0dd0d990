"""Replays that cannot be: one clear line each, and nothing changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.flow_site import Site, read_lines
from support.messages_api import call
from support.replays import belongings, copy, say_of

from tilth.base.errors import CorruptSession, TilthError, UnknownSession, UserError
from tilth.replay.run import replay


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = Site.make(tmp_path_factory.mktemp("made"))
    site.run(site.bundle(1), worker=[call("bash", command="echo one")])
    return site


@pytest.fixture
def site(made: Site, tmp_path: Path) -> Site:
    return copy(made, tmp_path)


def log_of(site: Site) -> Path:
    return site.session() / "events.jsonl"


def refusal(site: Site, wanted: str = "latest", *, verify_only: bool = True) -> TilthError:
    """Give the error of a replay, which must be one line and leave all as it was."""
    environ = {"TILTH_HOME": str(site.root / "home")}
    files = {path: path.read_bytes() for path in site.root.rglob("*") if path.is_file()}
    with pytest.raises(TilthError) as caught:
        replay(wanted, verify_only=verify_only, environ=environ)
    assert files == {path: path.read_bytes() for path in site.root.rglob("*") if path.is_file()}
    assert len(str(caught.value).splitlines()) == 1
    return caught.value


@pytest.mark.parametrize("wanted", ["2099", "../etc", "", "20990101-000000-abcdef"])
def test_an_unknown_id_is_refused(site: Site, wanted: str) -> None:
    assert isinstance(refusal(site, wanted), UnknownSession)


def test_a_bad_line_in_the_middle_is_named(site: Site) -> None:
    lines = log_of(site).read_bytes().splitlines(keepends=True)
    lines[4] = lines[4][:40] + b"\n"
    log_of(site).write_bytes(b"".join(lines))
    error = refusal(site)
    assert isinstance(error, CorruptSession)
    assert "line 5 is not JSON" in str(error)


def test_a_missing_line_is_named(site: Site) -> None:
    lines = log_of(site).read_bytes().splitlines(keepends=True)
    log_of(site).write_bytes(b"".join(lines[:4] + lines[5:]))
    assert "line 5 has seq 6" in str(refusal(site))


def spoil(site: Site, kind: str, change: Callable[[dict[str, object]], None]) -> None:
    lines = read_lines(log_of(site))
    for line in lines:
        if line["type"] == kind:
            change(line["payload"])
    log_of(site).write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("prompt_assembled", "head"),
        ("model_call", "content"),
        ("model_call", "request_sha256"),
        ("tool_result", "content"),
    ],
)
def test_an_event_that_lacks_what_it_must_have_is_named(site: Site, kind: str, field: str) -> None:
    spoil(site, kind, lambda payload: payload.pop(field))
    assert f"({kind}) cannot be trusted: {field}: Field required" in str(refusal(site))


def test_a_newer_schema_is_refused(site: Site) -> None:
    spoil(site, "session_start", lambda payload: payload.update(schema_version=99))
    assert "written in schema 99" in str(refusal(site))


def test_a_missing_log_is_refused(site: Site) -> None:
    log_of(site).unlink()
    assert "the recording cannot be read" in str(refusal(site))


def test_a_log_without_a_model_call_is_refused(site: Site) -> None:
    first = log_of(site).read_bytes().splitlines(keepends=True)[0]
    log_of(site).write_bytes(first)
    assert "nothing to replay" in str(refusal(site))


def test_a_torn_last_line_was_never_said_and_is_left_out(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    with log_of(site).open("ab") as log:
        log.write(b'{"seq": 99, "ty')
    before = belongings_of(site)
    code, said = say_of(site)
    assert code == 0
    assert "1/1 requests identical" in said
    assert "is torn" in capsys.readouterr().err
    assert belongings_of(site) == before


def belongings_of(site: Site) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in site.root.rglob("*") if path.is_file()}


def test_without_a_sandbox_nothing_recorded_is_run(site: Site) -> None:
    environ = {"TILTH_HOME": str(site.root / "home"), "TILTH_SANDBOX": "off"}
    with pytest.raises(UserError, match="--verify-only"):
        replay("latest", verify_only=False, environ=environ)
    assert replay("latest", verify_only=True, environ=environ) == 0


def test_a_source_repository_that_is_gone_is_named(site: Site, tmp_path: Path) -> None:
    spoil(site, "session_start", lambda payload: payload.update(source=str(tmp_path / "gone")))
    assert "is gone" in str(refusal(site, verify_only=False))
    assert say_of(site)[0] == 0


def test_a_source_repository_without_the_base_commit_is_named(site: Site, tmp_path: Path) -> None:
    other = Site.make(tmp_path / "other", {"x.txt": "another history\n"})
    spoil(site, "session_start", lambda payload: payload.update(source=str(other.repo)))
    before = belongings(other)
    assert "is no longer in" in str(refusal(site, verify_only=False))
    assert belongings(other) == before
