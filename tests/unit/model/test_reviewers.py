"""Reviewers: who may be asked, and what a file of them may say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tilth.base.errors import BadSetting, UserError
from tilth.config.settings import Settings, load
from tilth.contract.prd import Plan, Task
from tilth.model.reviewers import FILE_NAME, Reviewers, is_same_model, read_reviewers

KEY = "sk-reviewer-0123456789"
STRICT = """
[strict]
model = "claude-opus-5-5"
base_url = "https://gateway.example.org"
api_key_env = "STRICT_KEY"
"""


def settings(home: Path, **changes: str) -> Settings:
    environ = {
        "TILTH_HOME": str(home),
        "TILTH_API_KEY": "sk-worker-0123456789",
        "TILTH_WORKER_MODEL": "claude-sonnet-5-5",
        **changes,
    }
    return load({}, environ)


def read(home: Path, text: str, environ: dict[str, str] | None = None, **changes: str) -> Reviewers:
    (home / FILE_NAME).write_text(text, encoding="utf-8")
    given = {"STRICT_KEY": KEY} if environ is None else environ
    return read_reviewers(settings(home, **changes), given)


def plan(*names: str | None) -> Plan:
    tasks = (
        Task(
            id=f"T-{number:03d}",
            title="t",
            description="d",
            acceptance_criteria=("c",),
            reviewer=name,
        )
        for number, name in enumerate(names, start=1)
    )
    return Plan(tasks=tuple(tasks))


def test_without_a_file_there_are_none(tmp_path: Path) -> None:
    found = read_reviewers(settings(tmp_path), {})
    assert found.defined == {}
    panel = found.choose(plan("strict", None, "strict"), settings(tmp_path))
    assert (panel.by_name, panel.unknown) == ({}, ("strict",))


def test_a_reviewer_has_its_own_model_endpoint_and_key(tmp_path: Path) -> None:
    found = read(tmp_path, STRICT)
    (endpoint,) = found.choose(plan("strict"), settings(tmp_path)).by_name.values()
    assert (endpoint.model, endpoint.base_url) == ("claude-opus-5-5", "https://gateway.example.org")
    assert endpoint.api_key.get_secret_value() == KEY
    assert found.secrets == (KEY,)
    assert KEY not in repr(found)


def test_a_reviewer_that_names_only_a_model_uses_the_evaluators_endpoint(tmp_path: Path) -> None:
    found = read(tmp_path, '[other]\nmodel = "claude-haiku-5-5"\n')
    set_up = settings(tmp_path, TILTH_EVALUATOR_BASE_URL="https://second.example.org")
    endpoint = found.endpoint("other", set_up)
    assert endpoint.base_url == "https://second.example.org"
    assert endpoint.api_key.get_secret_value() == "sk-worker-0123456789"


def test_a_key_may_stand_in_tilths_own_env_file_and_the_environment_beats_it(
    tmp_path: Path,
) -> None:
    (tmp_path / ".env").write_text("STRICT_KEY=from-the-file\n", encoding="utf-8")
    assert read(tmp_path, STRICT, {}).secrets == ("from-the-file",)
    assert read(tmp_path, STRICT, {"STRICT_KEY": KEY}).secrets == (KEY,)


def test_a_key_is_asked_for_only_when_a_task_names_the_reviewer(tmp_path: Path) -> None:
    found = read(tmp_path, STRICT, {})
    assert found.choose(plan(None), settings(tmp_path)).by_name == {}
    with pytest.raises(BadSetting, match=r"\[strict\] takes its key from STRICT_KEY") as caught:
        found.choose(plan("strict"), settings(tmp_path))
    assert "\n" not in str(caught.value)


def test_without_evaluation_nobody_is_chosen(tmp_path: Path) -> None:
    set_up = settings(tmp_path, TILTH_EVALUATE="off")
    assert read(tmp_path, STRICT, {}).choose(plan("strict", "ghost"), set_up).unknown == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[strict\n", "not TOML"),
        ("strict = 1\n", "'strict' must be a table"),
        ("[strict]\n", "[strict] model is missing"),
        ('[strict]\nmodel = ""\n', "[strict] model"),
        ('[strict]\nmodel = "m"\nmodle = "x"\n', "[strict] 'modle' is not known"),
        ('[strict]\nmodel = "m"\nbase_url = "ftp://x"\n', "[strict] base_url"),
        ('[strict]\nmodel = "m"\nbase_url = "https://x"\n', "[strict] has a base_url and needs"),
        ('[strict]\nmodel = "m"\napi_key_env = "sk-12345678"\n', "not the key itself"),
        ('["a b"]\nmodel = "m"\n', "must be named with letters"),
    ],
)
def test_a_bad_file_is_refused_with_a_line_that_names_the_place(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)
    assert FILE_NAME in str(caught.value)


def test_a_key_that_stands_in_the_file_is_never_quoted(tmp_path: Path) -> None:
    for text in (f'api_key = "{KEY}"', f'api_key_env = "{KEY}"', f'base_url = "{KEY}"'):
        with pytest.raises(BadSetting) as caught:
            read(tmp_path, f'[strict]\nmodel = "m"\n{text}\n')
        assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({}, True),
        ({"base_url": "https://api.anthropic.com/"}, True),
        ({"base_url": "https://elsewhere.example.org"}, False),
        ({"model": "claude-opus-5-5"}, False),
    ],
)
def test_the_same_model_at_the_same_place_is_recognised(
    tmp_path: Path, changes: dict[str, Any], same: bool
) -> None:
    from tilth.model.messages import Role

    worker = settings(tmp_path).require_endpoint(Role.WORKER)
    assert is_same_model(worker.model_copy(update=changes), worker) is same
