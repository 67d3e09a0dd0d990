"""The planted changes of `tilth eval-check` are what they claim to be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.planted_changes import bed, settled

from tilth.contract.verdict import RejectionCategory
from tilth.evalcheck.planted import Pair, pairs, planted, records

BY_NAME = {str(pair.category): pair for pair in pairs()}


def test_every_category_has_a_wrong_change_and_a_right_one() -> None:
    assert sorted(BY_NAME) == sorted(RejectionCategory)
    names = [change.name for change in planted()]
    assert len(names) == len(set(names)) == 2 * len(RejectionCategory)


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_both_changes_pass_the_real_gate_as_it_was_recorded(name: str) -> None:
    with bed(BY_NAME[name]) as ground:
        assert ground.record() == records()[name]


def test_what_differs_from_run_to_run_is_settled() -> None:
    assert settled("== 7 passed in 12.34s ==\n") == "== 7 passed in 0.01s =="


PROBES = {
    "acceptance_gap": "from durations import parse_duration\nparse_duration('')",
    "tests_pass_but_wrong": "from roman import to_roman\nassert to_roman(2024) == 'MMXXIV'",
    "half_finished": (
        "from shop import load_orders\ncalls = []\n"
        "def get(path):\n    calls.append(path)\n"
        "    if len(calls) < 3:\n        raise ConnectionError\n    return path\n"
        "assert load_orders(get, 7) == '/users/7/orders'"
    ),
    "spec_violation": "assert '/ 100' not in open('prices.py').read().replace('// 100', '')",
    "scope_creep": (
        "from cart import Cart\ncart = Cart()\ncart.add('pen', 100, 20)\n"
        "assert cart.total() == 2000"
    ),
}
REFUSES = {"acceptance_gap"}


def probe(folder: Path, pair: Pair, files: dict[str, str], code: str) -> bool:
    for name, text in {**pair.base, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], cwd=folder, capture_output=True, check=False, timeout=30
    )
    return done.returncode == 0


@pytest.mark.parametrize("name", sorted(PROBES))
def test_the_wrong_change_has_the_fault_it_names_and_the_right_one_has_not(
    tmp_path: Path, name: str
) -> None:
    pair = BY_NAME[name]
    wrong = probe(tmp_path / "wrong", pair, dict(pair.wrong.files), PROBES[name])
    right = probe(tmp_path / "right", pair, dict(pair.right.files), PROBES[name])
    assert (wrong, right) == ((True, False) if name in REFUSES else (False, True))


@pytest.mark.parametrize(("which", "code"), [("wrong", 0), ("right", 1)])
def test_only_the_right_regression_test_fails_on_the_old_code(
    tmp_path: Path, which: str, code: int
) -> None:
    pair = BY_NAME["weak_test"]
    change = pair.right if which == "right" else pair.wrong
    (tmp_path / "paging.py").write_text(pair.base["paging.py"], encoding="utf-8")
    (tmp_path / "test_paging.py").write_text(change.files["tests/test_paging.py"], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=."],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == code
