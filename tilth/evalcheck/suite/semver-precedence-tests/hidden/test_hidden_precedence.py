"""Whether the change's own tests notice a broken comparison."""

import sys
from pathlib import Path

import pytest
from versions import VersionError, compare, parse


OWN_TESTS = "test_precedence.py"

OWN = Path(__file__).resolve().parent / OWN_TESTS

# Parts of pytest that only cost time here.
NEEDLESS = ("terminal", "cacheprovider", "faulthandler", "unraisableexception", "threadexception")


class Tally:
    """Count how the tests of a run end."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def pytest_collectreport(self, report):
        self.failed += report.failed

    def pytest_runtest_logreport(self, report):
        self.failed += report.failed
        self.passed += report.passed and report.when == "call"


def run_own_tests():
    """Run the change's own tests on the product as it stands now, broken or not."""
    saved = {n: m for n, m in sys.modules.items() if getattr(m, "__file__", None) == str(OWN)}
    for name in saved:
        del sys.modules[name]
    known = set(sys.modules)
    tally = Tally()
    without = [f"-pno:{name}" for name in NEEDLESS]
    options = ["--import-mode=importlib", "--assert=plain", "--maxfail=1"]
    pytest.main([str(OWN), *options, *without], plugins=[tally])
    for name in set(sys.modules) - known:
        del sys.modules[name]
    sys.modules.update(saved)
    return tally


def test_the_own_tests_pass_as_things_are():
    tally = run_own_tests()
    assert tally.failed == 0
    assert tally.passed >= 1


def plant(monkeypatch, original, broken):
    """Put a broken function in the place of one, under every name that the product has for it."""
    places = [
        (module, name)
        for module in list(sys.modules.values())
        if str(getattr(module, "__file__", "")).startswith(str(OWN.parents[1]))
        and module.__name__ != __name__
        for name, value in list(vars(module).items())
        if value is original
    ]
    assert places, "the fault cannot be planted: the product does not hold the function"
    for module, name in places:
        monkeypatch.setattr(module, name, broken)


def order(one, other):
    return (one > other) - (one < other)


def parts(version, number=lambda text: (0, int(text), ""), word=lambda text: (1, 0, text)):
    return [number(part) if part.isdigit() else word(part) for part in version.pre]


def by_parts(one, other, **how):
    return order(bool(other.pre), bool(one.pre)) or order(parts(one, **how), parts(other, **how))


def in_numbers(version):
    return (version.major, version.minor, version.patch)


def not_at_all(one, other):
    return 0


def broken(core=in_numbers, pre=by_parts, build=not_at_all):
    """Make a comparison that is right but for what is given."""

    def comparison(a, b):
        compare(a, b)
        one, other = parse(a), parse(b)
        return order(core(one), core(other)) or pre(one, other) or build(one, other)

    return comparison


def number_above_word(one, other):
    return by_parts(one, other, number=lambda text: (2, int(text), ""))


def numbers_as_text(one, other):
    return by_parts(one, other, number=lambda text: (0, 0, text))


def words_alike(one, other):
    return by_parts(one, other, word=lambda text: (1, 0, ""))


def parts_not_counted(one, other):
    first, second = parts(one), parts(other)
    length = min(len(first), len(second))
    return order(bool(other.pre), bool(one.pre)) or order(first[:length], second[:length])


def more_parts_lower(one, other):
    first, second = parts(one), parts(other)
    length = min(len(first), len(second))
    found = order(bool(other.pre), bool(one.pre)) or order(first[:length], second[:length])
    return found or order(len(second), len(first))


def pre_release_above(one, other):
    return order(parts(one), parts(other))


def equal_is_lower(a, b):
    return compare(a, b) or -1


def never_raises(a, b):
    try:
        return compare(a, b)
    except VersionError:
        return 0


def another_error(a, b):
    try:
        return compare(a, b)
    except VersionError:
        raise TypeError("no version") from None


FAULTS = {
    "major_as_text": broken(core=lambda v: (str(v.major), v.minor, v.patch)),
    "minor_as_text": broken(core=lambda v: (v.major, str(v.minor), v.patch)),
    "patch_as_text": broken(core=lambda v: (v.major, v.minor, str(v.patch))),
    "patch_ignored": broken(core=lambda v: (v.major, v.minor)),
    "pre_release_above": broken(pre=pre_release_above),
    "pre_release_ignored": broken(pre=not_at_all),
    "numbers_as_text": broken(pre=numbers_as_text),
    "number_above_word": broken(pre=number_above_word),
    "words_alike": broken(pre=words_alike),
    "parts_not_counted": broken(pre=parts_not_counted),
    "more_parts_lower": broken(pre=more_parts_lower),
    "build_counted": broken(build=lambda one, other: order(one.build, other.build)),
    "turned_round": lambda a, b: compare(b, a),
    "equal_is_lower": equal_is_lower,
    "never_raises": never_raises,
    "another_error": another_error,
}


def test_the_frame_of_the_faults_is_right_where_nothing_is_broken():
    plain = broken()
    for a, b in [("1.0.0-a.1", "1.0.0-a"), ("2.0.0", "10.0.0"), ("1.0.0+a", "1.0.0+b")]:
        assert plain(a, b) == compare(a, b)


@pytest.mark.parametrize("fault", FAULTS)
def test_the_own_tests_notice(fault, monkeypatch):
    plant(monkeypatch, compare, FAULTS[fault])
    assert run_own_tests().failed > 0
