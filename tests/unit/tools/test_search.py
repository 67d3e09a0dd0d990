"""glob and grep: what is found, what is left out, and that it ends."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tilth.model.messages import ToolCall
from tilth.sandbox.confinement import Access, Unconfined
from tilth.tools import Toolbox, ToolOutcome
from tilth.tools.scan import Budget, matcher


def call(root: Path, name: str, **arguments: Any) -> ToolOutcome:
    box = Toolbox(
        root=root,
        confinement=Unconfined(),
        access=Access(),
        env={},
        bash_timeout_s=5,
        grep_timeout_s=arguments.pop("timeout_s", 10),
    )
    return box.run(ToolCall(id="c1", name=name, arguments=arguments))


def plant(root: Path, *paths: str, text: str = "x\n") -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a.py", True),
        ("*.py", "d/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "d/e/a.py", True),
        ("d/**/a.py", "d/a.py", True),
        ("d/**/a.py", "d/e/f/a.py", True),
        ("d/**/a.py", "e/a.py", False),
        ("d/**", "d/e/a.py", True),
        ("d/**", "d", True),
        ("**", "a/b/c", True),
        ("**/**/**/a", "a", True),
        ("./d//a", "d/a", True),
        ("d/?.py", "d/a.py", True),
        ("d/[ab].py", "d/c.py", False),
        ("d/[!ab].py", "d/c.py", True),
        ("*", ".hidden", True),
        ("[", "[", True),
        ("A.py", "a.py", False),
        ("a*/**/b*/*", "a1/x/b2/c", True),
        ("a*/**/b*/*", "a1/x/c2/c", False),
    ],
)
def test_a_glob_means_what_it_says(pattern: str, path: str, matches: bool) -> None:
    assert matcher(pattern)(path.split("/")) is matches


def test_no_glob_is_slow() -> None:
    assert not matcher("**/a/" * 200 + "b")(["a"] * 100)
    assert not matcher("*a" * 200 + "b")(["a" * 250])


def test_files_are_found_sorted_and_relative_to_the_root(tmp_path: Path) -> None:
    plant(tmp_path, "b.py", "src/z.py", "src/a/x.py", "src/a.txt", "a.py")

    assert call(tmp_path, "glob", pattern="**/*.py").content == ("a.py\nb.py\nsrc/a/x.py\nsrc/z.py")
    assert call(tmp_path, "glob", pattern="*.py", path="src").content == "src/z.py"
    assert call(tmp_path, "glob", pattern="*.rs").content == "no file matches *.rs"


def test_caches_environments_and_version_control_are_left_out(tmp_path: Path) -> None:
    left_out = [".git", "__pycache__", ".venv", "node_modules", ".ruff_cache", ".pytest_cache"]
    plant(
        tmp_path, "a.py", *(f"sub/{name}/b.py" for name in left_out), "env/pyvenv.cfg", "env/c.py"
    )

    assert call(tmp_path, "glob", pattern="**/*.py").content == "a.py"
    assert call(tmp_path, "grep", pattern="x").content == "a.py:1: x"


def test_what_is_left_out_can_be_asked_for(tmp_path: Path) -> None:
    plant(tmp_path, ".venv/lib/a.py")

    assert call(tmp_path, "glob", pattern="**/*.py", path=".venv/lib").content == ".venv/lib/a.py"


def test_at_most_five_hundred_files_are_listed(tmp_path: Path) -> None:
    plant(tmp_path, *(f"{index:03}" for index in range(503)))

    lines = call(tmp_path, "glob", pattern="*").content.split("\n")

    assert len(lines) == 501
    assert lines[-1] == "[3 more files omitted: narrow the pattern]"


@pytest.mark.parametrize("pattern", ["../*", "/etc/*", "a/../../*", "..", "/"])
def test_no_pattern_leads_out(tmp_path: Path, pattern: str) -> None:
    root = tmp_path / "root"
    plant(root, "a")
    plant(tmp_path, "secret")

    for outcome in (
        call(root, "glob", pattern=pattern),
        call(root, "grep", pattern="x", glob=pattern),
    ):
        assert outcome.is_error
        assert "leaves the worktree" in outcome.content


def test_a_file_is_no_place_to_start_a_glob(tmp_path: Path) -> None:
    plant(tmp_path, "a.py")

    assert "is a file" in call(tmp_path, "glob", pattern="*", path="a.py").content
    assert call(tmp_path, "glob", pattern="*", path="gone").content == "gone does not exist"


def test_a_name_with_a_line_break_stays_on_one_line(tmp_path: Path) -> None:
    plant(tmp_path, "a\nb.py")
    os.close(os.open(os.fsencode(tmp_path) + b"/\xff.py", os.O_CREAT | os.O_WRONLY))

    assert call(tmp_path, "glob", pattern="*.py").content == "'a\\nb.py'\n'\\udcff.py'"
    assert call(tmp_path, "grep", pattern="x").content == "'a\\nb.py':1: x"


def test_directories_nested_without_end_are_survived(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d", dir_fd=folder)
        deeper = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = deeper
    os.close(folder)
    plant(tmp_path, "d/a.py")

    assert call(tmp_path, "glob", pattern="**").content == "d/a.py"


def test_lines_are_found_with_path_and_number(tmp_path: Path) -> None:
    plant(tmp_path, "a.py", "src/b.txt", text="one\r\ntwo words\nthree")

    assert call(tmp_path, "grep", pattern=r"^t\w+").content == (
        "a.py:2: two words\na.py:3: three\nsrc/b.txt:2: two words\nsrc/b.txt:3: three"
    )
    assert call(tmp_path, "grep", pattern="one$", path="src").content == "src/b.txt:1: one"
    assert call(tmp_path, "grep", pattern="one", path="a.py").content == "a.py:1: one"
    assert call(tmp_path, "grep", pattern="one", glob="*.txt").content == "src/b.txt:1: one"
    assert call(tmp_path, "grep", pattern="one", glob="src/*").content == "src/b.txt:1: one"
    assert call(tmp_path, "grep", pattern="(?i)FOUR").content == "no line matches (?i)FOUR"


def test_the_end_of_a_file_is_no_empty_line(tmp_path: Path) -> None:
    plant(tmp_path, "a", text="x\n")
    plant(tmp_path, "b", text="x\n\n")
    plant(tmp_path, "c", text="")

    assert call(tmp_path, "grep", pattern="^$").content == "b:2: "


def test_at_most_two_hundred_matches_are_given(tmp_path: Path) -> None:
    plant(tmp_path, "a", text="x\n" * 205)

    lines = call(tmp_path, "grep", pattern="x").content.split("\n")

    assert len(lines) == 201
    assert lines[-1] == "[5 more matches omitted: narrow the pattern or the path]"


def test_binary_and_very_large_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"x\0x")
    (tmp_path / "large").write_text("x" * (5 * 1024 * 1024 + 1))
    (tmp_path / "latin").write_bytes(b"x caf\xe9\n")

    assert call(tmp_path, "grep", pattern="x").content == "latin:1: x caf\ufffd"


def test_a_long_line_shows_the_match(tmp_path: Path) -> None:
    plant(tmp_path, "a", text="a" * 5000 + "needle" + "b" * 5000)

    content = call(tmp_path, "grep", pattern="needle").content

    assert "needle" in content
    assert len(content) < 320


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "(?P<x>", "a{99999999999}"])
def test_a_bad_pattern_is_one_clear_line(tmp_path: Path, pattern: str) -> None:
    outcome = call(tmp_path, "grep", pattern=pattern)

    assert outcome.is_error
    assert outcome.content.startswith("the pattern is not a valid regular expression: ")
    assert "\n" not in outcome.content


def test_a_catastrophic_pattern_is_stopped(tmp_path: Path) -> None:
    plant(tmp_path, "z.txt", text="a" * 50 + "!\n")

    outcome = call(tmp_path, "grep", pattern="(a+)+$", timeout_s=0.5)

    assert outcome.is_error
    assert outcome.content == "the search was stopped after 0.5 s: simplify or narrow it"


def test_what_was_found_before_the_stop_is_given(tmp_path: Path) -> None:
    plant(tmp_path, "a.txt", text="aaa\n")
    plant(tmp_path, "z.txt", text="a" * 50 + "!\n")

    # A core is busy until the stop: only a machine that is slow to start gets longer.
    for seconds in (0.5, 1, 2, 4, 8):
        outcome = call(tmp_path, "grep", pattern="(a+)+$", timeout_s=seconds)
        if not outcome.is_error:
            break

    assert not outcome.is_error
    assert outcome.content == (
        f"a.txt:1: aaa\n[the search was stopped after {seconds:g} s: simplify or narrow it]"
    )


@pytest.mark.parametrize("name", ["-e", "[/x]", "Ünï€", "a b"])
def test_hostile_names_are_searched_like_any_other(tmp_path: Path, name: str) -> None:
    plant(tmp_path, name)

    assert call(tmp_path, "grep", pattern="x", path=name).content == f"{name}:1: x"


def test_a_pattern_that_takes_all_memory_is_stopped(tmp_path: Path) -> None:
    # Every character leaves a place to come back to; tried from the start alone, so that without
    # a limit there soon is an answer, and not only the end of the time.
    plant(tmp_path, "b.txt", text="ab" * 2_000_000)
    outcome = call(tmp_path, "grep", pattern=r"\A(?:(a)|b)*c", timeout_s=30)
    assert outcome.is_error
    assert outcome.content == "the search needs too much memory: simplify the pattern"


def test_repeats_within_repeats_take_no_memory_of_their_own(tmp_path: Path) -> None:
    plant(tmp_path, "b.txt", text="a\n")
    pattern = "(?:" * 3 + "a{999}" + "){999}" * 3
    assert call(tmp_path, "grep", pattern=pattern).content == f"no line matches {pattern}"


def test_a_file_of_line_feeds_alone_is_searched_in_little_memory(tmp_path: Path) -> None:
    plant(tmp_path, "b.txt", text="\n" * 3_000_000)
    assert call(tmp_path, "grep", pattern="x").content == "no line matches x"


def test_no_more_of_a_tree_is_looked_at_than_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, *(f"d/f{number:03}.py" for number in range(60)))
    monkeypatch.setattr(Budget.__init__, "__defaults__", (50,))
    listed = call(tmp_path, "glob", pattern="**/*.py").content.splitlines()
    assert len(listed) == 51
    assert listed[-1].startswith("[only the first ")
    monkeypatch.setattr(Budget.__init__, "__defaults__", (61,))
    assert len(call(tmp_path, "glob", pattern="**/*.py").content.splitlines()) == 60
