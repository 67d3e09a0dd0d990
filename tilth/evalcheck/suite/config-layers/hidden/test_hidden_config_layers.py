import copy

import pytest

import settings
from layers import merge


def test_a_plain_value_replaces_a_table():
    assert merge({"a": {"b": 1}}, {"a": 2}) == {"a": 2}
    assert merge({"a": {"b": 1}}, {"a": [2]}) == {"a": [2]}
    assert merge({"a": [1]}, {"a": {"b": 2}}, {"a": {"c": 3}}) == {"a": {"b": 2, "c": 3}}


def test_three_layers():
    merged = merge({"a": {"x": 1, "y": 1}}, {"a": {"y": 2, "z": 2}}, {"a": {"z": 3}})
    assert merged == {"a": {"x": 1, "y": 2, "z": 3}}


def test_what_was_taken_away_can_be_set_anew():
    assert merge({"a": {"x": 1}}, {"a": None}, {"a": {"y": 2}}) == {"a": {"y": 2}}
    assert merge({"a": 1}, {"a": None}, {"a": 3}) == {"a": 3}
    assert merge({"t": {"a": {"x": 1}}}, {"t": {"a": None}}, {"t": {"a": {"y": 1}}}) == {"t": {"a": {"y": 1}}}


def test_taking_away_what_is_not_there():
    assert merge({"a": 1}, {"b": None}) == {"a": 1}
    assert merge({"a": None}) == {}
    assert merge({"t": {}}, {"t": {"b": None}}) == {"t": {}}


def test_no_none_stays_in_a_table_that_is_new():
    assert merge({"a": 1}, {"t": {"x": None, "y": {"z": None, "w": 1}}}) == {"a": 1, "t": {"y": {"w": 1}}}
    assert merge({"t": {"x": None, "y": 1}}) == {"t": {"y": 1}}
    assert merge({"t": 1}, {"t": {"x": None}}) == {"t": {}}


def test_none_in_a_list_stays():
    assert merge({"a": [1]}, {"a": [None, 2]}) == {"a": [None, 2]}


@pytest.mark.parametrize("value", [0, False, "", [], {}])
def test_an_empty_value_is_a_value(value):
    assert merge({"a": 1}, {"a": value}) == {"a": value}


def test_an_empty_table_takes_nothing_away():
    assert merge({"a": {"b": 1}}, {"a": {}}) == {"a": {"b": 1}}


def test_the_result_shares_nothing_with_the_layers():
    layers = [
        {"t": {"deep": {"x": 1}}, "l": [1, [2]], "only": {"k": [1]}},
        {"t": {"other": {"y": [1]}}, "l": [3, {"m": [4]}], "new": {"z": {"q": 1}}},
    ]
    before = copy.deepcopy(layers)
    merged = merge(*layers)
    merged["t"]["deep"]["x"] = 9
    merged["t"]["other"]["y"].append(9)
    merged["t"]["other"]["n"] = 9
    merged["l"].append(9)
    merged["l"][1]["m"].append(9)
    merged["only"]["k"].append(9)
    merged["new"]["z"]["q"] = 9
    assert layers == before


def test_a_single_layer_is_copied_too():
    layer = {"a": {"b": [1]}}
    merged = merge(layer)
    merged["a"]["b"].append(2)
    merged["a"]["c"] = 3
    assert layer == {"a": {"b": [1]}}


def test_the_defaults_are_safe():
    before = copy.deepcopy(settings.DEFAULTS)
    loaded = settings.load({"server": {"tls": {"verify": False}}})
    loaded["folders"].append("spam")
    loaded["server"]["tls"]["ciphers"].clear()
    assert settings.DEFAULTS == before
    assert settings.load({"signature": None}).keys() == {"server", "folders"}
