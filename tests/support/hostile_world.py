"""A world for a hostile worker: a user's home with secrets in it, servers that listen, one session.

The world stands where a wall covers nothing by itself: beside the code, but not where the code lies
below a temporary directory. Those are empty for every command, and would hide what is left open.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import tilth
from support.flow_site import Run, Site, accept, git, solve, submit
from support.messages_api import Answer, call
from support.sandbox_site import bubblewrap
from tilth.sandbox.confinement import Access, Command
from tilth.sandbox.confinement import run as confined

WORD = "the word that nobody may read"
REACHED = "the marker server was reached"
EVALUATORS_KEY = "canary-key-4711-of-the-evaluator"
OTHER = "20260101-000000-abcdef"
CANARY = f"tilth-canary-{os.getpid()}"
EXPECTED = (
    r"No such file|Permission denied|Read-only file system|Operation not permitted|refused"
    r"|Device or resource busy|cross-device link|unreachable|No space left"
)
_ROOT = Path(__file__).parents[2]
# For a checkout that is covered; the last is for who may write nowhere else.
_GROUNDS = (_ROOT / "build", *map(Path, ("/srv", "/opt", "/mnt", pwd.getpwuid(os.getuid()).pw_dir)))
_PLACEHOLDER = re.compile(r"@([a-z_]+)@")


def bash(command: str, **more: Any) -> Answer:
    return call("bash", command=command, **more)


@dataclass(frozen=True)
class Attack:
    """Hold the calls of one attack: all but the last prepare it, the last one must be refused.

    A bash call counts as refused when its command fails, so a command is written such that it
    succeeds exactly when it got somewhere. `open` attacks are harmless where there is no wall.
    """

    calls: tuple[Answer, ...]
    because: str = EXPECTED
    open: bool = False


def attack(*calls: Answer | str, because: str = EXPECTED, open: bool = False) -> Attack:
    """Word an attack; a text is a command line."""
    worded = tuple(bash(one) if isinstance(one, str) else one for one in calls)
    return Attack(worded, because, open)


@dataclass
class World:
    """Hold a machine in small and what is at stake on it."""

    root: Path
    site: Site
    ports: dict[str, str] = field(default_factory=dict)
    reached: list[str] = field(default_factory=list)

    @classmethod
    def make(cls, root: Path) -> World:
        home = root / "user"
        site = Site.make(home / "src", {"app.py": "x = 1\n", ".gitignore": ".env\n"})
        site.settings = {"TILTH_SANDBOX": "auto", "TILTH_HOME": str(home / ".tilth")}
        site.sessions_dir = home / ".tilth" / "sessions"
        world = cls(root, site)
        for path in world.secrets:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"# {WORD}\n")
        (home / ".tilth" / ".env").write_text(
            f"# {WORD}\nTILTH_EVALUATOR_API_KEY={EVALUATORS_KEY}\n"
        )
        (root / "elsewhere").mkdir()
        return world

    @property
    def home(self) -> Path:
        return self.root / "user"

    @property
    def secrets(self) -> tuple[Path, ...]:
        """Name the files that hold the word."""
        within = (".ssh/id_rsa", ".netrc", f".tilth/sessions/{OTHER}/events.jsonl", "src/repo/.env")
        return tuple(self.home / path for path in within)

    @property
    def marker(self) -> Path:
        """Name the file that appears if anything of the worker's is run outside the wall."""
        return self.root / "elsewhere" / "ran-outside"

    def names(self) -> dict[str, str]:
        """Give what the placeholders in an attack stand for."""
        return {
            "home": str(self.home),
            "tilth": str(self.home / ".tilth"),
            "sessions": str(self.site.sessions),
            "other": OTHER,
            "repo": str(self.site.repo),
            "root": str(self.root),
            "marker": str(self.marker),
            "package": str(Path(tilth.__file__).parent),
            "prefix": sys.prefix,
            "pid": str(os.getpid()),
            "word": WORD,
            "canary": CANARY,
            **self.ports,
        }

    def filled(self, answer: Answer) -> Answer:
        names = self.names()

        def fill(value: Any) -> Any:
            if isinstance(value, dict):
                return {key: fill(item) for key, item in value.items()}
            if isinstance(value, str):
                return _PLACEHOLDER.sub(lambda match: names.get(match[1], match[0]), value)
            return value

        return answer.but(blocks=tuple(fill(block) for block in answer.blocks))

    def state(self) -> dict[str, str]:
        """Tell the state of all that must stay: the home, the checkout and the repository.

        What a session rightly adds to the repository (its branch, its objects) is left out.
        """
        found = {}
        for path in sorted(self.root.rglob("*")):
            name = str(path.relative_to(self.root))
            if path.is_file() and not path.is_symlink() and not _is_sessions_own(name):
                found[name] = path.read_text(errors="replace")
        found["branches"] = git(self.site.repo, "branch", "--list", "main", "--verbose")
        return found


def _is_sessions_own(name: str) -> bool:
    if name.startswith("user/.tilth/sessions/"):
        return OTHER not in name
    own = ("objects/", "refs/heads/session/", "logs/refs/heads/session/", "worktrees/")
    return name.startswith(tuple(f"user/src/repo/.git/{path}" for path in own))


