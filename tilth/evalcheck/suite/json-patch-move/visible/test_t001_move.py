import pytest

from docpatch import PatchError, apply_patch


# AC-1
def test_move_takes_a_member_to_another_object():
    document = {"draft": {"title": "Soil"}, "live": {}}
    patch = [{"op": "move", "from": "/draft/title", "path": "/live/title"}]
    assert apply_patch(document, patch) == {"draft": {}, "live": {"title": "Soil"}}


# AC-1
def test_an_object_cannot_be_moved_into_itself():
    with pytest.raises(PatchError):
        apply_patch({"a": {"b": 1}}, [{"op": "move", "from": "/a", "path": "/a/c"}])


# AC-2
def test_copy_leaves_the_source_where_it_is():
    document = {"a": [1, 2]}
    assert apply_patch(document, [{"op": "copy", "from": "/a", "path": "/b"}]) == {
        "a": [1, 2],
        "b": [1, 2],
    }


# AC-3
def test_a_test_that_holds_lets_the_rest_go_on():
    patch = [{"op": "test", "path": "/n", "value": 1}, {"op": "replace", "path": "/n", "value": 2}]
    assert apply_patch({"n": 1}, patch) == {"n": 2}


# AC-3
def test_a_test_that_does_not_hold_stops_the_patch():
    with pytest.raises(PatchError):
        apply_patch({"n": 1}, [{"op": "test", "path": "/n", "value": 2}])


# AC-4
def test_a_move_from_nowhere_is_refused():
    with pytest.raises(PatchError):
        apply_patch({}, [{"op": "move", "from": "/a", "path": "/b"}])
