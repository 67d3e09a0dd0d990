"""A second witness: a session's branch as GitPython reads it, held against what the log says.

It knows nothing of how Tilth reads commits. It opens a bare repository of its own that borrows the
objects, so that reading runs nothing of the source's.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from git import Commit, Repo

from support.flow_site import Run, git
from support.repo_copy import lay_out


@contextmanager
def borrowed(source: Path) -> Iterator[Repo]:
    """Open an empty bare repository on another's objects."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "bare")
        lay_out(folder, _make_bare)
        alternates = folder / "objects" / "info" / "alternates"
        alternates.write_text(f"{source / '.git' / 'objects'}\n")
        with Repo(folder) as repo:
            yield repo


def _make_bare(folder: Path) -> None:
    subprocess.run(["git", "init", "--quiet", "--bare", folder], check=True)


def bears_witness(run: Run) -> None:
    """Find exactly one commit for each done task and round, as the log says it was made."""
    said = {event["payload"]["commit"]: event for event in run.events if event["type"] == "commit"}
    done = [event for event in run.events if event["type"] == "task_done"]
    base, tip = (git(run.site.repo, "rev-parse", rev) for rev in ("main", run.branch))
    with borrowed(run.site.repo) as repo:
        commits = [repo.commit(commit) for commit in _ids(repo, base, tip)]
        own = [commit for commit in commits if "Tilth-Task" in commit.trailers_dict]
        seeds = [commit for commit in commits if commit not in own]
        assert [commit.summary.partition(":")[0] for commit in seeds] in ([], ["seed"])
        assert {commit.hexsha for commit in own} == {event["payload"]["commit"] for event in done}
        assert len(own) == len(done)
        for commit in own:
            _holds(run, commit, said[commit.hexsha])
        rounds = Counter(_round(commit) for commit in own)
        assert set(rounds.values()) <= {1}, rounds
        finished = {task for task, entry in run.tasks.items() if entry["status"] == "done"}
        assert {task for task, _ in rounds} == finished


def _ids(repo: Repo, base: str, tip: str) -> list[str]:
    found = repo.iter_commits(f"{base}..{tip}", first_parent=True, reverse=True)
    return [commit.hexsha for commit in found]


def _holds(run: Run, commit: Commit, event: dict[str, Any]) -> None:
    """Hold one commit against the record of its making."""
    said, trailers = event["payload"], commit.trailers_dict
    assert commit.tree.hexsha == said["tree"]
    assert [parent.hexsha for parent in commit.parents] == [said["parent"]]
    assert commit.summary == said["subject"]
    assert trailers["Tilth-Session"] == [run.session.name]
    assert trailers["Tilth-Task"] == [event["task_id"]]
    verdicts = [e["payload"] for e in run.events if e["type"] == "task_done"]
    (verdict,) = [e["verdict"] for e in verdicts if e["commit"] == commit.hexsha]
    assert trailers["Tilth-Verdict"] == [verdict]


def _round(commit: Commit) -> tuple[str, str]:
    trailers = commit.trailers_dict
    return trailers["Tilth-Task"][0], trailers.get("Tilth-Round", ["1"])[0]
