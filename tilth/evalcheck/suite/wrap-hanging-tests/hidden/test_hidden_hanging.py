"""Whether the change's own tests notice a broken wrap."""

import sys
from pathlib import Path

import pytest
from wrapping import WrapError, paragraphs, wrap


OWN_TESTS = "test_hanging.py"

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


def refilled(text, hanging, first, other, breaks=True):
    """Wrap anew, with so many columns on a first line and so many behind the indent."""
    lines = []
    for paragraph in paragraphs(text):
        rows = [""]
        for word in paragraph.split():
            room = other if len(rows) > 1 else first
            if rows[-1] and len(rows[-1]) + 1 + len(word) <= room:
                rows[-1] += f" {word}"
                continue
            if rows[-1]:
                rows.append("")
            while breaks and len(word) > (room := other if len(rows) > 1 else first):
                rows[-1], word = word[:room], word[room:]
                rows.append("")
            rows[-1] = word
        lines += [""] if lines else []
        lines += rows[:1] + [hanging + row for row in rows[1:]]
    return lines


def hanging_left_out(text, width, hanging=""):
    return [line.removeprefix(hanging) for line in wrap(text, width, hanging)]


def hanging_on_every_line(text, width, hanging=""):
    wrap(text, width, hanging)
    lines = wrap(text, width - len(hanging))
    return [hanging + line if line else line for line in lines]


def hanging_on_the_second_line_only(text, width, hanging=""):
    lines = wrap(text, width, hanging)
    return lines[:2] + [line.removeprefix(hanging) for line in lines[2:]]


def hanging_not_counted(text, width, hanging=""):
    wrap(text, width, hanging)
    return refilled(text, hanging, width, width)


def later_paragraphs_hang_from_their_first_line(text, width, hanging=""):
    lines = wrap(text, width, hanging)
    before = [None, *lines]
    return [hanging + b if a == "" else b for a, b in zip(before, lines, strict=False)]


def long_words_whole(text, width, hanging=""):
    wrap(text, width, hanging)
    return refilled(text, hanging, width, width - len(hanging), breaks=False)


def long_words_cut_off(text, width, hanging=""):
    wrap(text, width, hanging)
    room = width - len(hanging)
    cut = [" ".join(w[:room] for w in part.split()) for part in paragraphs(text)]
    return wrap("\n\n".join(cut), width, hanging)


def paragraphs_run_together(text, width, hanging=""):
    return wrap(" ".join(text.split()), width, hanging)


def no_empty_line_between(text, width, hanging=""):
    return [line for line in wrap(text, width, hanging) if line]


def too_wide_by_one(text, width, hanging=""):
    wrap(text, width, hanging)
    return wrap(text, width + 1, hanging)


def too_narrow_by_one(text, width, hanging=""):
    wrap(text, width, hanging)
    return wrap(text, max(width - 1, len(hanging) + 1), hanging)


def a_word_a_line(text, width, hanging=""):
    lines = []
    for paragraph in paragraphs(text):
        spread = "\n\n".join(paragraph.split())
        words = [line for line in wrap(spread, width, hanging) if line]
        lines += [""] if lines else []
        lines += [
            w if n == 0 or w.startswith(hanging) else hanging + w for n, w in enumerate(words)
        ]
    return lines if lines else wrap(text, width, hanging)


def small_widths_taken(text, width, hanging=""):
    try:
        return wrap(text, width, hanging)
    except WrapError:
        return text.split()


def equal_width_taken(text, width, hanging=""):
    if hanging and width == len(hanging):
        return text.split()
    return wrap(text, width, hanging)


def another_error(text, width, hanging=""):
    try:
        return wrap(text, width, hanging)
    except WrapError:
        raise IndexError("too small") from None


FAULTS = [
    hanging_left_out,
    hanging_on_every_line,
    hanging_on_the_second_line_only,
    hanging_not_counted,
    later_paragraphs_hang_from_their_first_line,
    long_words_whole,
    long_words_cut_off,
    paragraphs_run_together,
    no_empty_line_between,
    too_wide_by_one,
    too_narrow_by_one,
    a_word_a_line,
    small_widths_taken,
    equal_width_taken,
    another_error,
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_the_own_tests_notice(fault, monkeypatch):
    plant(monkeypatch, wrap, fault)
    assert run_own_tests().failed > 0


@pytest.mark.parametrize("width", range(3, 14))
def test_the_product_is_right_itself_at_every_width(width):
    text = "- abcdefgh ij\nk lmnop\n\n- qrstuvwxyz q r"
    assert wrap(text, width, "  ") == refilled(text, "  ", width, width - 2)


def test_the_product_is_right_at_its_edges():
    assert wrap("a bcdef", 5, "  ") == ["a", "  bcd", "  ef"]
    assert wrap("abcdefgh", 4, "  ") == ["abcd", "  ef", "  gh"]
    assert wrap("", 3, "  ") == []
    with pytest.raises(WrapError):
        wrap("", 2, "  ")
