"""The prompt cache: requests that endpoints can read again, and a word where one does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.flow_site import Run, Site, accept, solve, submit
from support.light_gate import LIGHT
from support.messages_api import Answer, MessagesServer, Reply, Request, by_role, call
from support.prompt_cache import PromptCache

from tilth.session.frontend import Frontend
from tilth.session.start import start

Report = Callable[[int, int], tuple[int, int]]
READ = call("read_file", path="big.txt")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    text = "a line of a long text\n" * 400
    return Site.make(tmp_path, {"pyproject.toml": LIGHT, "big.txt": text})


def worker(reads: int) -> list[Reply]:
    # Each read differs, so that none is refused as the same again.
    looks = [call("read_file", path="big.txt", limit=300 + n) for n in range(reads)]
    return [*looks, solve(1), submit(1)]


def run(
    site: Site, cache: PromptCache, report: Report = lambda read, written: (read, written)
) -> Run:
    """Run one task; usage says what the cache did, or what the report makes of it."""
    looks = [READ, call("glob", pattern="*.py")]
    scripted = by_role(worker=worker(5), evaluator=[*looks, accept(score=95)])

    def answer(request: Request) -> Reply:
        reply = scripted(request)
        assert isinstance(reply, Answer)
        read, written = report(*cache.take(request.body, request.role))
        usage = {"cache_read_input_tokens": read, "cache_creation_input_tokens": written}
        return reply.but(usage={"input_tokens": 3, "output_tokens": 5, **usage})

    with MessagesServer(answer) as server:
        environ = site.environ(server.url)
        how: dict[str, Any] = {"new": True, "ping": False, "environ": environ}
        result = start(site.bundle(1), site.repo, {}, frontend=Frontend(), **how)
    return Run(site, result.exit_code, tuple(server.requests))


def test_worker_and_evaluator_send_again_what_a_cache_can_read(site: Site) -> None:
    cache = PromptCache()
    done = run(site, cache)
    assert done.code == 0
    assert len(done.asked("worker")) == 7
    assert len(done.asked("evaluator")) == 3
    assert cache.share == 1.0
    assert done.of("cache_warning") == []


def test_an_endpoint_that_never_reads_its_cache_is_named_once(site: Site) -> None:
    done = run(site, PromptCache(), lambda read, written: (0, read + written))
    assert done.code == 0
    (warning,) = done.of("cache_warning")
    assert warning["role"] == "worker"
    assert warning["read_tokens"] == 0
    assert warning["expected_tokens"] > 4096
    assert warning["differs"] is None
