"""A sample of each event about the project as worker and gate are given it."""

from __future__ import annotations

from tilth.gate.findings import Baseline
from tilth.log.events import Carried, CarriedFile, Payload, Preflighted

PROJECT_SAMPLES: tuple[Payload, ...] = (
    Carried(
        files=(CarriedFile(path="src/slug/_version.py", bytes=24, sha256="c" * 64),),
        sha256="d" * 64,
    ),
    Preflighted(
        tree="e" * 40,
        carried="d" * 64,
        baselines={"T-001": Baseline(already_green=("tests/test_t001_slugify.py::test_a",))},
        violations={"slug.py|F401|unused": 1},
        notes=("1 test of the plan is red, as it should be before the work",),
    ),
)
