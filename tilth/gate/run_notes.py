"""What changed code did to the project's own files while its tests ran: notes for the evaluator.

Told from which file opened which, as an observed run recorded it. It refuses nothing.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from tilth.gate.passing import PytestRun
from tilth.gate.seed_proof import Proof
from tilth.gate.steering import is_of_tests, is_test_file
from tilth.gate.tampering import shortened


def run_notes(proof: Proof, run: PytestRun | None) -> tuple[str, ...]:
    """Name files of the base that changed product code reads or writes while its tests run.

    What stands in its own package is its own to read.
    """
    if run is None:
        return ()
    changed = {change.path for change in proof.trees.changes}
    product = {path for path in changed if path.endswith(".py") and not is_of_tests(path)}
    base = {*proof.trees.base_files} - changed
    written = dict.fromkeys(pair for pair in run.writes if pair[1] in base)
    reads = [
        (reader, path)
        for reader, path in run.reads
        if reader in product and path in base and (reader, path) not in written
        if is_test_file(path) or not (path.endswith(".py") or _is_own(reader, path))
    ]
    return (
        *shortened(
            [f"{by or 'pytest'}: writes {path} while the tests run" for by, path in written]
        ),
        *shortened([f"{by}: reads {path} while the tests run" for by, path in reads]),
    )


def _is_own(reader: str, path: str) -> bool:
    """Tell whether a file stands in the package of the one that reads it."""
    parts = PurePosixPath(reader).parts[:-1]
    package = parts[:2] if parts[:1] == ("src",) else parts[:1]
    return bool(package) and PurePosixPath(path).parts[: len(package)] == package
