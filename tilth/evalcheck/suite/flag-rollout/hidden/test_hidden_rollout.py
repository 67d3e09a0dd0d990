"""Percentages, and the conventions of the project."""

import ast
import dataclasses
import hashlib
import inspect
from decimal import Decimal
from pathlib import Path

import featureflags
import pytest
from featureflags import Flag, FlagError, Flags, parse_flags

SOURCE = Path(featureflags.__file__).read_text(encoding="utf-8")
USERS = ["ada", "eve", "Zoë", "", "user 17", *(f"u{number}" for number in range(300))]


def bucket(name, user):
    """Give the bucket in hundredths, by the rule of the task."""
    digest = hashlib.sha256(f"{name}:{user}".encode()).hexdigest()
    return int(digest[:8], 16) % 10000


def is_on(percent, user, name="search"):
    return parse_flags({name: {"percent": percent}}).is_on(name, user)


@pytest.mark.parametrize("name", ["search", "größe"])
def test_the_bucket_is_as_written_down(name):
    for user in USERS:
        edge = bucket(name, user)
        assert not is_on(f"{edge // 100}.{edge % 100:02d}", user, name)
        above = edge + 1
        assert is_on(f"{above // 100}.{above % 100:02d}", user, name)


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("100", 100), ("100.00", 100), ("12.5", "12.5"), ("0.01", "0.01"), ("0.29", "0.29")],
)
def test_a_percentage_is_a_decimal(text, number):
    [flag] = parse_flags({"search": {"percent": text}})._flags.values()
    assert type(flag.percent) is Decimal
    assert flag.percent == Decimal(number)


def test_the_default_is_a_decimal_zero():
    assert type(Flag("x").percent) is Decimal
    assert Flag("x").percent == 0
    assert not parse_flags({"x": {}}).is_on("x", "ada")


@pytest.mark.parametrize(
    "percent",
    [
        12.5,
        50,
        True,
        None,
        "",
        " ",
        "x",
        "nan",
        "NaN",
        "inf",
        "sNaN",
        "1e1",
        "-1",
        "-0",
        "+5",
        "100.01",
        "1000",
        "0050",
        "1.2.3",
        "1.234",
        "12.",
        ".5",
        " 5",
        "5 ",
        "5%",
        "1_0",
        "1,5",
        "\u0665",
        "5\n",
        [],
        {},
        ["5"],
        Decimal(5),
    ],
)
def test_anything_else_is_a_flag_error_with_the_name(percent):
    with pytest.raises(FlagError, match="search"):
        parse_flags({"other": {}, "search": {"percent": percent}})


def test_all_and_named_users_work_as_before():
    flags = parse_flags(
        {"a": {"for_all": True, "percent": "0"}, "b": {"users": ["ada"], "percent": "0"}}
    )
    assert flags.is_on("a", "eve")
    assert flags.is_on("b", "ada")
    assert not flags.is_on("b", "eve")
    assert flags.is_on("a", "eve") is True


def test_flags_are_frozen_and_parameters_stay():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Flag("x").percent = Decimal(5)
    assert hash(Flag("x")) == hash(Flag("x"))
    assert list(inspect.signature(Flags.is_on).parameters) == ["self", "name", "user"]
    assert list(inspect.signature(parse_flags).parameters) == ["data"]
    assert Flag("x", True, frozenset({"u"})).users == {"u"}


def test_modules_hold_no_state():
    before = module_state()
    for user in USERS[:5]:
        is_on("50", user)
    assert module_state() == before


def module_state():
    """Give what the module holds in containers and caches, as text."""
    held = {name: value for name, value in vars(featureflags).items() if not name.startswith("__")}
    caches = {name: v.cache_info() for name, v in held.items() if hasattr(v, "cache_info")}
    kept = {n: v for n, v in held.items() if isinstance(v, dict | list | set | int | str)}
    return repr([caches, kept])


def test_there_is_no_float_no_hash_and_no_chance():
    for node in ast.walk(ast.parse(SOURCE)):
        if isinstance(node, ast.Constant):
            assert type(node.value) is not float
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            assert name not in ("float", "hash")
        if isinstance(node, ast.Import):
            assert not {"random", "secrets", "uuid"} & {name.name for name in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.module not in ("random", "secrets", "uuid")
