import pytest

from mirror_options import Options, UsageError, parse_arguments


# AC-1
def test_jobs_are_one_unless_given():
    assert parse_arguments(["a"]).jobs == 1
    assert parse_arguments(["--jobs", "4", "a"]).jobs == 4
    assert parse_arguments(["--jobs", "4", "a", "--jobs", "12"]).jobs == 12


# AC-2
def test_patterns_are_collected_in_order():
    options = parse_arguments(["a", "--exclude", "*.tmp", "--exclude", "build"])
    assert list(options.exclude) == ["*.tmp", "build"]
    assert list(parse_arguments(["a"]).exclude) == []


# AC-3
def test_values_may_stand_behind_an_equals_sign():
    options = parse_arguments(["--jobs=3", "--exclude=x", "--output=o", "a"])
    assert (options.jobs, list(options.exclude), options.output) == (3, ["x"], "o")


# AC-4
@pytest.mark.parametrize("arguments", [["a", "--jobs"], ["a", "--jobs=0"], ["a", "--jobs", "many"]])
def test_wrong_jobs_are_refused(arguments):
    with pytest.raises(UsageError, match="--jobs"):
        parse_arguments(arguments)


# AC-4
def test_the_other_flags_work_as_before():
    assert parse_arguments(["--verbose", "a"]) == Options("a", verbose=True)
    with pytest.raises(UsageError):
        parse_arguments(["a", "--unknown"])
