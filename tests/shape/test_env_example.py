"""`.env.example` against the table of settings, and imports that leave the environment alone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from tilth.config.env_file import read_env_file
from tilth.config.reference import env_example, in_page
from tilth.config.settings import EXAMPLE_MODEL, VARIABLES, Settings, load

ROOT = Path(__file__).parents[2]
ENTRY = re.compile(r"^# (?P<help>.+)\n#(?P<name>[A-Z_]+)=(?P<default>.*)$", re.MULTILINE)

# Imports every module of the package and reports the ones that look at the environment meanwhile.
SPY = """
import importlib, json, os, pkgutil, sys
from collections.abc import MutableMapping

class Spy(MutableMapping):
    readers = set()
    def _note(self):
        frame = sys._getframe(2)
        while frame.f_globals.get("__name__") in ("os", "collections.abc", "_collections_abc"):
            frame = frame.f_back
        self.readers.add(frame.f_globals.get("__name__"))
    def __init__(self, real): self.real = real
    def __getitem__(self, key): self._note(); return self.real[key]
    def __iter__(self): self._note(); return iter(self.real)
    def __len__(self): self._note(); return len(self.real)
    def __setitem__(self, key, value): self.real[key] = value
    def __delitem__(self, key): del self.real[key]

os.environ = Spy(os.environ)
package = importlib.import_module(sys.argv[1])
names = [m.name for m in pkgutil.walk_packages(package.__path__, package.__name__ + ".")]
for name in names:
    importlib.import_module(name)
readers = sorted(n for n in Spy.readers if n and n.split(".")[0] == package.__name__)
print(json.dumps([readers, names]))
"""


def spy(package: str, path: Path) -> tuple[list[str], list[str]]:
    """Run the spy in a process of its own; give who read the environment, and what was imported."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", SPY, package],
        cwd=path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    readers, names = json.loads(done.stdout)
    return readers, names


def test_the_example_is_what_the_table_says() -> None:
    assert (ROOT / ".env.example").read_text("utf-8") == env_example()


def test_the_table_in_the_docs_is_what_the_settings_say() -> None:
    page = (ROOT / "docs" / "settings.md").read_text("utf-8")
    assert page == in_page(page)
    assert re.findall(r"^\| `(TILTH_\w+)`", page, re.MULTILINE) == [v.name for v in VARIABLES]


def test_the_example_lists_every_variable_in_order_with_default_and_help() -> None:
    entries = ENTRY.findall((ROOT / ".env.example").read_text("utf-8"))
    assert entries == [(item.help, item.name, item.default) for item in VARIABLES]


def test_every_setting_has_a_variable_and_the_other_way_round() -> None:
    fields = set(Settings.model_fields) - {"origins", "overruled", "unknown"}
    assert fields == {item.field for item in VARIABLES}


def test_the_example_uncommented_changes_nothing(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    plain = load({}, environ)
    (tmp_path / ".tilth").mkdir()
    live = re.sub(r"^#(?=TILTH_)", "", env_example(), flags=re.MULTILINE)
    (tmp_path / ".tilth" / ".env").write_text(live)
    assert read_env_file(tmp_path / ".tilth" / ".env")["TILTH_MAX_TOKENS"] == "2000000"
    changed = load({}, environ)
    assert changed.model_dump(exclude={"origins"}) == plain.model_dump(exclude={"origins"})


def test_the_example_model_is_one_the_sdk_knows() -> None:
    # read as text: importing the SDK costs more than the rest of this file together
    (model_py,) = (Path(p, "anthropic/types/model.py") for p in sys.path if _has_sdk(p))
    assert f'"{EXAMPLE_MODEL}"' in model_py.read_text("utf-8")


def _has_sdk(directory: str) -> bool:
    return Path(directory, "anthropic/types/model.py").is_file()


def test_no_module_reads_the_environment_when_imported() -> None:
    readers, names = spy("tilth", ROOT)
    assert readers == []
    assert {"tilth.config.settings", "tilth.config.sources"} <= set(names)


def test_a_module_that_reads_the_environment_when_imported_is_found(tmp_path: Path) -> None:
    (tmp_path / "careless").mkdir()
    (tmp_path / "careless" / "__init__.py").touch()
    (tmp_path / "careless" / "early.py").write_text("import os\nHOME = os.getenv('HOME')\n")
    (tmp_path / "careless" / "late.py").write_text("import os\ndef f(): return os.environ\n")
    readers, names = spy("careless", tmp_path)
    assert readers == ["careless.early"]
    assert names == ["careless.early", "careless.late"]
