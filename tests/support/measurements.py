"""What an earlier `tilth eval-check` would have left in Tilth's home."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tilth.base.rate import Rate
from tilth.config.settings import load
from tilth.session.measured import Measurement, keep, prompt_sha256


def measured(home: Path, model: str, settings: dict[str, str] | None = None, **given: Any) -> None:
    """Keep a figure for a model, asked with the prompts of these settings."""
    prompts = prompt_sha256(load({}, {"TILTH_HOME": str(home), **(settings or {})}))
    usual = {
        "ts": "2026-11-17T21:00:00.000Z",
        "prompt_sha256": prompts,
        "suite": "shipped",
        "whole": True,
        "false_accept": Rate.share(2, 144),
        "false_reject": Rate.share(1, 90),
    }
    keep(home, Measurement(model=model, **(usual | given)))
