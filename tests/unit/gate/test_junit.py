"""JUnit reports: what is counted, what is not believed, and what a planted file cannot do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.gate_project import RIGHT, Project, report

from tilth.base.errors import Unreadable
from tilth.config.project import NamedValidator, ProjectFacts
from tilth.gate.junit import clear_reports, complaint, count_tests, read_counts

NODE = b"""<?xml version="1.0" encoding="utf-8"?>
<testsuites>
  <testcase name="adds" time="0.001" classname="test"/>
  <testsuite name="sub"><testcase name="fails"><failure type="x">no</failure></testcase></testsuite>
  <testcase name="later"><skipped type="todo"/></testcase>
</testsuites>"""
SUREFIRE = b"""<testsuite tests="3">
  <testcase name="a"><error/><system-out>failure</system-out></testcase>
  <testcase name="b"><failure/><error/></testcase>
  <testcase name="c"><flakyFailure/></testcase>
</testsuite>"""
TWICE = b"""<testsuites failures="2">
  <testsuite failures="1"><testcase><failure/></testcase></testsuite><testsuite failures="1"/>
</testsuites>"""
GREEN = "<testsuite><testcase name='a'/><testcase name='b'/></testsuite>"


def counts(**given: int) -> dict[str, int]:
    return {**dict.fromkeys(("collected", "passed", "failed", "errors", "skipped"), 0), **given}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (NODE, counts(collected=3, passed=1, failed=1, skipped=1)),
        (SUREFIRE, counts(collected=3, passed=1, errors=2)),
        (b"<testsuites/>", counts()),
        (b"<s><testcase status='notrun'/></s>", counts(collected=1, skipped=1)),
        (b"<j:suite xmlns:j='j'><j:testcase/></j:suite>", counts(collected=1, passed=1)),
        (b"<?xml version='1.0' encoding='iso-8859-1'?><s t='\xe4'/>", counts()),
    ],
)
def test_test_cases_are_counted_by_how_they_ended(
    document: bytes, expected: dict[str, int]
) -> None:
    assert count_tests("a.xml", document) == expected


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        # a suite may know of more failures than it has cases for
        (
            b"<testsuite failures='3' errors='1'><testcase/></testsuite>",
            counts(collected=1, passed=1, failed=3, errors=1),
        ),
        (
            b"<testsuites errors='2'><testsuite><testcase/></testsuite></testsuites>",
            counts(collected=1, passed=1, errors=2),
        ),
        # and its set-up may fail outside of any
        (
            b"<testsuite><error>no</error><failure/><testcase/></testsuite>",
            counts(collected=1, passed=1, failed=1, errors=1),
        ),
        # what it declares is not counted a second time
        (
            TWICE,
            counts(collected=1, failed=2),
        ),
        (
            b"<testsuite failures='' errors=' 0 '><testcase><failure/></testcase></testsuite>",
            counts(collected=1, failed=1),
        ),
    ],
)
def test_a_failure_that_a_suite_tells_beside_its_cases_counts(
    document: bytes, expected: dict[str, int]
) -> None:
    assert count_tests("a.xml", document) == expected


@pytest.mark.parametrize("number", ["many", "1.5", "9" * 5000])
def test_a_count_of_failures_that_is_no_number_is_not_read(number: str) -> None:
    document = f"<testsuite failures='{number}'><testcase/></testsuite>".encode()
    with pytest.raises(Unreadable, match=r"^its JUnit report a\.xml is not valid"):
        count_tests("a.xml", document)


def test_the_counts_of_several_reports_add_up(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(NODE)
    (tmp_path / "b.xml").write_bytes(SUREFIRE)
    assert read_counts(tmp_path, "*.xml")["collected"] == 6


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (b"", "a.xml is not valid"),
        (b"<testsuite>", "a.xml is not valid"),
        (b"\x00\xff", "a.xml is not valid"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "a.xml has a document type"),
        (b'<?xml version="1.0" encoding="nonsense"?><a/>', "a.xml is not valid"),
        (b"<?xml version='1.0' encoding='utf-7'?><a/>", "a.xml is not valid"),
    ],
)
def test_what_is_no_plain_report_is_not_read(document: bytes, said: str) -> None:
    with pytest.raises(Unreadable, match=said):
        count_tests("a.xml", document)


def test_a_report_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"^it wrote no JUnit report at out/\*.xml$"):
        read_counts(tmp_path, "out/*.xml")


def test_a_report_that_is_reached_by_a_link_is_neither_read_nor_taken_away(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    root.mkdir()
    (outside / "a.xml").write_bytes(NODE)
    (root / "linked").symlink_to(outside)
    (root / "b.xml").symlink_to(outside / "a.xml")
    os.mkfifo(root / "c.xml")
    for pattern in ("linked/*.xml", "*.xml", "**/*.xml"):
        clear_reports(root, pattern)
        with pytest.raises(Unreadable, match="wrote no JUnit report"):
            read_counts(root, pattern)
    assert (outside / "a.xml").read_bytes() == NODE


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (counts(collected=2, passed=1, skipped=1), None),
        (counts(), "nothing was proven"),
        (counts(collected=2, skipped=2), "nothing was proven"),
        (counts(collected=2, passed=1, failed=1), "1 tests that failed"),
        (counts(collected=2, passed=1, errors=1), "1 tests that failed"),
    ],
)
def test_a_green_command_passes_only_with_a_green_report(
    found: dict[str, int], said: str | None
) -> None:
    assert said is None if complaint(found) is None else said in (complaint(found) or "")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    files = {"calc.py": "x = 1\n", "old.xml": GREEN}
    return Project(tmp_path_factory.mktemp("junit") / "project", files)


@pytest.mark.parametrize(
    ("script", "passed", "tests"),
    [
        (f'echo "{GREEN}" > old.xml', True, counts(collected=2, passed=2)),
        # what the change itself brought along is no report of this run
        ("true", False, None),
        (f'echo "{GREEN}" > old.xml; exit 1', False, counts(collected=2, passed=2)),
        ("echo '<s><testcase><failure/></testcase></s>' > old.xml", False, counts(collected=1)),
        (
            "echo '<testsuite failures=\"1\"><testcase/></testsuite>' > old.xml",
            False,
            counts(collected=1),
        ),
    ],
)
def test_the_gate_counts_what_a_named_validator_reports(
    project: Project, script: str, passed: bool, tests: dict[str, int] | None
) -> None:
    named = NamedValidator(name="unit", command=("sh", "-c", script), junit="old.xml")
    facts = ProjectFacts(validators=(named,), replace_defaults=True)
    found = report(project.tried({"calc.py": RIGHT}, facts=facts), "unit")
    assert found.passed is passed
    assert (found.tests or {}).get("collected") == (tests or {}).get("collected")
