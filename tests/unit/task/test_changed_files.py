"""The files of a diff: every one is listed, and a cut names what it leaves out."""

from __future__ import annotations

from pathlib import Path

from support.git_repo import Repo

from tilth.task.changed_files import changed_files, left_out, listing


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
    assert listing(changed_files(diff)).splitlines() == [
        ".gitattributes (+1 -0)",
        "a.py (+2 -1)",
        "gone.py (+0 -1)",
        "raw.bin (binary)",
        "with space.py (+1 -0)",
    ]


def test_a_cut_names_what_it_leaves_out() -> None:
    diff = "".join(
        f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -0,0 +1 @@\n+x\n"
        for name in ("a.py", "b.py", "c.py")
    )
    files = changed_files(diff)
    assert left_out(files, files[1].start + 5) == "b.py (in part), c.py"
    assert left_out(files, len(diff)) == ""
