"""The register: one session a unit, whoever asks for it, and one run of it that may write."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from tilth.base.errors import CorruptSession, SessionBusy, Superseded, UserError
from tilth.fleet.register import Register
from tilth.fleet.units import Unit
from tilth.session.store import Lock


def unit(name: str, **changes: str) -> Unit:
    return Unit(**{"name": name, "bundle": f"/plans/{name}", "repo": "/repo", **changes})


def test_a_unit_keeps_its_session_from_claim_to_claim(tmp_path: Path) -> None:
    register = Register(tmp_path)
    first = register.claim(unit("a"), "fleet")
    again = register.claim(unit("a"), "fleet")
    later = Register(tmp_path).claim(unit("a"), "another")
    assert first.entry.session == again.entry.session == later.entry.session
    assert [claim.fence.token for claim in (first, again, later)] == [1, 2, 3]
    kept = json.loads((tmp_path / "fleet.json").read_text())["units"]["a"]
    assert (kept["token"], kept["fleet"]) == (3, "another")


def test_a_new_claim_supersedes_the_one_before_it(tmp_path: Path) -> None:
    register = Register(tmp_path)
    first, second = (register.claim(unit("a"), "fleet") for _ in range(2))
    with pytest.raises(Superseded), first.fence.passing():
        pass
    with second.fence.passing():
        pass


def test_many_claims_at_once_lose_none(tmp_path: Path) -> None:
    names = [f"unit-{number}" for number in range(8)]

    def claim(name: str) -> None:
        for _ in range(3):
            Register(tmp_path).claim(unit(name), "fleet")

    threads = [threading.Thread(target=claim, args=(name,)) for name in names for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = Register(tmp_path).entries()
    assert {name: entry.token for name, entry in kept.items()} == dict.fromkeys(names, 6)
    assert len({entry.session for entry in kept.values()}) == len(names)


def test_a_run_of_another_fleet_that_is_alive_is_not_superseded(tmp_path: Path) -> None:
    register = Register(tmp_path)
    held = register.claim(unit("a"), "fleet")
    (tmp_path / held.entry.session).mkdir()
    with Lock(tmp_path / held.entry.session / "lock"):
        with pytest.raises(SessionBusy, match=r"of unit 'a' is in use .* `tilth stop"):
            register.claim(unit("a"), "another")
        with held.fence.passing():
            pass
        # Its own fleet may: the worker is lost, and only its process is not dead yet.
        register.claim(unit("a"), "fleet")


def test_a_name_that_stands_for_another_unit_is_refused(tmp_path: Path) -> None:
    register = Register(tmp_path)
    entry = register.claim(unit("a"), "fleet").entry
    (tmp_path / entry.session).mkdir()
    for other in (unit("a", repo="/other"), unit("a", bundle="/other")):
        with pytest.raises(UserError, match="stands for /plans/a on /repo already"):
            register.check([other])
        with pytest.raises(UserError, match="give this one another name"):
            register.claim(other, "fleet")
    (tmp_path / entry.session).rmdir()
    assert register.claim(unit("a", repo="/other"), "fleet").entry.session != entry.session


def test_a_wish_to_stop_is_for_one_fleet_alone(tmp_path: Path) -> None:
    register = Register(tmp_path)
    register.claim(unit("a"), "fleet")
    register.claim(unit("b"), "another")
    register.ask_to_stop(["a", "b", "c"], "fleet")
    kept = {name: entry.stopping for name, entry in register.entries().items()}
    assert kept == {"a": True, "b": False}
    assert register.claim(unit("a"), "fleet").entry.stopping
    assert not register.claim(unit("a"), "later").entry.stopping


@pytest.mark.parametrize("text", ["{", "[]", '{"units": {"a": {"session": "../../etc"}}}'])
def test_a_register_that_cannot_be_trusted_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "fleet.json").write_text(text)
    with pytest.raises(CorruptSession, match=r"fleet\.json"):
        Register(tmp_path).claim(unit("a"), "fleet")
    assert (tmp_path / "fleet.json").read_text() == text
