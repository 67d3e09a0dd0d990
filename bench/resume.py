"""Time a wake: from the resume of a long session to its first model call."""

from __future__ import annotations

import contextlib
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.endpoint import ROOT
from bench.quiet import quiet

sys.path.insert(0, str(ROOT / "tests"))

EVENTS = 10_000


def resume_ratio(rounds: int = 5) -> float:
    """Give how much longer a resume takes to its first call than reading the log once.

    What the SDK itself does with a conversation of thousands of messages before it sends it is not
    counted: the same request is sent by the bare SDK right after, and that time is taken off.
    """
    from support.commands import resume, start
    from support.flow_site import Site
    from support.messages_api import MessagesServer, Request, call, error

    from tilth.log.reader import read_events

    asked: list[tuple[float, dict[str, Any]]] = []

    def script(request: Request) -> Any:
        asked.append((time.perf_counter(), request.body))
        return call("bash", command="true") if len(asked) < 4 else error(400, "enough")

    with (
        tempfile.TemporaryDirectory() as folder,
        MessagesServer(script) as server,
        quiet(),
    ):
        site = Site.make(Path(folder) / "site")
        environ = site.environ(server.url, TILTH_MAX_ITERATIONS_PER_TASK="99999")
        start(site.bundle(1), site.repo, {}, new=True, environ=dict(environ))
        log = site.session() / "events.jsonl"
        stretch(log)
        read, woken = [], []
        for _ in range(rounds):
            began = time.perf_counter()
            for _line in read_events(log):
                pass
            read.append(time.perf_counter() - began)
            began = time.perf_counter()
            resume(site.session().name, {}, fresh=False, environ=dict(environ))
            waking = asked[-1][0] - began
            began = time.perf_counter()
            send(server.url, asked[-1][1])
            woken.append(waking - (asked[-1][0] - began))
    return statistics.median(woken) / statistics.median(read)


def send(url: str, body: dict[str, Any]) -> None:
    """Send one request with nothing around the SDK; what is answered does not matter."""
    import anthropic

    client = anthropic.Anthropic(api_key="none", base_url=url, max_retries=0)
    with contextlib.suppress(anthropic.APIStatusError):
        client.messages.create(**body)
    client.close()


def stretch(log: Path) -> None:
    """Lengthen a stopped session's log with turns like the last one."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    stop = lines.pop()
    turn = next(i for i in range(len(lines) - 1, 0, -1) if lines[i]["type"] == "model_call")
    kept = lines[turn:]
    number = 0
    while len(lines) < EVENTS - 1:
        number += 1
        lines += [_renamed(line, number) for line in kept]
    for seq, line in enumerate([*lines, stop], start=1):
        line["seq"] = seq
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in [*lines, stop])
    log.write_text(text, encoding="utf-8")


def _renamed(line: dict[str, Any], number: int) -> dict[str, Any]:
    text = json.dumps(line)
    payload = line["payload"]
    call_id = payload.get("call_id") or payload["content"][-1]["id"]
    return json.loads(text.replace(call_id, f"{call_id}-{number}"))
