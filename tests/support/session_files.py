"""A shelf of sessions for tests of the commands that look: real files, written by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from support.event_samples import SESSION, a_session
from tilth.log.events import Event, Payload, Scope
from tilth.session.store import Lock

CREATED = "2026-11-16T22:15:30.000Z"
SHA = "1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d"
HOSTILE = "\x1b[31mred\x1b[0m \u202egnp.exe [bold]loud[/bold]"


class Noon:
    """Stand at noon of the day after the sessions were made."""

    def now(self) -> datetime:
        return datetime(2026, 11, 17, 12, 0, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0


def task(number: int, status: str = "pending", **changes: Any) -> dict[str, Any]:
    return {
        "id": f"T-{number:03d}",
        "title": f"Part {number}",
        "description": "…",
        "acceptance_criteria": ["it works"],
        "status": status,
        **changes,
    }


SOMETHING = {"seq": 1, "ts": CREATED, "type": "from_the_future", "payload": {}}


@dataclass(frozen=True)
class Shelf:
    """Hold sessions below one home."""

    root: Path

    @property
    def sessions(self) -> Path:
        return self.root / "home" / "sessions"

    @property
    def environ(self) -> dict[str, str]:
        return {
            "HOME": str(self.root),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "TILTH_HOME": str(self.root / "home"),
        }

    def add(
        self,
        name: str = SESSION,
        *,
        status: str = "done",
        tasks: Iterable[dict[str, Any]] = (task(1, "done", commit=SHA, score=91),),
        events: Iterable[Event] = (),
        feature: str | None = "slugs",
        **checkpoint: Any,
    ) -> Path:
        """Put one session on the shelf."""
        directory = self.sessions / name
        (directory / "ledger").mkdir(parents=True)
        state = {
            "schema_version": 1,
            "session": name,
            "status": status,
            "source": str(self.root / "repo"),
            "branch": f"session/{name}",
            "base_commit": SHA,
            "base_branch": "main",
            "created": CREATED,
            "updated": CREATED,
            "usage": {"worker": {"calls": 3, "cost_usd": 1.25}},
            **checkpoint,
        }
        plan = {"version": 1, "feature": feature, "tasks": list(tasks)}
        (directory / "checkpoint.json").write_text(json.dumps(state))
        (directory / "prd.json").write_text(json.dumps(plan))
        (directory / "lock").write_text("1\n")
        write_log(directory, events)
        if not (directory / "events.jsonl").stat().st_size:
            # A session that was at work has a log, whatever it says.
            append_line(directory, json.dumps(SOMETHING) + "\n")
        return directory

    def add_story(self, name: str = SESSION) -> Path:
        """Put the session of `event_samples` on the shelf: one task done, one failed."""
        tasks = [task(1, "done", commit=SHA, score=91), task(2, "failed"), task(3)]
        return self.add(name, status="failed", tasks=tasks, events=a_session())

    @contextmanager
    def held(self, name: str = SESSION) -> Iterator[None]:
        """Hold a session's lock as a run would."""
        with Lock(self.sessions / name / "lock"):
            yield


def write_log(directory: Path, events: Iterable[Event]) -> None:
    with (directory / "events.jsonl").open("w") as file:
        for event in events:
            file.write(json.dumps(event.to_line()) + "\n")


def log_of(
    *payloads: Payload, task_id: str | None = "T-001", session: str = SESSION
) -> list[Event]:
    """Number payloads as a log would."""
    return [
        Event(seq, CREATED, session, Scope(task_id=task_id, iter=1), payload)
        for seq, payload in enumerate(payloads, start=1)
    ]


def append_line(directory: Path, text: str) -> None:
    with (directory / "events.jsonl").open("a") as file:
        file.write(text)


def snapshot(root: Path) -> dict[str, tuple[int, int, bytes]]:
    """Give every file below a directory, to see that nothing changed."""
    return {
        str(path.relative_to(root)): (
            path.stat().st_mode,
            path.stat().st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(root.rglob("*"))
    }
