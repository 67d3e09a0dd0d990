"""`tilth eval-check --history`: trees a person has ruled on are put to the evaluator again."""

from __future__ import annotations

from pathlib import Path

from support.eval_suite import Checked, run_check, told
from support.flow_site import Site, accept, read_lines, reject, solve, submit, write
from support.messages_api import Answer, Request
from support.session_files import snapshot
from support.words import UNREACHED

from tilth.contract.operator_word import Verb
from tilth.evalcheck.wanted import Wanted
from tilth.session.speaking import Draft
from tilth.show.words import say_word

SENT_BACK = "The sum of big numbers is cut."
NOTED = "Mind the type hints."


def judged_by_a_person(site: Site) -> None:
    """Leave a session in which one done task was sent back and done again, and one accepted."""
    better = write("feature1.py", "def add1(x):\n    return 1 + x\n")
    best = write("feature1.py", "def add1(x):\n    return sum((x, 1))\n")
    site.run(
        site.bundle(1, 2),
        worker=[solve(1) + submit(1), better + submit(1), solve(2) + submit(2)],
        evaluator=[reject(), accept(resolved=["C1"]), accept()],
    )
    for word in (
        Draft(Verb.REJECT, SENT_BACK, task="T-001", category="half_finished"),
        Draft(Verb.TELL, NOTED, task="T-001"),
        Draft(Verb.ACCEPT, "", task="T-002"),
    ):
        assert say_word("latest", word, environ=site.environ(UNREACHED)) == 0
    again = site.resume(worker=[best + submit(1)], evaluator=[accept()])
    assert again.code == 0


def lenient(request: Request) -> Answer:
    """Accept all but one."""
    return reject() if "add2" in told(request) else accept()


def test_the_last_word_of_a_person_is_the_right_answer(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    judged_by_a_person(site)
    before = snapshot(site.sessions)
    checked: Checked = run_check(site, lenient, wanted=Wanted(history=True))
    assert checked.code == 0
    assert snapshot(site.sessions) == before
    found = checked.document
    assert [(case["right"], case["mistake"]) for case in found["cases"]] == [
        (True, "false_reject"),
        (False, "false_accept"),
    ]
    assert (found["false_accept"]["of"], found["false_reject"]["of"]) == (1, 1)
    assert list(found["by_category"]) == ["acceptance_gap", "half_finished"]
    right, wrong = (told(request) for request in checked.requests)
    assert "+def add2(x):" in right
    assert "tests/test_t001_add.py ." in right
    # It stands where it stood then: what was said before is known, what came later is not.
    assert "+    return 1 + x" in wrong
    assert "C1: reject acceptance_gap" in wrong
    assert "error (ModuleNotFoundError: No module named 'feature1')" in wrong
    assert SENT_BACK not in wrong
    assert NOTED not in wrong
    (kept,) = read_lines(tmp_path / "home" / "eval-checks.jsonl")
    assert (kept["suite"], kept["whole"]) == ("history", False)
