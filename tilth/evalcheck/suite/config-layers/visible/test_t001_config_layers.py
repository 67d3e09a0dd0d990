from layers import merge
from settings import DEFAULTS, load


# AC-1
def test_tables_are_merged_at_any_depth():
    merged = merge({"a": {"b": {"c": 1, "d": 2}}}, {"a": {"b": {"c": 3}}})
    assert merged == {"a": {"b": {"c": 3, "d": 2}}}


def test_lists_are_replaced():
    assert merge({"a": [1, 2]}, {"a": [3]}) == {"a": [3]}


# AC-2
def test_a_table_replaces_a_plain_value():
    assert merge({"a": 1}, {"a": {"b": 2}}) == {"a": {"b": 2}}


# AC-3
def test_none_takes_a_key_away():
    assert merge({"a": 1, "b": {"c": 2, "d": 3}}, {"a": None, "b": {"c": None}}) == {"b": {"d": 3}}


# AC-5
def test_the_layers_are_not_changed():
    first, second = {"a": {"b": 1}}, {"a": {"c": 2}}
    merge(first, second)
    assert (first, second) == ({"a": {"b": 1}}, {"a": {"c": 2}})


# AC-6
def test_no_layers():
    assert merge() == {}
    assert merge({}, {"a": 1}, {}) == {"a": 1}


def test_a_user_sets_the_port_alone():
    assert load({"server": {"port": 587}})["server"]["host"] == DEFAULTS["server"]["host"]
