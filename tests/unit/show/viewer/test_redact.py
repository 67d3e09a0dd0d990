"""The redaction: what is left out of an export that is given to others."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.event_samples import SAMPLES, SESSION

from tilth.log.events import Event, Scope, Unknown
from tilth.show.viewer.redact import LEFT_OUT, Redaction
from tilth.show.viewer.rows import body, row

REPO = Path("/home/someone/code/words")


@pytest.fixture
def redaction() -> Redaction:
    return Redaction((REPO, Path("/home/someone/.tilth/sessions/x/workspace")))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("in /home/someone/code/words/words/slug.py", "in words/slug.py"),
        ("git -C /home/someone/code/words log", "git -C . log"),
        ("/home/someone/code/words2/a.py", "[path]"),
        ("/home/someone/code/words-private/plan.txt", "[path]"),
        ("/home/someone/code/words.git/config", "[path]"),
        ("/home/someone/code/words+more/a /home/someone/code/words~", "[path] [path]"),
        (r"/home/someone/code/words\ private/plan.txt", "[path]"),
        ("(cd /home/someone/code/words) in /home/someone/code/words.", "(cd .) in .."),
        ("/home/someone/code/words:/src, '/home/someone/code/words'", ".:/src, '.'"),
        ("cat /etc/passwd; ls ~/.ssh", "cat [path]; ls [path]"),
        ("'/usr/lib/python3.11/os.py'", "'[path]'"),
        ("GET /invoices/5 answers and/or not", "GET /invoices/5 answers and/or not"),
        ("http://127.0.0.1:80/home/page", "http://127.0.0.1:80/home/page"),
        ("words/slug.py:3", "words/slug.py:3"),
        ("a / b", "a / b"),
        ("see file:///home/alice/x now", "see [path] now"),
        ("see vscode://file/home/alice/x now", "see [path] now"),
        ("sqlite:////srv/alice.db", "[path]"),
        ("at:/srv/alice/x, so", "at:[path], so"),
        ("//srv/alice/x", "[path]"),
        ("PATH=/usr/bin:/home/alice/bin", "PATH=[path]:[path]"),
        ("cc -I/home/alice/include", "cc -I[path]"),
        ('cat "/home/my user/secret plans/x" y', 'cat "[path]" y'),
        ("cat '/home/al\"ice/x y' y", "cat '[path]' y"),
        ("cat /home/my user/secret", "cat [path]"),
        (r"cat /home/alice/my\ file y", "cat [path] y"),
        ("cat /home/al,ice/x", "cat [path]"),
        ("ls ~alice/x ~bob", "ls [path] [path]"),
        (r"in C:\Users\alice\x", "in [path]"),
        ("in C:/Users/alice/x", "in [path]"),
        (r"in C:\\Users\\alice", "in [path]"),
        (r"in \\server\share\alice", "in [path]"),
        (r"in \home\alice", "in [path]"),
        ("in ../../../home/alice/x", "in [path]"),
        ("(/home/alice/x).", "([path])."),
        ("src/home/page.py and ./home/page.py", "src/home/page.py and ./home/page.py"),
        ("https://example.org/home/page?f=/home/alice", "https://example.org/home/page?f=[path]"),
        (r"re.compile('\d+\s')", r"re.compile('\d+\s')"),
        ("HEAD~1, T-001: done", "HEAD~1, T-001: done"),
    ],
)
def test_paths_outside_the_repository_go_and_those_inside_are_relative(
    redaction: Redaction, text: str, left: str
) -> None:
    assert redaction.text(text) == left


def test_data_is_redacted_down_to_its_leaves(redaction: Redaction) -> None:
    said = {"a": [{"b": "/etc/passwd"}, 3, None], "c": ("~/x",), "/srv/x": 1}
    left = {"a": [{"b": "[path]"}, 3, None], "c": ["[path]"], "[path]": 1}
    assert redaction.data(said) == left


def test_names_that_become_one_are_numbered_and_no_value_is_lost(redaction: Redaction) -> None:
    said = {"/etc/a": 1, "/etc/b": 2, "[path] (2)": 3, f"{REPO}/a.py": 4, "a.py": 5, 6: 7}
    assert redaction.data(said) == {
        "[path]": 1,
        "[path] (2)": 2,
        "[path] (2) (2)": 3,
        "a.py": 4,
        "a.py (2)": 5,
        6: 7,
    }


def test_every_kind_of_event_can_be_redacted_and_shown(redaction: Redaction) -> None:
    for seq, payload in enumerate(SAMPLES.values(), start=1):
        event = Event(seq, "2026-11-16T22:15:30.000Z", SESSION, Scope("T-001", 1), payload)
        less = redaction.event(event)
        assert row(less)["type"] == payload.type
        for name in ("output", "head"):
            kept = getattr(payload, name, "")
            assert not kept or str(kept) not in body(less)["text"]


def test_what_nobody_knows_is_left_out_whole(redaction: Redaction) -> None:
    unknown = Unknown(type="later", content={"prompt": "You are"})
    event = Event(1, "", SESSION, Scope(), unknown)
    assert redaction.event(event).payload == Unknown(type="later", content=LEFT_OUT)
