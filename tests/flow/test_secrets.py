"""Secrets in a run: tools get what the model wrote; records and requests never hold a key."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.flow_site import Run, Site, accept, git, reject, solution, solve, submit, task, write
from support.light_gate import light_site, whole_gate
from support.messages_api import MessagesServer, block, call, error
from support.replays import say_of

from tilth.config.settings import load
from tilth.show.report_page import report
from tilth.show.task import show
from tilth.show.viewer.library import Library
from tilth.show.viewer.visualize import visualize

TOKEN = "ghp_0123456789abcdefghij0123456789abcdef"
REVIEWER_KEY = "second-reviewer-987654"


@pytest.fixture
def site(tmp_path: Path, request: pytest.FixtureRequest) -> Site:
    return light_site(tmp_path, request)


def records(run: Run) -> list[Path]:
    """Give every file a session keeps beside its worktree."""
    work = run.session / "workspace"
    return [
        path
        for path in run.session.rglob("*")
        if path.is_file() and work not in path.parents and path.suffix != ".py"
    ]


def holders(run: Run, secret: str) -> list[Path]:
    return [path for path in records(run) if secret.encode() in path.read_bytes()]


def test_a_key_that_is_a_plain_word_reaches_the_tools_and_no_record(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    code = f'HOST = "ollama"\nNAME = "ollama-python"\n\n\n{solution(1)}'
    run = site.run(
        site.bundle(1),
        worker=[write("feature1.py", code), submit(1, summary="Asks ollama.")],
        evaluator=[accept()],
        TILTH_API_KEY="ollama",
    )
    assert run.code == 0
    assert git(site.repo, "show", f"{run.branch}:feature1.py") == code.strip()
    assert "TILTH_API_KEY is short or a plain word" in capsys.readouterr().err
    assert run.of("tool_call")[0]["arguments"]["content"].count("[hidden: 6 characters]") == 1
    assert run.of("case_submitted")[0]["case"]["summary"] == "Asks [hidden: 6 characters]."
    sent = run.requests[1].raw.decode()
    assert r"HOST = \"[hidden: 6 characters]\"\nNAME = \"ollama-python\"\n" in sent
    assert '"ollama"' not in sent


def test_a_commit_holds_no_key_in_its_message(site: Site) -> None:
    run = site.run(
        site.bundle(1, tasks=[task(1, title="Ask with second-reviewer-987654")]),
        worker=[solve(1) + submit(1)],
        evaluator=[accept()],
        TILTH_API_KEY=REVIEWER_KEY,
    )
    assert run.code == 0
    assert git(site.repo, "log", "-1", "--format=%s", run.branch) == (
        "T-001: Ask with [hidden: 22 characters]"
    )


def test_a_resumed_session_hides_the_reviewers_keys_in_every_file(site: Site) -> None:
    echo = f"It prints {REVIEWER_KEY}."
    with MessagesServer([reject(concern=echo, next_step=echo), accept(concern=echo)]) as second:
        (site.root / "home").mkdir()
        (site.root / "home" / "evaluators.toml").write_text(
            f'[strict]\nmodel = "m"\nbase_url = "{second.url}"\napi_key_env = "STRICT_KEY"\n'
        )
        site.settings["STRICT_KEY"] = REVIEWER_KEY
        bundle = site.bundle(1, tasks=[task(1, reviewer="strict")])
        first = site.run(bundle, worker=[error(401, "no")])
        assert first.code == 5
        run = site.resume(worker=[solve(1) + submit(1), submit(1, learnings=[echo])])
    assert run.code == 0
    assert [entry["concern"] for entry in run.ledger(1)] == [
        "It prints [hidden: 22 characters]."
    ] * 2
    assert holders(run, REVIEWER_KEY) == []


def test_a_call_whose_id_holds_a_key_has_one_id_wherever_it_is_named(site: Site) -> None:
    key = "sk-worker-0123456789abcdef"
    keyed = block(type="tool_use", id=key, name="bash", input={"command": "true"})
    run = site.run(
        site.bundle(1),
        worker=[keyed, keyed, solve(1) + submit(1)],
        evaluator=[accept()],
        TILTH_API_KEY=key,
    )
    assert run.code == 0
    blocks = [each for said in run.asked("worker")[2].body["messages"] for each in said["content"]]
    ids = ["[hidden: 26 characters]", "[hidden: 26 characters]_2"]
    assert [each["id"] for each in blocks if each["type"] == "tool_use"] == ids
    assert [each["tool_use_id"] for each in blocks if each["type"] == "tool_result"] == ids
    assert [payload["call_id"] for payload in run.of("tool_result")[:2]] == ids
    assert not [request for request in run.requests if key.encode() in request.raw]
    assert say_of(site, TILTH_API_KEY=key)[0] == 0


@pytest.mark.parametrize("resumed", [False, True])
def test_a_token_in_the_repositorys_configuration_is_hidden_like_a_key(
    site: Site, resumed: bool
) -> None:
    git(site.repo, "remote", "add", "origin", f"https://x-access-token:{TOKEN[4:]}@host/a.git")
    look = call("bash", command=f"git -C {site.repo} config remote.origin.url")
    worker = [look, solve(1) + submit(1, summary=f"Found {TOKEN[4:]}.")]
    if resumed:
        assert site.run(site.bundle(1), worker=[error(401, "no")]).code == 5
        run = site.resume(worker=worker, evaluator=[accept()])
    else:
        run = site.run(site.bundle(1), worker=worker, evaluator=[accept()])
    assert run.code == 0
    url = "https://[hidden: 51 characters]@host/a.git"
    assert url in run.of("tool_result")[0]["content"]
    assert holders(run, TOKEN[4:]) == []
    assert not [request for request in run.requests if TOKEN[4:].encode() in request.raw]


@whole_gate
def test_a_key_that_a_worker_commits_is_named_and_shown_to_nobody(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """A commit stays as it is; what is shown of it, in whatever way, goes through the mask."""
    key, token = "sk-worker-0123456789abcdef", "token-of-the-remote-1234"
    git(site.repo, "config", "remote.origin.url", f"https://u:{token}@example.org/x.git")
    odd = f"notes-{key}.txt"
    code = f'KEY = "{key}"\nTOKEN = "{token}"\n\n\n{solution(1)}'
    run = site.run(
        site.bundle(1),
        worker=[write("feature1.py", code) + write(odd, "x\n"), submit(1)],
        evaluator=[accept()],
        TILTH_API_KEY=key,
    )
    assert run.code == 0
    assert key in git(site.repo, "show", f"{run.branch}:feature1.py")
    told = next(request.raw.decode() for request in run.requests if request.role == "evaluator")
    assert "a known key stands in feature1.py:1" in told
    assert "a known key stands in feature1.py:2" in told
    assert "a known key stands in the name of a file" in told

    environ = site.environ("http://127.0.0.1:1", TILTH_API_KEY=key)
    pages = site.root / "whole.html", site.root / "redacted.html"
    show("latest", "T-001", environ=environ)
    show("latest", "T-001", as_json=True, environ=environ)
    report("latest", as_json=False, environ=environ)
    report("latest", as_json=True, environ=environ)
    for page in pages:
        visualize("latest", export=page, redact=page is pages[1], environ=environ)
    shown = capsys.readouterr()
    told_in = [shown.out, shown.err, *(page.read_text("utf-8") for page in pages)]
    assert all(secret not in text for secret in (key, token) for text in told_in)
    assert "[hidden: 26 characters]" in shown.out
    assert '"text": "a known key stands in feature1.py:1"' in shown.out
    assert holders(run, key) == holders(run, token) == []


def test_the_served_viewer_hides_what_a_worker_committed(site: Site) -> None:
    key = "sk-worker-0123456789abcdef"
    run = site.run(
        site.bundle(1),
        worker=[write("feature1.py", f'KEY = "{key}"\n\n\n{solution(1)}'), submit(1)],
        evaluator=[accept()],
        TILTH_API_KEY=key,
    )
    library = Library(
        load({}, site.environ("http://127.0.0.1:1", TILTH_API_KEY=key)), run.session.name
    )
    page = library.task("", "T-001")
    assert "+KEY = " in page["diff"]
    assert key not in str(library.masked("", page))
    assert "[hidden: 26 characters]" in library.masked("", page)["diff"]
