"""The files of a diff: every one is listed, and no flood hides one elsewhere."""

from __future__ import annotations

from pathlib import Path

from support.git_repo import Repo

from tilth.task.changed_files import ChangedFile, changed_files, listing

ROOM = 1000


def test_every_kind_of_change_is_listed_with_its_lines(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo", {"a.py": "1\n2\n", "gone.py": "x\n", "b.py": "y\n"})
    workspace = repo.started()
    base, root = repo.head(), workspace.path
    (root / "a.py").write_text("1\n3\n4\n")
    (root / "gone.py").unlink()
    (root / "with space.py").write_text("-- not a header\n")
    (root / "raw.bin").write_bytes(b"\0\1")
    (root / ".gitattributes").write_text("*.py -diff binary\n")
    diff = workspace.diff(base, workspace.freeze(base).tree)
    assert list(listing(changed_files(diff), ROOM)) == [
        ".gitattributes (+1 -0)",
        "a.py (+2 -1)",
        "gone.py (+0 -1)",
        "raw.bin (binary)",
        "with space.py (+1 -0)",
    ]


def test_a_name_that_hides_something_is_listed_by_its_numbers(tmp_path: Path) -> None:
    workspace = Repo(tmp_path / "repo", {"a.py": "1\n"}).started()
    base = workspace.tip() or ""
    for name in ("a\nb", "\u202eyp.exe", 'say "so"', "back\\slash", "naïve"):
        (workspace.path / name).write_text("x\n")
    diff = workspace.diff(base, workspace.freeze(base).tree)
    assert [file.path for file in changed_files(diff)] == [
        *("a\nb", "back\\slash", "naïve", 'say "so"', "\u202eyp.exe")
    ]
    lines = listing(changed_files(diff), ROOM)
    assert (lines[0], lines[-1]) == ("a\\x0ab (+1 -0)", "\\u202eyp.exe (+1 -0)")


def files(*paths: str) -> list[ChangedFile]:
    return [ChangedFile(path=path, added=2, removed=1, start=0, end=1) for path in sorted(paths)]


def test_of_a_flood_the_fullest_directory_is_summed_up_and_all_others_are_listed() -> None:
    flood = [f"junk/{number:04}.txt" for number in range(600)]
    few = ["feature.py", "junk/zz/evil.py", "src/a.py", "src/b.py", "zz/evil.py"]
    assert listing(files(*flood, *few), ROOM) == (
        "feature.py (+2 -1)",
        "junk/*.txt (600 files, +1,200 -600)",
        "junk/zz/evil.py (+2 -1)",
        "src/a.py (+2 -1)",
        "src/b.py (+2 -1)",
        "zz/evil.py (+2 -1)",
    )


def test_a_flood_at_the_root_hides_no_file_of_another_kind() -> None:
    flood = [f"{number:04}.txt" for number in range(600)]
    assert listing(files(*flood, "feature.py"), ROOM) == (
        "feature.py (+2 -1)",
        "*.txt (600 files, +1,200 -600)",
    )


def test_a_flood_of_directories_is_summed_up_where_they_stand() -> None:
    flood = [f"junk/{number:04}/x.txt" for number in range(600)]
    lines = listing(files(*flood, "zz/evil.py"), ROOM)
    assert lines == ("junk/ (600 files, +1,200 -600)", "zz/evil.py (+2 -1)")


def test_a_flood_of_directories_at_the_root_leaves_its_files_and_fits() -> None:
    flood = [f"{number:04}/x.txt" for number in range(600)]
    lines = listing(files(*flood, "feature.py"), ROOM)
    assert "feature.py (+2 -1)" in lines
    [rest] = [line for line in lines if line.startswith("all other directories (")]
    assert len(lines) - 2 + int(rest.split("(")[1].split()[0]) == 600
    assert sum(len(line) + 1 for line in lines) <= ROOM


def test_a_file_whose_name_looks_like_a_sum_is_lost_in_none() -> None:
    flood = [f"junk/{number:04}.txt" for number in range(600)]
    lines = listing(files(*flood, "junk/*.txt", "junk/*.py", "junk/a.py"), ROOM)
    assert lines == (
        "junk/*.py (+2 -1)",
        "junk/*.txt (601 files, +1,202 -601)",
        "junk/a.py (+2 -1)",
    )
