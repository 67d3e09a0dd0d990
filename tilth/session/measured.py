"""Measured evaluators: which models `tilth eval-check` has left figures of in Tilth's home."""

from __future__ import annotations

import json
from pathlib import Path

EVAL_CHECKS = "eval-checks.jsonl"


def is_measured(home: Path, model: str) -> bool:
    """Tell whether `tilth eval-check` has ever measured a model here."""
    try:
        lines = (home / EVAL_CHECKS).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return any(_model_of(line) == model for line in lines)


def _model_of(line: str) -> object:
    try:
        said = json.loads(line)
    except ValueError:
        return None
    return said.get("model") if isinstance(said, dict) else None
