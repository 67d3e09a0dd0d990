import pytest

from inifile import IniError, dumps, loads


# AC-1
def test_an_indented_line_continues_the_value_above():
    text = "[mail]\nhosts = one\n    two\n\tthree\nport = 25\n"
    assert loads(text) == {"mail": {"hosts": "one\ntwo\nthree", "port": "25"}}


# AC-1
def test_a_comment_in_between_is_skipped():
    text = "[mail]\nhosts = one\n# the new one\n    two\n"
    assert loads(text) == {"mail": {"hosts": "one\ntwo"}}


# AC-2
def test_an_indented_line_at_the_start_of_the_file_is_refused():
    with pytest.raises(IniError, match="line 1:"):
        loads("  two\n[mail]\n")


# AC-2
def test_an_empty_line_ends_a_value():
    assert loads("[mail]\nhosts = one\n\nport = 25\n") == {"mail": {"hosts": "one", "port": "25"}}


# AC-3
def test_values_of_one_line_are_written_as_before():
    data = {"mail": {"hosts": "one", "user": ""}, "log": {}}
    assert dumps(data) == "[mail]\nhosts = one\nuser =\n\n[log]\n"
    assert loads(dumps(data)) == data
