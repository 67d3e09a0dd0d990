"""A sample of each event about the project as worker and gate are given it."""

from __future__ import annotations

from tilth.log.events import Carried, CarriedFile, Payload

PROJECT_SAMPLES: tuple[Payload, ...] = (
    Carried(
        files=(CarriedFile(path="src/slug/_version.py", bytes=24, sha256="c" * 64),),
        sha256="d" * 64,
    ),
)