@contextlib.contextmanager
def open_world(name: str) -> Iterator[World]:
    """Make a world with its servers and the user's environment; take it away afterwards."""
    root = _ground() / f"tilth-attacks-{os.getpid()}" / name
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    world = World.make(root)
    with contextlib.ExitStack() as stack:
        stack.callback(_clear, root)
        for path in world.secrets:
            # Else nothing that is hidden there would have to be hidden by the policy.
            assert _is_open(path), f"every sandbox covers {path}: no attack on it could succeed"
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("HOME", str(world.home))
        patch.setenv("ANTHROPIC_API_KEY", f"key {WORD}")
        patch.setenv("GITHUB_TOKEN", f"token {WORD}")
        for kind, address in _addresses(world):
            stack.enter_context(_listening(world, kind, address))
        stack.enter_context(_listening_elsewhere(world))
        for folder in ("/tmp", "/var/tmp", "/dev/shm"):
            stack.enter_context(tempfile.NamedTemporaryFile(prefix=CANARY, dir=folder))
        yield world


@functools.cache
def _ground() -> Path:
    """Find where a world can stand in the open; the first place, for its assertion, if nowhere."""
    for ground in _GROUNDS:
        with contextlib.suppress(OSError):
            ground.mkdir(exist_ok=True)
            with tempfile.NamedTemporaryFile("w", prefix="tilth-ground-", dir=ground) as file:
                file.write(WORD)
                file.flush()
                if _is_open(Path(file.name)):
                    return ground
        # Nothing but the checkout's own place for what is built may have been made.
        with contextlib.suppress(OSError):
            _GROUNDS[0].rmdir()
    return _GROUNDS[0]


def _is_open(file: Path) -> bool:
    """Tell whether the wall alone, with nothing to hide, shows what stands in a file."""
    env = {"PATH": "/usr/bin:/bin"}
    command = Command(argv=("cat", str(file)), cwd=Path("/"), env=env, timeout_s=60)
    return WORD in confined(bubblewrap().wrap(command, Access())).output


def _clear(root: Path) -> None:
    shutil.rmtree(root)
    ours = (root.parent, root.parent.parent) if _ground() == _GROUNDS[0] else (root.parent,)
    for folder in ours:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _addresses(world: World) -> Iterator[tuple[str, tuple[int, Any]]]:
    yield "tcp", (socket.AF_INET, ("127.0.0.1", 0))
    yield "abstract", (socket.AF_UNIX, f"\0tilth-attack-{os.getpid()}-{world.root.name}")
    yield "home_socket", (socket.AF_UNIX, str(world.home / "agent.sock"))
    yield "shown_socket", (socket.AF_UNIX, str(world.root / "elsewhere" / "docker.sock"))


@contextlib.contextmanager
def _listening(world: World, kind: str, where: tuple[int, Any]) -> Iterator[None]:
    family, address = where
    with socket.socket(family, socket.SOCK_STREAM) as server:
        server.bind(address)
        server.listen()
        if kind == "tcp":
            world.ports["port"] = str(server.getsockname()[1])
        elif kind == "abstract":
            world.ports["abstract"] = address.removeprefix("\0")
        thread = threading.Thread(target=_answer, args=(world, kind, server))
        thread.start()
        try:
            yield
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


@contextlib.contextmanager
def _listening_elsewhere(world: World) -> Iterator[None]:
    """Let another program listen under a name that is relative to where it stands."""
    code = (
        "import socket; s = socket.socket(socket.AF_UNIX); s.bind('relative.sock'); s.listen(); "
        "print('ready', flush=True)\n"
        f"while True: s.accept()[0].sendall({REACHED.encode()!r})"
    )
    argv = [sys.executable, "-I", "-S", "-c", code]
    with subprocess.Popen(argv, cwd=world.root / "elsewhere", stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        try:
            yield
        finally:
            other.kill()


def _answer(world: World, kind: str, server: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            peer, _ = server.accept()
            with peer:
                world.reached.append(kind)
                peer.sendall(REACHED.encode())


@dataclass(frozen=True)
class Raid:
    """Hold what came of many attacks in one session."""

    world: World
    run: Run
    before: Mapping[str, str]
    after: Mapping[str, str]
    results: Mapping[str, list[dict[str, Any]]]
    screen: str

    def last(self, name: str) -> dict[str, Any]:
        return self.results[name][-1]

    def breach(self, name: str) -> str | None:
        """Say how an attack got through, or None."""
        result = self.last(name)
        if WORD in result["content"] or EVALUATORS_KEY in result["content"]:
            return "the word was read"
        if REACHED in result["content"]:
            return "a server outside was reached"
        went_well = result["exit_code"] == 0 or (
            result["exit_code"] is None and not result["is_error"]
        )
        return "it succeeded" if went_well else None


def raid(world: World, attacks: Mapping[str, Attack], **settings: str) -> Raid:
    """Let one worker try every attack, do its task, and hand it in."""
    bundle = world.site.bundle(1)
    before = world.state()
    calls = Answer()
    for name, one in attacks.items():
        for index, answer in enumerate(one.calls):
            (block,) = world.filled(answer).blocks
            calls += Answer(blocks=({**block, "id": f"{name}/{index}"},))
    clean = bash(
        "find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +; git archive HEAD | tar x"
    )
    screen = io.StringIO()
    with contextlib.redirect_stderr(screen):
        run = world.site.run(
            bundle,
            worker=[calls, clean + solve(1) + submit(1)],
            evaluator=[accept()],
            **settings,
        )
    by_name: dict[str, list[dict[str, Any]]] = {name: [] for name in attacks}
    for result in run.of("tool_result"):
        name = result["call_id"].rpartition("/")[0]
        if name in by_name:
            by_name[name].append(result)
    return Raid(world, run, before, world.state(), by_name, screen.getvalue())


def processes(word: str) -> str:
    """List the processes that have a word in their command line."""
    done = subprocess.run(["pgrep", "-af", word], capture_output=True, text=True, check=False)
    return done.stdout
