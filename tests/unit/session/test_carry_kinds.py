"""Which ignored files are carried, by their names and by how they begin."""

from __future__ import annotations

import pytest

from tilth.session.carry_kinds import Wish, chosen, is_secret, named_files

TRACKED = frozenset({"setup.py", "src/pkg/__init__.py", "pkg/core.py", "pkg/locale/de/x.po"})


@pytest.mark.parametrize(
    "path",
    [
        "pkg/fast.cpython-311-x86_64-linux-gnu.so",
        "pkg/fast.pyd",
        "pkg/locale/de/x.mo",
        "pkg/locale/fr/LC_MESSAGES/x.mo",
        "src/pkg/proto/m_pb2.py",
        "src/pkg/m_pb2.pyi",
        "src/pkg/m_pb2_grpc.py",
        "fast.abi3.so",
    ],
)
def test_what_tools_generate_inside_the_project_is_carried(path: str) -> None:
    assert chosen([path], TRACKED, Wish()) == (path,)


@pytest.mark.parametrize(
    "path",
    [
        "build/lib/pkg/fast.so",
        ".tox/py311/lib/site-packages/other/x.mo",
        "node_modules/thing/x.mo",
        "pkg/settings_local.py",
        "pkg/_version.py",
        "pkg/data.json",
    ],
)
def test_what_stands_elsewhere_or_nobody_generated_is_not(path: str) -> None:
    assert chosen([path], TRACKED, Wish()) == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[tool.hatch.build.hooks.vcs]\nversion-file = "src/pkg/_version.py"\n'),
        ("pyproject.toml", '[tool.setuptools_scm]\nwrite_to = "src/pkg/_version.py"\n'),
        ("pyproject.toml", '[tool.pdm.version]\nwrite_to = "pkg/_version.py"\n'),
        ("pyproject.toml", '[[tool.scikit-build.generate]]\npath = "./src/pkg/_version.py"\n'),
        ("setup.cfg", "[versioneer]\nversionfile_source = src/pkg/_version.py\n"),
        ("setup.py", 'setup(use_scm_version={"version_file": "src/pkg/_version.py"})\n'),
    ],
)
def test_a_version_file_is_carried_where_the_packaging_names_it(name: str, text: str) -> None:
    wish = Wish(named=named_files({name: text.encode()}))
    assert chosen(["src/pkg/_version.py"], TRACKED, wish) == ("src/pkg/_version.py",)


def test_the_packaging_cannot_name_any_other_file() -> None:
    named = named_files({"pyproject.toml": b'[tool.setuptools_scm]\nwrite_to = "pkg/local.py"\n'})
    assert chosen(["pkg/local.py"], TRACKED, Wish(named=named)) == ()


@pytest.mark.parametrize(
    "path",
    [
        *(".env", "pkg/.env.local", "prod.env", ".envrc", "data/x.db", "x.sqlite3", "pkg/tls.key"),
        *("cert.pem", "id_rsa", "id_ed25519.pub", ".netrc", "credentials.json", ".env/x.so"),
        *("pkg/__pycache__/x.so", "node_modules/a/x.so", "venv/lib/x.so", "pkg/x.pyc"),
    ],
)
def test_secrets_caches_and_environments_are_carried_by_no_glob(path: str) -> None:
    wish = Wish(globs=("**",), everything=True)
    assert chosen([path, "venv/pyvenv.cfg"], TRACKED, wish) == ()


@pytest.mark.parametrize("begin", [b"SQLite format 3\0", b"-----BEGIN RSA PRIVATE KEY-----"])
def test_a_secret_is_known_by_how_it_begins(begin: bytes) -> None:
    assert is_secret("data/plain.bin", begin)
    assert not is_secret("data/plain.bin", b"plain")


def test_packaging_files_that_cannot_be_read_name_nothing() -> None:
    files = {"pyproject.toml": b"[", "setup.py": b"def (", "setup.cfg": b"\xff"}
    assert named_files(files) <= {"\ufffd"}
