"""Seeds that stand already: what a second interview and a run do about them."""

from __future__ import annotations

import re
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


class Two:
    """Two interviews on one repository, and what was so between them."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.first = sit(site, [write_seed(1)]).session.name
        with pytest.raises(UserError) as refused:
            sit(site, [])
        self.refusal = str(refused.value)
        self.states_before = states(site)
        self.prepared_before = prepared(site)
        sit(site, [write_seed(1)], options=without_review(keep_existing=True))


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Two:
    return Two(Site.make(tmp_path_factory.mktemp("two")))


def test_a_second_interview_needs_a_word_about_the_first(two: Two) -> None:
    wanted = rf"prepared session {two.first}.*--keep-existing.*--force"
    assert re.search(wanted, two.refusal)
    assert two.states_before == ["prepared"]


def test_an_interrupted_interview_is_named_with_the_way_to_go_on(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    left = sit(site, [ask("Which?")], person=Person(leaves_at=0)).session.name
    with pytest.raises(UserError, match=f"interrupted interview {left}.*tilth resume {left}"):
        sit(site, [])


def test_another_interview_can_stand_beside_the_first(two: Two) -> None:
    assert two.prepared_before == two.first
    assert states(two.site) == ["prepared", "prepared"]
    with pytest.raises(UserError, match="2 prepared sessions: run one of them with `tilth resume"):
        prepared(two.site)


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


def test_of_several_prepared_sessions_the_one_that_is_picked_runs(two: Two) -> None:
    settings = load({}, two.site.environ("http://127.0.0.1:9"))
    picked = f"prepared session {two.first}"
    asking = Frontend(pick=lambda question, choices: choices.index(picked))
    assert prepared_to_run(settings, open_source(two.site.repo), asking) == two.first


def test_two_wishes_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    with pytest.raises(UserError, match="--force and --keep-existing"):
        sit(site, [], options=without_review(force=True, keep_existing=True))
