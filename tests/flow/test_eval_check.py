"""`tilth eval-check` against scripted evaluators whose mistakes are known beforehand."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from support.eval_suite import (
    SECOND,
    Checked,
    check_at,
    ideal,
    run_check,
    told,
    write_second,
    write_suite,
)
from support.flow_site import Site, accept, read_lines, reject, solve, submit
from support.light_gate import LIGHT
from support.messages_api import Answer, MessagesServer, Reply, Request, call, error, say
from support.suite_case import patch

from tilth.base.errors import UserError
from tilth.config.settings import load
from tilth.evalcheck.wanted import Wanted
from tilth.session.measured import newest

PROBE = "from numbers_ import is_even\n\n\ndef test_below_zero():\n    assert is_even(-4)\n"
KEYS = {
    "false_accept",
    "false_reject",
    "unreadable",
    "proven",
    "cost_usd",
    "by_category",
    "cases",
}


def flawed(request: Request) -> Answer:
    """Err in ways that are known: one false accept, one false reject, one answer nobody can read.

    The other wrong changes are proven wrong by a probe; one only after a first answer in words.
    """
    text, again = told(request), len(request.body["messages"]) > 1
    is_second = SECOND in text
    if "not n & 1" in text:
        return say("Looks fine to me.")
    if "n in (2," in text:
        return accept(score=90) if again else call("read_file", path="numbers_.py")
    if "n > 0 and" in text and is_second and not again:
        return say("I would reject this.")
    if "n > 0 and" in text:
        return reject("tests_pass_but_wrong", concern="-4 is even.", probe=PROBE)
    return reject("scope_creep", concern="It is too short.") if is_second else accept()


def write_light(folder: Path) -> Path:
    """Write a suite whose gate asks next to nothing: for what is not about the evidence."""
    write_suite(folder)
    (folder / "even-numbers" / "base" / "pyproject.toml").write_text(LIGHT, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_second(write_suite(tmp_path_factory.mktemp("suite")))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site(tmp_path_factory.mktemp("flawed"))


@pytest.fixture(scope="module")
def checked(site: Site, suite: Path) -> Checked:
    return run_check(site, flawed, wanted=Wanted(suite=suite))


def test_the_rates_of_a_known_evaluator_come_out_exactly(checked: Checked) -> None:
    assert checked.code == 0
    found = checked.document
    assert set(found) == KEYS
    assert found["false_accept"] == {
        "count": 1,
        "of": 3,
        "rate": 0.333333,
        "low": 0.061492,
        "high": 0.79234,
    }
    assert (found["false_reject"]["count"], found["false_reject"]["of"]) == (1, 2)
    assert (found["unreadable"], found["proven"]) == (1, 2)
    assert found["cost_usd"] > 0
    half = found["by_category"]["half_finished"]
    assert half["false_reject"]["rate"] == 1.0
    assert (half["false_accept"]["count"], half["false_accept"]["of"]) == (0, 1)
    wrong = found["by_category"]["tests_pass_but_wrong"]
    assert (wrong["false_accept"]["count"], wrong["unreadable"]) == (1, 1)


def test_every_case_is_told_with_its_verdict_and_why_it_could_not_be_read(
    checked: Checked,
) -> None:
    by_name = {(case["case"], case["change"]): case for case in checked.document["cases"]}
    assert len(by_name) == 6
    unread = by_name["even-numbers", "right/last-bit"]
    assert (unread["verdict"], unread["mistake"]) == (None, "unreadable")
    assert len(unread["unreadable"]) == 2
    assert "call submit_verdict exactly once" in unread["unreadable"][0]
    assert by_name["even-numbers", "wrong/only-some"]["mistake"] == "false_accept"
    mended = by_name["odd-numbers", "wrong/above-zero"]
    assert (mended["verdict"], mended["proof"]) == ("reject", "proven")
    assert len(mended["unreadable"]) == 1
    assert "no readable verdict: call submit_verdict exactly once" in checked.err


def test_right_and_wrong_are_asked_in_turn_and_told_as_they_go(checked: Checked) -> None:
    sides = [case["right"] for case in checked.document["cases"]]
    assert sides == [True, False, True, False, True, False]
    lines = checked.err.splitlines()
    assert lines[0] == "playing 6 changes to claude-sonnet-5-5"
    assert lines[1].startswith("1/6 ETA ")
    assert lines[6].startswith("6/6 ETA 0:00: ")


def test_it_is_kept_by_model_and_prompts_and_nothing_else_is_left(
    checked: Checked, site: Site, suite: Path
) -> None:
    (kept,) = read_lines(site.root / "home" / "eval-checks.jsonl")
    assert (kept["model"], kept["whole"]) == ("claude-sonnet-5-5", True)
    assert kept["suite"] == str(suite)
    assert len(kept["prompt_sha256"]) == 64
    assert kept["false_accept"] == checked.document["false_accept"]
    known = newest(load({}, site.environ("http://127.0.0.1:1")), "claude-sonnet-5-5")
    assert known is not None
    assert known.figure == "false accepts 33.3% (95% 6.1% to 79.2%), n=3"
    left = {path.suffix for path in (site.root / "home" / "eval-check").iterdir()}
    assert left == {".lock"}


def test_the_evaluator_is_asked_exactly_as_in_a_run(checked: Checked, tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    run = site.run(site.bundle(1), worker=[solve(1) + submit(1)], evaluator=[accept()])
    real = run.asked("evaluator")[0].body
    assert len(checked.requests) == 9
    for request in checked.requests:
        body = request.body
        assert {key: body[key] for key in body if key != "messages"} == {
            key: real[key] for key in real if key != "messages"
        }
        text = told(request)
        for heading in _headings(str(real["messages"][0]["content"][0]["text"])):
            assert heading in text
        assert "## pytest: passed" in text
        # The case is its author's claim, and comes after what it claims.
        assert text.index("+def is_even") < text.index("## The worker's case (a claim: test it)")
        assert "Zero and below are refused" not in text


def _headings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("## ")]


def test_a_cap_stops_it_and_the_same_command_goes_on(tmp_path: Path) -> None:
    site, wanted = Site(tmp_path), Wanted(suite=write_light(tmp_path / "suite"), limit=1, repeat=2)
    strict = {"TILTH_EVAL_THRESHOLD": "96"}
    with MessagesServer(ideal) as server:
        stopped = check_at(server, site, wanted, TILTH_MAX_TOKENS="10", **strict)
        assert (stopped.code, stopped.out) == (3, "")
        assert "stopped after 1 of 2: TILTH_MAX_TOKENS is used up; raise it" in stopped.err
        assert read_lines(tmp_path / "home" / "eval-checks.jsonl") == []
        done = check_at(server, site, wanted, **strict)
    assert done.code == 0
    assert (len(stopped.requests), len(done.requests)) == (1, 1)
    assert "1 verdict is there from before" in done.err
    first, second = done.document["cases"]
    assert (first["round"], second["round"]) == (1, 2)
    # An accept below the threshold counts as the rejection it would be.
    assert (second["mistake"], second["below_threshold"]) == ("false_reject", True)
    assert done.document["false_reject"]["of"] == 2
    assert done.document["cost_usd"] == pytest.approx(2 * first["cost_usd"])
    (kept,) = read_lines(tmp_path / "home" / "eval-checks.jsonl")
    assert (kept["whole"], kept["repeat"]) == (False, 2)


def test_ctrl_c_stops_it_and_what_was_played_is_not_played_again(tmp_path: Path) -> None:
    site, wanted = Site(tmp_path), Wanted(suite=write_light(tmp_path / "suite"), limit=2)

    def stopping(request: Request) -> Reply:
        if len(server.requests) == 1:
            os.kill(os.getpid(), signal.SIGINT)
        return ideal(request)

    with MessagesServer(stopping) as server:
        stopped = check_at(server, site, wanted)
        assert (stopped.code, stopped.out) == (130, "")
        assert "the same command goes on from here" in stopped.err
        done = check_at(server, site, wanted)
    assert done.code == 0
    assert len(done.document["cases"]) == 2
    assert len(stopped.requests) + len(done.requests) == 2


def test_an_endpoint_that_refuses_is_exit_5_and_prints_no_table(tmp_path: Path) -> None:
    wanted = Wanted(suite=write_second(write_light(tmp_path / "suite")))
    checked = run_check(Site(tmp_path), lambda request: error(401, "no such key"), wanted=wanted)
    assert (checked.code, checked.out) == (5, "")
    assert "stopped after 0 of 6" in checked.err
    assert "no such key" in checked.err
    assert not (tmp_path / "home" / "eval-checks.jsonl").exists()


def test_a_broken_case_is_named_and_skipped_and_the_rest_is_measured(tmp_path: Path) -> None:
    folder = write_suite(tmp_path / "suite")
    case = folder / "even-numbers"
    (case / "right" / "last-bit.patch").unlink()
    red = patch("    return True\n", "It fails the visible test.")
    (case / "wrong" / "above-zero.patch").write_text(red, encoding="utf-8")
    unfit = (case / "wrong" / "only-some.patch").read_text("utf-8").replace("2 * n", "3 * n")
    (case / "wrong" / "only-some.patch").write_text(unfit, encoding="utf-8")
    (folder / "half").mkdir()
    wanted = Wanted(suite=folder)
    checked = run_check(Site(tmp_path), ideal, wanted=wanted, TILTH_MUTATION_SECONDS="20")
    assert checked.code == 1
    assert "half: case.toml: cannot be read: No such file or directory (skipped)" in checked.err
    assert "even-numbers: wrong/above-zero: pytest fails on it" in checked.err
    assert "even-numbers: wrong/only-some: the patch does not fit base/ (skipped)" in checked.err
    assert [case["change"] for case in checked.document["cases"]] == ["right/remainder"]
    # Mutants of the change are told as evidence, as in a run.
    assert "Faults planted in the change" in told(checked.requests[0])
    (kept,) = read_lines(tmp_path / "home" / "eval-checks.jsonl")
    assert kept["whole"] is False


@pytest.mark.parametrize(
    ("wanted", "settings", "says"),
    [
        ({"suite": "nowhere"}, {}, "no such directory"),
        ({"suite": "."}, {}, "holds no case"),
        ({"suite": ".", "history": True}, {}, "exclude each other"),
        ({"history": True}, {}, "no person has ruled on a tree"),
        ({"reviewer": "big"}, {}, "defines no reviewer 'big'; it has: none"),
        ({}, {"TILTH_SANDBOX": "off"}, "only in a sandbox: set TILTH_SANDBOX=auto"),
        ({}, {"TILTH_WORKER_MODEL": ""}, "TILTH_WORKER_MODEL is not set"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_asked(
    tmp_path: Path, wanted: dict[str, Any], settings: dict[str, str], says: str
) -> None:
    (tmp_path / "empty").mkdir()
    if "suite" in wanted:
        wanted["suite"] = tmp_path / "empty" / wanted["suite"]
    with pytest.raises(UserError, match=re.escape(says)):
        run_check(Site(tmp_path), ideal, wanted=Wanted(**wanted), **settings)
    assert not (tmp_path / "home").exists()
