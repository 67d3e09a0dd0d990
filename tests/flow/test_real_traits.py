"""A project with the traits of real ones: its developer and the gate count the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.flow_site import Site, accept, solve, submit
from support.ignored_files import FILES, IGNORED, bundle, put

LAYOUTS = {
    # The package below src/, its tests beside it, configured by pyproject.toml.
    "src": {
        "tests/conftest.py": (
            "import pytest\n\npytest_plugins = ['extra_plugin']\n\n\n"
            "def pytest_collection_modifyitems(items):\n    items.reverse()\n\n\n"
            "@pytest.fixture(autouse=True)\ndef home(monkeypatch, tmp_path):\n"
            "    monkeypatch.setenv('PKG_HOME', str(tmp_path))\n"
        ),
        "tests/extra_plugin.py": (
            "import pytest\n\n\n@pytest.fixture\ndef three():\n    return 3\n"
        ),
        "tests/test_traits.py": (
            "import os\n\nimport pytest\n\nimport pkg\n\n\n"
            "def test_fixture(three):\n    assert three == 3 and os.environ['PKG_HOME']\n\n\n"
            "@pytest.mark.xfail\ndef test_later():\n    assert pkg.version == '9'\n\n\n"
            "def test_red():\n    assert pkg.version == '0'\n\n\n"
            "def test_catalog():\n    from pathlib import Path\n\n"
            "    place = Path(pkg.__file__).parent / 'locale/de/words.mo'\n"
            "    if not place.is_file():\n        pytest.skip('no translations')\n"
        ),
        "pyproject.toml": FILES["pyproject.toml"]
        + '[tool.pytest.ini_options]\npythonpath = ["src", "tests"]\n',
    },
    # The package at the root, doctests in it, configured by tox.ini as for tox.
    "flat": {
        "src/pkg/__init__.py": None,
        "pkg/__init__.py": (
            'from pkg._version import version\n\n\ndef half(x):\n    """Halve.\n\n'
            '    >>> half(4)\n    2.0\n    """\n    return x / 2\n'
        ),
        "tox.ini": (
            "[tox]\nenvlist = py311\n\n[pytest]\naddopts = --doctest-modules -p no:cacheprovider\n"
            "testpaths = pkg tests\nfilterwarnings =\n    error\n"
        ),
        "pyproject.toml": FILES["pyproject.toml"].replace("src/pkg", "pkg"),
    },
}


def make(root: Path, layout: str) -> Site:
    changes = LAYOUTS[layout]
    files = {**FILES, **changes}
    site = Site.make(root, {name: text for name, text in files.items() if text is not None})
    ignored = {name: text for name, text in IGNORED.items() if name.startswith("src/pkg/")}
    if layout == "flat":
        ignored = {name.removeprefix("src/"): text for name, text in ignored.items()}
    put(site.repo, ignored)
    return site


def at_home(repo: Path) -> dict[str, int]:
    """Count as the developer does, by pytest's own last line."""
    environ = {**os.environ, "PYTHONPATH": f"{repo}:{repo}/src", "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    said = subprocess.run(words, cwd=repo, env=environ, capture_output=True, text=True, check=False)
    last = said.stdout.strip().splitlines()[-1]
    return {kind: int(count) for count, kind in re.findall(r"(\d+) (\w+)", last) if kind != "in"}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_gate_counts_what_the_developer_counts(tmp_path: Path, layout: str) -> None:
    site = make(tmp_path, layout)
    wanted = at_home(site.repo)
    run = site.run(bundle(site), worker=[solve(1) + submit(1)], evaluator=[accept()])
    assert run.code == 0
    base = next(each for each in run.of("validator_run") if each["name"] == "suite")
    counts = {kind: count for kind, count in base["tests"].items() if count}
    assert {kind: counts.get(kind, 0) for kind in wanted} == wanted
    assert counts["collected"] == sum(wanted.values())
