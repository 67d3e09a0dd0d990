"""What git says a tree's attributes are: of the tree alone, and with an end."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from support.git_repo import Repo

from tilth.base.errors import WorkspaceError
from tilth.git import attributes as room
from tilth.git.attributes import attributes
from tilth.git.source import open_source

ODD = os.fsdecode(b"caf\xe9.py")
RULES = '*.py ident\npkg/** filter=lfs -text\n"a b.txt" eol=crlf\n[attr]k ident\n*.k k\n'


@pytest.mark.parametrize("hashing", ["sha1", "sha256"])
def test_what_is_set_is_told_as_git_reads_it(tmp_path: Path, hashing: str) -> None:
    files = {".gitattributes": RULES, "pkg/deep/.gitattributes": "*.py -ident\n", "a b.txt": ""}
    code = {"pkg/a.py": "", "pkg/deep/b.py": "", "a.k": "", ODD: ""}
    repo = Repo(tmp_path / "repo", {**files, **code}, hashing=hashing)
    asked = ("a b.txt", "pkg/a.py", "pkg/deep/b.py", "a.k", "caf\\xe9.py", "gone.py")
    assert attributes(open_source(repo.root), repo.head(), asked) == {
        "a b.txt": {"eol": "crlf"},
        "pkg/a.py": {"ident": "set", "filter": "lfs", "text": "unset"},
        "pkg/deep/b.py": {"ident": "unset", "filter": "lfs", "text": "unset"},
        "a.k": {"ident": "set"},
        "caf\\xe9.py": {"ident": "set"},
    }


def test_only_the_tree_has_a_word_in_it(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo", {".gitattributes": "*.md ident\n", "a.py": ""})
    elsewhere = tmp_path / "attributes"
    elsewhere.write_text("* filter=evil\n")
    repo.git("config", "core.attributesFile", str(elsewhere))
    (repo.root / ".git" / "info" / "attributes").write_text("* filter=evil\n")
    (repo.root / ".gitattributes").write_text("* filter=evil\n")
    assert attributes(open_source(repo.root), repo.head(), ["a.py"]) == {}


def test_a_pattern_that_never_ends_is_left_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = Repo(tmp_path / "repo", {"rules": "*a" * 30 + "b filter=x\n"})
    path, blob = "a" * 200 + ".py", repo.git("rev-parse", "HEAD:rules").strip()
    listed = tmp_path / "listed"
    # `git add` would not come to an end either.
    listed.write_text(f"100644 blob {blob}\t.gitattributes\n100644 blob {blob}\t{path}\n")
    with listed.open() as file:
        tree = subprocess.check_output(["git", "mktree"], cwd=repo.root, stdin=file, text=True)
    monkeypatch.setattr(room, "_SECONDS", 0.2)
    with pytest.raises(WorkspaceError):
        attributes(open_source(repo.root), tree.strip(), [path])


def test_more_than_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Repo(tmp_path / "repo", {".gitattributes": "* filter=x\n", "a.py": ""})
    monkeypatch.setattr(room, "_MOST_BYTES", 20)
    with pytest.raises(WorkspaceError):
        attributes(open_source(repo.root), repo.head(), ["a.py"])
