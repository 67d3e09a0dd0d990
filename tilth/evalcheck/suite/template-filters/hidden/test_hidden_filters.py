"""Nested values and filters, and the conventions of the project."""

import ast
import copy
import inspect
from pathlib import Path

import pytest
import templates
from templates import TemplateError, field_names, render

SOURCE = Path(templates.__file__).read_text(encoding="utf-8")


class Account:
    secret = "hunter2"

    def __str__(self):
        return "account"


def values():
    return {
        "user": Account(),
        "name": " Bo ",
        "items": ["a", "b"],
        "deep": {"a": {"b": {"c": {"d": 1}}}},
        "none": None,
        "keys": {"upper": "k", "class": "c", "items": "i"},
    }


def test_any_depth_and_any_key():
    assert render("{{ deep.a.b.c.d }}", values()) == "1"
    assert render("{{ keys.upper }}{{ keys.class }}{{ keys.items }}", values()) == "kci"
    assert render("{{ deep.a.b.c }}", values()) == "{'d': 1}"


@pytest.mark.parametrize(
    "field",
    [
        "user.secret",
        "user.__class__",
        "user.__class__.__mro__",
        "name.upper",
        "items.0",
        "items.append",
        "items.count",
        "none.x",
        "deep.keys",
        "deep.a.get",
        "deep.x",
        "deep.a.x.y",
        "deep.a.b.c.d.e",
        "deep.",
        ".deep",
        "deep.a b",
        "",
        "name |",
        "| upper",
        "name | ",
        "name || upper",
        "name | title",
        "name | UPPER",
        "name | upper()",
        "name | __class__",
        "name | strip",
        "name.upper()",
        "len(name)",
        "[1]",
        "'x'",
        "0",
    ],
)
def test_everything_else_is_a_template_error_with_its_line(field):
    with pytest.raises(TemplateError, match="^line 3:"):
        render("a\n{{ name }}\n{{ " + field + " }}", values())


def test_the_line_is_that_of_the_field():
    with pytest.raises(TemplateError, match="^line 4:"):
        render("{{ name }}\n\n\n {{ deep.a.b.x }}\n{{ name }}", values())


def test_filters_work_on_the_text_of_any_value():
    text = "{{ none | upper }} {{ user|upper }} {{ name |trim|lower| upper }}|{{ name | upper }}|"
    assert render(text, values()) == "NONE ACCOUNT BO| BO |"


def test_a_filled_value_is_not_read_as_a_template():
    assert render("{{ a }}", {"a": "{{ b }} {c}", "b": "no"}) == "{{ b }} {c}"


def test_fields_are_listed_as_before():
    assert field_names("{{ a.b }}{{ c|upper }}{{ a.b }}") == ["a.b", "c|upper"]


def test_values_are_not_changed_and_modules_hold_no_state():
    given = {"deep": {"a": {"b": [1]}}, "name": "x"}
    before, state = copy.deepcopy(given), module_state()
    for number in range(3):
        render("{{ deep.a.b }} {{ name | upper }}" + " " * number, given)
    assert given == before
    assert module_state() == state


def module_state():
    """Give what the module holds in containers and plain values, as text."""
    kinds = (dict, list, set, int, str, tuple)
    held = {name: value for name, value in vars(templates).items() if not name.startswith("__")}
    caches = {name: v.cache_info() for name, v in held.items() if hasattr(v, "cache_info")}
    return repr([caches, {name: value for name, value in held.items() if isinstance(value, kinds)}])


def test_nothing_of_a_template_is_run_or_used_to_reach_into_python():
    called = set()
    for node in ast.walk(ast.parse(SOURCE)):
        if isinstance(node, ast.Call):
            called.add(getattr(node.func, "id", getattr(node.func, "attr", "")))
    assert not called & {"eval", "exec", "__import__", "getattr", "attrgetter", "methodcaller"}
    assert not called & {"format", "format_map", "literal_eval", "vars"}
    assert "__dict__" not in SOURCE


def test_the_parameters_stay():
    assert list(inspect.signature(render).parameters) == ["template", "values"]
    assert list(inspect.signature(field_names).parameters) == ["template"]
