"""The two flags, and the conventions of the project."""

import ast
import dataclasses
import os
import sys
from pathlib import Path

import mirror_options
import pytest
from mirror_options import Options, UsageError, parse_arguments

SOURCE = Path(mirror_options.__file__).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "value",
    [
        "",
        "-1",
        "+2",
        "1.0",
        "1e1",
        " 3",
        "3 ",
        "1_0",
        "0",
        "00",
        "x",
        "1000",
        "\u0663",
        "\u00b2",
        "3,4",
    ],
)
def test_jobs_are_a_whole_number_in_plain_digits(value):
    for arguments in (["a", f"--jobs={value}"], ["a", "--jobs", value]):
        with pytest.raises(UsageError, match="--jobs"):
            parse_arguments(arguments)


def test_a_very_long_number_is_refused_like_any_other():
    with pytest.raises(UsageError, match="--jobs"):
        parse_arguments(["a", "--jobs", "9" * 5000])


def test_jobs_may_be_written_with_zeros_in_front():
    assert parse_arguments(["--jobs=08", "a"]).jobs == 8
    assert type(parse_arguments(["--jobs=8", "a"]).jobs) is int


def test_patterns_keep_their_order_and_their_doubles():
    given = ["z", "a", "z", "", "--jobs", "-x", "k=v"]
    arguments = ["src", *(part for pattern in given for part in ("--exclude", pattern))]
    assert list(parse_arguments(arguments).exclude) == given
    joined = ["src", *(f"--exclude={pattern}" for pattern in given)]
    assert list(parse_arguments(joined).exclude) == given


@pytest.mark.parametrize("flag", ["--jobs", "--exclude", "--output"])
def test_a_missing_value_is_refused_with_the_name_of_the_flag(flag):
    with pytest.raises(UsageError, match=flag):
        parse_arguments(["a", flag])


@pytest.mark.parametrize(
    "arguments",
    [[], ["a", "b"], ["a", "--verbose=1"], ["a", "--job=1"], ["a", "--excluded=x"], ["-"]],
)
def test_whatever_else_is_wrong_is_refused(arguments):
    with pytest.raises(UsageError):
        parse_arguments(arguments)


def test_the_list_handed_in_is_not_changed():
    arguments = ["--jobs", "2", "a", "--exclude", "x", "--output", "o"]
    before = list(arguments)
    parse_arguments(arguments)
    assert arguments == before
    assert parse_arguments(tuple(arguments)) == parse_arguments(arguments)


def test_options_are_frozen_and_hashable_values():
    one = parse_arguments(["a", "--exclude", "x", "--jobs=2"])
    other = parse_arguments(["--jobs", "2", "--exclude=x", "a"])
    assert one == other
    assert {one: 1}[other] == 1
    assert hash(Options("a")) == hash(parse_arguments(["a"]))
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.jobs = 3


def test_nothing_is_kept_from_one_call_to_the_next():
    parse_arguments(["a", "--exclude", "x", "--jobs", "5"])
    assert parse_arguments(["a"]) == Options("a")


def test_the_machine_does_not_decide(monkeypatch, capsys):
    for name in ("JOBS", "MIRROR_JOBS", "MAKEFLAGS", "MIRROR_EXCLUDE", "EXCLUDE"):
        monkeypatch.setenv(name, "7")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    monkeypatch.setattr(sys, "argv", ["mirror", "--jobs", "7"])
    assert parse_arguments(["a"]).jobs == 1
    assert parse_arguments(["a", "--jobs", "999"]).jobs == 999
    with pytest.raises(UsageError):
        parse_arguments(["a", "--jobs=x"])
    assert capsys.readouterr() == ("", "")
    for word in ("environ", "getenv", "cpu_count", "sys.argv", "sys.exit", "print("):
        assert word not in SOURCE


def test_errors_are_caught_by_their_own_type():
    for node in ast.walk(ast.parse(SOURCE)):
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None
            names = {name.id for name in ast.walk(node.type) if isinstance(name, ast.Name)}
            assert not names & {"Exception", "BaseException"}
