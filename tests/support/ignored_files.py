"""A small project that needs files which git ignores, in a checkout as its developer has it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from support.flow_site import Site

PYPROJECT = """\
[project]
name = "pkg"
dynamic = ["version"]

[tool.hatch.build.hooks.vcs]
version-file = "src/pkg/_version.py"

[tool.tilth]
carry = ["data/*.bin"]
"""
GITIGNORE = """\
_version.py
*.mo
*_pb2.py
*.so
.env
.venv/
__pycache__/
data/
secret*
"""
FILES = {
    "pyproject.toml": PYPROJECT,
    ".gitignore": GITIGNORE,
    "src/pkg/__init__.py": "from pkg._version import version\n",
    "src/pkg/locale/de/words.po": "",
    "tests/test_own.py": ("import pkg\n\n\ndef test_version():\n    assert pkg.version == '1.2'\n"),
}
IGNORED = {
    "src/pkg/_version.py": "version = '1.2'\n",
    "src/pkg/locale/de/words.mo": "words\n",
    "src/pkg/message_pb2.py": "MESSAGE = 1\n",
    "src/pkg/fast.cpython-311-x86_64-linux-gnu.so": "compiled\n",
    # What nobody is given.
    ".env": "KEY=value\n",
    ".venv/pyvenv.cfg": "home = /usr\n",
    ".venv/lib/other/words.mo": "of another\n",
    "src/pkg/secret_version.py": "KEY = 1\n",
    "src/pkg/__pycache__/pkg.cpython-311.pyc": "",
    "data/table.bin": "table\n",
    "data/people.sqlite": "SQLite format 3\0",
    "data/key.bin": "-----BEGIN PRIVATE KEY-----\n",
}
GENERATED = [
    "src/pkg/_version.py",
    "src/pkg/fast.cpython-311-x86_64-linux-gnu.so",
    "src/pkg/locale/de/words.mo",
    "src/pkg/message_pb2.py",
]
# Red as long as its own module is missing, and also where the ignored file is.
SEED = """\
import pkg
from feature1 import add1


def test_adds():
    assert add1(1) == 2
    assert pkg.version == "1.2"
"""


def put(root: Path, files: Mapping[str, str]) -> None:
    """Write files below a directory."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def make_site(root: Path, changes: Mapping[str, str] | None = None) -> Site:
    """Make the project, with all that git ignores in its checkout."""
    site = Site.make(root, {**FILES, **(changes or {})})
    put(site.repo, IGNORED)
    (site.repo / "data" / "out.bin").symlink_to("/etc/hostname")
    return site


def bundle(site: Site, *numbers: int) -> Path:
    """Write a PRD of which the first task's test needs an ignored file."""
    folder = site.bundle(*(numbers or (1,)))
    (folder / "tests" / "test_t001_add.py").write_text(SEED, encoding="utf-8")
    return folder
