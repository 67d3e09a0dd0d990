"""Seeds that stand already: what a second interview and a run do about them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.flow_site import Site, git
from support.interviews import Person, ask, sit, without_review, write_seed

from tilth.base.errors import UserError
from tilth.config.settings import load
from tilth.git.source import open_source
from tilth.session.frontend import Frontend
from tilth.session.start import prepared_to_run


def prepared(site: Site) -> str:
    settings = load({}, site.environ("http://127.0.0.1:9"))
    return prepared_to_run(settings, open_source(site.repo), Frontend())


def states(site: Site) -> list[str]:
    import json

    folders = sorted(site.sessions.iterdir())
    return [json.loads((f / "checkpoint.json").read_text("utf-8"))["status"] for f in folders]


def test_a_second_interview_needs_a_word_about_the_first(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    first = sit(site, [write_seed(1)]).session.name
    with pytest.raises(UserError, match=rf"prepared session {first}.*--keep-existing.*--force"):
        sit(site, [])
    assert states(site) == ["prepared"]


def test_an_interrupted_interview_is_named_with_the_way_to_go_on(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    left = sit(site, [ask("Which?")], person=Person(leaves_at=0)).session.name
    with pytest.raises(UserError, match=f"interrupted interview {left}.*tilth resume {left}"):
        sit(site, [])


def test_another_interview_can_stand_beside_the_first(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    sit(site, [write_seed(1)])
    assert prepared(site) == site.session().name
    sit(site, [write_seed(1)], options=without_review(keep_existing=True))
    assert states(site) == ["prepared", "prepared"]
    with pytest.raises(UserError, match="2 prepared sessions: run one of them with `tilth resume"):
        prepared(site)


def test_force_gives_the_first_up_and_keeps_its_files(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    first = sit(site, [write_seed(1)])
    name = first.session.name
    sit(site, [write_seed(1)], options=without_review(force=True))
    assert sorted(states(site)) == ["failed", "prepared"]
    assert prepared(site) != name
    assert git(site.repo, "branch", "--list", f"session/{name}") != ""


def test_a_repository_without_a_prepared_session_is_told_what_to_do(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    with pytest.raises(UserError, match=f"tilth prep-feature {site.repo}"):
        prepared(site)
    sit(site, [ask("Which?")], person=Person(leaves_at=0))
    with pytest.raises(UserError, match=f"interview {site.session().name} is not finished"):
        prepared(site)


def test_of_several_prepared_sessions_the_one_that_is_picked_runs(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    first = sit(site, [write_seed(1)]).session.name
    sit(site, [write_seed(1)], options=without_review(keep_existing=True))
    settings = load({}, site.environ("http://127.0.0.1:9"))
    asking = Frontend(pick=lambda question, choices: choices.index(f"prepared session {first}"))
    assert prepared_to_run(settings, open_source(site.repo), asking) == first


def test_two_wishes_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    with pytest.raises(UserError, match="--force and --keep-existing"):
        sit(site, [], options=without_review(force=True, keep_existing=True))
