"""The proof of a seed on a real base: real pytest, real ruff, real errors."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support.gate_project import RUFF
from support.git_repo import Repo

from tilth.contract.prd import Plan
from tilth.gate.export import Runtime
from tilth.interview.proof import FileProof, Prover, prove
from tilth.sandbox.confinement import Access, Unconfined, environment

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": (
        "class Cart:\n"
        "    def __init__(self):\n        self.items = []\n\n"
        "    def pay(self, how):\n        raise ValueError(how)\n\n\n"
        "def price(item):\n    return 1\n"
    ),
}
RIGHT = """\
import asyncio

import pytest

from shop import cart
from shop.cart import Cart, price


@pytest.fixture
def taxed():
    from shop.tax import rate

    return rate


def test_value():
    assert price("x") == 2


def test_raises():
    with pytest.raises(KeyError):
        price("x")


def test_name():
    from shop.cart import total

    assert total


def test_attribute_of_a_module():
    assert cart.total() == 0


def test_attribute_of_a_class():
    assert Cart.empty() is None


def test_attribute_of_a_thing():
    assert Cart().total == 0


def test_patched(monkeypatch):
    monkeypatch.setattr("shop.cart.clock", 1)


def test_parameter():
    assert price("x", currency="EUR") == 1


def test_constructor():
    assert Cart(items=[]).items == []


def test_raised_by_the_project():
    assert Cart().pay("cash")


def test_fixture(taxed):
    assert taxed == 1


def test_asynchronous():
    async def work():
        assert price("x") == 2

    asyncio.run(work())


@pytest.mark.parametrize("n", [1, 2])
def test_many(n):
    assert price(n) == n + 1
"""
WRONG = """\
import json
import subprocess

from shop.cart import price


def test_green():
    assert price("x") == 1


def test_own_type_error():
    assert price("x") + "1" == 2


def test_own_key_error():
    assert {}["x"] == price("x")


def test_nothing():
    assert None.total == price("x")


def test_output():
    assert json.loads("")["x"] == 1


def test_program():
    subprocess.run(["false"], check=True)


def test_fixture(nobody):
    assert nobody == price("x")


async def test_asynchronous():
    assert price("x") == 2


def test_own_helper():
    class Fake:
        pass

    assert Fake().total == price("x")
"""


@pytest.fixture(scope="module")
def prover(tmp_path_factory: pytest.TempPathFactory) -> Prover:
    root = tmp_path_factory.mktemp("proof")
    repo = Repo(root / "repo", FILES)
    python = Path(sys.executable)
    trees = repo.workspace()
    runtime = Runtime(
        export=trees.export,
        confinement=Unconfined(),
        access=Access(),
        env=environment(os.environ, home=root, path_first=python.parent),
        python=python,
        ruff=RUFF,
        scratch=root / "scratch",
        stands_for=(repo.root,),
    )
    return Prover(runtime, trees, repo.head(), 30)


def test_it_says_what_is_being_tried(prover: Prover) -> None:
    heard: list[str] = []
    replace(prover, at=heard.append).try_out(
        {"test_t001_a.py": RIGHT, "test_t002_b.py": RIGHT}, "{}"
    )
    what = ("tests/test_t001_a.py", "tests/test_t002_b.py", "all tests together")
    assert heard == [f"trying {each} on {prover.base[:7]}" for each in what]


def tried(prover: Prover, text: str) -> FileProof:
    return prover.try_out({"test_t001_a.py": text}, "{}")["tests/test_t001_a.py"]


def test_what_the_project_lacks_makes_a_test_red_for_the_right_reason(prover: Prover) -> None:
    proof = tried(prover, RIGHT)
    assert proof.problems == ()
    assert (proof.tests, proof.collects, proof.red) == (13, True, True)


def test_every_fault_of_a_test_is_named_with_its_place(prover: Prover) -> None:
    proof = tried(prover, WRONG)
    said = {line.partition(": ")[0].partition("::")[2]: line for line in proof.problems}
    assert set(said) == {
        "test_green",
        "test_own_type_error",
        "test_own_key_error",
        "test_nothing",
        "test_output",
        "test_program",
        "test_fixture",
        "test_asynchronous",
        "test_own_helper",
    }
    assert said["test_own_type_error"].endswith("(tests/test_t001_a.py:12)")
    assert not proof.red


def test_a_missing_module_of_the_project_is_red_at_collection(prover: Prover) -> None:
    proof = tried(prover, "from shop.tax import rate\n\n\ndef test_rate():\n    assert rate == 1\n")
    assert (proof.problems, proof.collects, proof.red) == ((), True, True)


def test_a_slip_behind_a_missing_module_is_seen_all_the_same(prover: Prover) -> None:
    text = "from shop.tax import rate\n\n\ndef test_rate():\n    assert rat(rate) == 1\n"
    twice = f"{text}\n\ndef test_rate():\n    assert rate\n"
    proof = tried(prover, twice)
    assert [line.partition(": ")[2].split(" ")[0] for line in proof.problems] == [
        "Undefined",
        "Redefinition",
    ]


def test_a_test_that_ends_the_process_is_named(prover: Prover) -> None:
    proof = tried(prover, "import os\n\n\ndef test_a():\n    os._exit(0)\n")
    assert "ended the test process (exit code 0)" in proof.problems[0]


def test_a_file_that_leaves_at_import_is_named(prover: Prover) -> None:
    proof = tried(prover, "import sys\n\nsys.exit(3)\n\n\ndef test_a():\n    assert 0\n")
    assert not proof.collects
    assert proof.problems


def test_a_task_that_is_done_is_not_proven(prover: Prover) -> None:
    tasks = [
        {
            "id": f"T-00{number}",
            "title": "t",
            "description": "d",
            "acceptance_criteria": ["c"],
            "status": status,
        }
        for number, status in ((1, "done"), (2, "pending"))
    ]
    plan = Plan.model_validate({"tasks": tasks})
    tests = {"test_t001_a.py": "def test_a():\n    assert True\n"}
    proof = prove(prover, plan, tests)
    assert [task.id for task in proof.tasks] == ["T-002"]
    assert proof.problems == ("T-002: has no test file: write tests/test_t002_<name>.py",)
