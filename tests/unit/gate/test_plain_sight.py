"""Plain sight, through the real gate: what Python runs is what is shown, and honest files pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from support.gate_project import ADD_TEST, RIGHT, SEED, Project

from tilth.base.errors import WorkspaceError
from tilth.config.project import ProjectFacts
from tilth.contract.prd import Plan
from tilth.gate.findings import Baseline, Validation
from tilth.gate.plain_sight import PLAIN_SIGHT, unseen
from tilth.git.changes import Change

# Nothing else is asked of the change than that it is what it is shown as.
ALONE = ProjectFacts(replace_defaults=True)
LINK = "link to "
OTHERWISE = "Python reads it otherwise than it is shown: end lines by a line feed"
HIDDEN = "# coding: utf-7\nx = 1 # +AAo-import os\n"
SPEAKS = "it is told to workers and evaluators as the project's conventions"
LATER = "this session's later tasks see it as it was at the start"
NOWHERE = "it leads to no file of the project"

Content = bytes | str | None


def put(root: Path, files: Mapping[str, Content]) -> None:
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        if isinstance(content, str) and content.startswith(LINK):
            file.symlink_to(content.removeprefix(LINK))
        elif content is not None:
            file.write_bytes(content if isinstance(content, bytes) else content.encode())


def judged(
    root: Path, changed: Mapping[str, Content], base: Mapping[str, Content] | None = None
) -> Validation:
    project = Project(root / "p", {"app.py": "x = 1\n"})
    for place in (project.repo.root, project.workspace.path):
        put(place, base or {})
    project.repo.git("add", "-A", "-f")
    project.repo.git("commit", "-q", "--allow-empty", "-m", "base")
    project.base = project.repo.head()
    put(project.workspace.path, changed)
    return project.validate(facts=ALONE)


def refused(validation: Validation) -> str:
    assert [report.name for report in validation.reports] in ([], [PLAIN_SIGHT])
    return "\n".join(report.output for report in validation.reports)


REFUSED: dict[str, tuple[Mapping[str, Content], Mapping[str, Content], str]] = {
    "code behind a return in a comment": (
        {"a.py": "# see below\rimport os\n"},
        {},
        f"a.py:1: {OTHERWISE}",
    ),
    "a comment that ends at a return in code": (
        {"a.py": "y = 2\nx = 1  # so\r  if y else 2\n"},
        {},
        f"a.py:2: {OTHERWISE}",
    ),
    "a return inside a text": ({"a.py": 'x = """a\rb"""\n'}, {}, f"a.py:1: {OTHERWISE}"),
    "a block that a form feed ends": (
        {"a.py": "if 0:\n    y = 1\n    \fx = 2\n"},
        {},
        f"a.py:3: {OTHERWISE}",
    ),
    "a newer Python's syntax beside a return": (
        {"a.py": "# so\rimport os\ntype X = int\n"},
        {},
        f"a.py:1: {OTHERWISE}",
    ),
    "a NUL, which keeps git from showing it": ({"a.py": b"x = 1\0\n"}, {}, f"a.py:1: {OTHERWISE}"),
    "a tree that cannot be compared": (
        {"a.py": "x = 'a\fb'\ny = " + "-" * 5000 + "1\n"},
        {},
        f"a.py:1: {OTHERWISE}",
    ),
    "too large to be compared": (
        {"a.py": b"x = 'a\fb'\n" + b"# 34567\n" * (128 * 1024)},
        {},
        f"a.py:1: {OTHERWISE}",
    ),
    "code in UTF-7": ({"a.py": HIDDEN}, {}, f"a.py: {OTHERWISE}"),
    "another encoding in the second line": (
        {"a.py": b"#!/bin/sh\n# vim: set fileencoding=latin-1 :\nx = r'\xe9'\n"},
        {},
        f"a.py: {OTHERWISE}",
    ),
    "an encoding of the project's own": (
        {"a.py": "# -*- coding: of_ours -*-\n"},
        {},
        f"a.py: {OTHERWISE}",
    ),
    "an encoding that only begins as UTF-8 does": (
        {"a.py": "# coding: utf8.ours\n"},
        {},
        f"a.py: {OTHERWISE}",
    ),
    "an encoding behind a return": ({"a.py": f"# so\r{HIDDEN}"}, {}, f"a.py: {OTHERWISE}"),
    "an encoding that comes into force as a line goes": (
        {"a.py": HIDDEN},
        {"a.py": f"# one\n# two\n{HIDDEN}"},
        f"a.py: {OTHERWISE}",
    ),
    "another encoding than on the base": (
        {"a.py": HIDDEN},
        {"a.py": b"# coding: latin-1\nx = '\xe9'\n"},
        f"a.py: {OTHERWISE}",
    ),
    "a script without a suffix": (
        {"tool": "#!/usr/bin/env python3\n# so\rimport os\n"},
        {},
        f"tool:2: {OTHERWISE}",
    ),
    "a new link to a new file": (
        {"a.py": "link to data.txt", "data.txt": "# so\rimport os\n"},
        {},
        f"a.py:1: {OTHERWISE}",
    ),
    "a new link to a file of the base": (
        {"a.py": "link to data.txt"},
        {"data.txt": "# so\rimport os\n"},
        f"a.py:1: {OTHERWISE}",
    ),
    "a changed file that a link of the base leads to": (
        {"data.txt": "# so\rimport os\n"},
        {"a.py": "link to data.txt", "data.txt": "x = 1\n"},
        f"a.py:1: {OTHERWISE}",
    ),
    "a link through a directory that leads elsewhere now": (
        {"d": "link to two"},
        {
            "a.py": "link to d/x.txt",
            "d": "link to one",
            "one/x.txt": "x = 1\n",
            "two/x.txt": "# so\rimport os\n",
        },
        f"a.py:1: {OTHERWISE}",
    ),
    "a file behind a link to its directory": (
        {"pkg": "link to data", "data/mod.py": "# so\rimport os\n"},
        {},
        f"data/mod.py:1: {OTHERWISE}",
    ),
    "a file that becomes a link": (
        {"a.txt": "# so\rimport os\n", "b.py": "link to a.txt"},
        {"b.py": "x = 1\n"},
        f"b.py:1: {OTHERWISE}",
    ),
    "blanks of odd kinds, and many returns": (
        {"a.py": "x = '" + " \f" * 200_000 + "'" + "\r" * 200_000 + ";\n"},
        {},
        f"a.py:1: {OTHERWISE}",
    ),
    "a link that leads out": ({"a.py": "link to ../../a.txt"}, {}, f"a.py: {NOWHERE}"),
    "a link that leads nowhere": ({"a.py": "link to gone.txt"}, {}, f"a.py: {NOWHERE}"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_python_reads_otherwise_than_it_is_shown_fails(name: str, tmp_path: Path) -> None:
    changed, base, said = REFUSED[name]
    validation = judged(tmp_path, changed, base)
    [line] = refused(validation).splitlines()
    assert line.startswith(said)
    assert not validation.passed


GNU = (
    "x = 1\n\f\ndef f():\n    '''One\n\f\ntwo'''\n\f\n    return 1\n    \f\n\fclass A:\n    pass\n"
)
TABLE = "".join(f"A{n}{' ' * 40}= {n}{' ' * 60}# so\n" for n in range(3))
PASSES: dict[str, Mapping[str, Content]] = {
    "comments and texts of other scripts": {
        "a.py": "# Größe, размер, 尺寸, حجم\nx = 'Größe размер 尺寸 حجم'\n"
    },
    "names wholly in one script": {"a.py": "größe = 1\nразмер = 2\n尺寸 = 3\n"},
    "emoji": {"a.py": "x = '❤\ufe0f 👩\u200d👩\u200d👧'\n"},
    "a translation from right to left": {"he.py": "T = {'hello': 'שלום \u200fWorld'}\n"},
    "line ends of Windows": {"a.py": b"x = 1\r\nif x:\r\n    y = '''a\r\nb'''\r\n"},
    "a last line that ends by a return": {"a.py": b"x = 1\r\ny = 2\r"},
    "line ends that were doubled": {"a.py": b"x = 1\r\r\ny = 2\r\r\n"},
    "form feeds alone on a line": {"a.py": GNU},
    "form feeds in a comment and a text": {"a.py": "# a\fb\nx = 'a\fb'\n"},
    "a mark of byte order": {"a.py": b"\xef\xbb\xbfx = 1\n"},
    "a mark and Windows": {"a.py": b"\xef\xbb\xbf# coding: utf-8\r\nx = 'a\fb'\r\n"},
    "a long line": {"a.py": f"x = '{'data ' * 400}'\n"},
    "a table": {"a.py": TABLE},
    "a deep tree": {"a.py": f"x = {'-' * 5000}1  # so\n"},
    "a deep tree beside a form feed": {"a.py": "x = 'a\fb'\ny = " + " + ".join("1" * 900) + "\n"},
    "no Python at all": {"a.py": "this is ( no Python\n", "b.py": b"x = '\xff'\n"},
    "the usual encoding, said in many ways": {
        f"{n}.py": f"# {said}\nx = 'é'\n"
        for n, said in enumerate(
            ["-*- coding: utf-8 -*-", "coding=UTF8", "coding: utf_8_sig", "coding: utf-8-unix"]
        )
    },
    "ASCII": {"a.py": "# coding: us-ascii\nx = 1\n"},
    "another encoding that reads the same": {
        "a.py": "# coding: utf-7\nx = 1\n",
        "b.py": b"# coding: latin-1\nx = 'caf\xe9'\n",
    },
    "an encoding that is not in force": {
        "a.py": "x = 1\n# coding: utf-7\n",
        "b.py": "x = 'coding: utf-7'\n",
        "c.py": "#\n\n# coding: utf-7\n",
    },
    "odd text that is no Python": {"a.txt": "# so\rimport os\f\n", "b.txt": "# coding: utf-7\n"},
    "links": {
        "a.txt": "x\n",
        "b.txt": "link to a.txt",
        "c.py": "link to app.py",
        "d": "link to sub",
        "sub/m.py": "x = 1\n",
        "e": "link to ../../out",
    },
    "a file that goes": {"app.py": None},
}


@pytest.mark.parametrize("name", PASSES)
def test_an_honest_file_passes_and_nothing_is_said(name: str, tmp_path: Path) -> None:
    validation = judged(tmp_path, PASSES[name])
    assert refused(validation) == ""


LATIN = b"# coding: latin-1\nx = r'caf\xe9'\n"


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        (LATIN, LATIN + b"y = '\xe8'\n", "a.py"),
        (b"x = '''\r'''\n", b"x = '''\r'''\ny = 2\n", "a.py:1"),
        (b"x = 1\ry = 2\r", b"x = 1\ry = 3\r", "a.py:1"),
    ],
)
def test_what_stood_so_on_the_base_is_named(
    before: bytes, after: bytes, place: str, tmp_path: Path
) -> None:
    validation = judged(tmp_path, {"a.py": after}, {"a.py": before})
    assert validation.reports == ()
    [note] = [note for note in validation.notes if note.startswith("a.py")]
    assert note.startswith(f"a.py: so it was on the base{place.removeprefix('a.py')}: {OTHERWISE}")


def test_what_reads_the_same_on_the_base_covers_nothing(tmp_path: Path) -> None:
    latin = LATIN.replace(b"r'", b"'")
    said = refused(judged(tmp_path, {"a.py": latin + b"# so\rimport os\n"}, {"a.py": latin}))
    assert said.startswith(f"a.py: {OTHERWISE}")


def test_a_session_from_before_is_not_held_to_it(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", {"app.py": "x = 1\n"})
    project.write({"a.py": "# coding: utf-7\n"})
    tree = project.workspace.freeze(project.base).tree
    plan = Plan(tasks=project.tasks)
    found = project.gate(facts=ALONE).validate(
        project.tasks[0], plan, project.base, tree, Baseline(), None
    )
    assert found.reports == ()


def test_it_stands_beside_what_the_other_validators_say(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", {SEED: ADD_TEST})
    put(project.workspace.path, {"calc.py": f"# so\rimport os\n{RIGHT}"})
    assert project.validate().summary == {
        "plain sight": "failed",
        "ruff": "passed",
        "pytest": "passed",
    }


@pytest.mark.parametrize("content", [b"x\0", b"\x7fELF\0", b"x" * 8191 + b"\0"])
def test_a_binary_is_named_with_its_size(content: bytes, tmp_path: Path) -> None:
    said = f"a.bin: {len(content)} bytes that the diff does not show"
    assert said in judged(tmp_path, {"a.bin": content}).notes


def test_who_else_reads_a_changed_file_is_named(tmp_path: Path) -> None:
    changed = {"AGENTS.md": "x\n", "docs/AGENTS.md": "x\n"}
    notes = judged(tmp_path, changed).notes
    assert notes[1:] == (f"AGENTS.md: {SPEAKS}; {LATER}",)


def test_what_is_gone_needs_no_note() -> None:
    gone = [Change(status="D", path=path) for path in ("a.bin", "AGENTS.md")]
    assert unseen(gone, lambda _: b"\0", (), lambda _: {}) == ()


def rewritten(said: Mapping[str, str], text: str = "x = '$Id$'") -> tuple[str, ...]:
    changes = [Change(status="A", path="pkg/a.py")]
    return unseen(changes, lambda _: text.encode(), (), lambda _: {"pkg/a.py": said})


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"filter": "lfs"}, "filter=lfs"),
        ({"working-tree-encoding": "UTF-16"}, "working-tree-encoding=UTF-16"),
        ({"eol": "crlf", "text": "set"}, "eol=crlf"),
        ({"filter": "x", "eol": "crlf"}, "filter=x, eol=crlf"),
        ({"ident": "set"}, "ident=set"),
    ],
)
def test_a_file_that_git_rewrites_at_checkout_is_named(said: Mapping[str, str], why: str) -> None:
    [note] = rewritten(said)
    assert note.startswith(f"pkg/a.py: git rewrites it at checkout ({why}): ")


@pytest.mark.parametrize(
    "said",
    [
        {"eol": "lf", "text": "auto"},
        {"eol": "crlf", "text": "unset"},
        {"working-tree-encoding": "utf-8"},
        {"filter": "unset"},
        {"ident": "unset"},
    ],
)
def test_a_file_that_comes_out_as_it_is_stored_is_not(said: Mapping[str, str]) -> None:
    assert rewritten(said) == ()


def test_a_file_without_the_keyword_that_git_replaces_is_not() -> None:
    assert rewritten({"ident": "set"}, "x = '$ID$'") == ()


def test_what_git_cannot_say_is_one_note() -> None:
    def fails(_: Iterable[str]) -> Mapping[str, Mapping[str, str]]:
        raise WorkspaceError("too long")

    [note] = unseen([Change(status="A", path="a.py")], lambda _: b"$Id$", (), fails)
    assert note.startswith(".gitattributes: too much to be read, so ")
