"""The gate's own modules in the target: they come compiled, and are read where that is no help."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tilth.gate.pytest_run import PACKAGE, lay_out_modules

SAYS = f"from {PACKAGE} import test_source; print(test_source.__file__)"


def loaded(root: Path) -> str:
    program = f"import sys; sys.path.insert(0, {str(root / 'gate')!r}); {SAYS}"
    argv = [sys.executable, "-I", "-B", "-c", program]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr.strip().rpartition("\n")[2]


def test_an_interpreter_like_ours_compiles_no_module_of_the_gate(tmp_path: Path) -> None:
    lay_out_modules(tmp_path)
    module = tmp_path / "gate" / PACKAGE / "test_source.py"
    module.write_text("this cannot be compiled\n")
    assert loaded(tmp_path) == str(module)


def test_another_interpreter_reads_the_source(tmp_path: Path) -> None:
    lay_out_modules(tmp_path)
    module = tmp_path / "gate" / PACKAGE / "test_source.py"
    (cached,) = module.parent.glob("__pycache__/test_source.*.pyc")
    cached.write_bytes(b"\0\0\r\n" + cached.read_bytes()[4:])
    assert loaded(tmp_path) == str(module)
    module.write_text("raise ValueError('read')\n")
    assert loaded(tmp_path) == "ValueError: read"


def test_they_are_laid_out_below_their_own_directory_alone(tmp_path: Path) -> None:
    root = tmp_path / "root"
    program = (
        "import pathlib, tilth.gate.pytest_run as run; "
        f"run.lay_out_modules(pathlib.Path({str(root)!r}))"
    )
    elsewhere = f"pycache_prefix={tmp_path / 'elsewhere'}"
    subprocess.run([sys.executable, "-B", "-X", elsewhere, "-c", program], check=True)
    assert [path.name for path in tmp_path.iterdir()] == ["root"]
