"""Endpoints: which key, model and URL each role gets, and where they came from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilth.base.errors import BadSetting
from tilth.config.settings import Origin, Source, load
from tilth.model.messages import Role

KEY = "sk-ant-0123456789-secret-wxyz"
OTHER_KEY = "sk-ant-9876543210-secret-abcd"


def origin(source: Source, variable: str) -> Origin:
    return Origin(source=source, variable=variable)


def environment(home: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(home), **more}


def test_evaluator_and_seeder_take_after_the_worker(tmp_path: Path) -> None:
    settings = load(
        {},
        environment(
            tmp_path,
            ANTHROPIC_API_KEY=KEY,
            TILTH_BASE_URL="https://host",
            TILTH_WORKER_MODEL="m",
            TILTH_EXTRA_HEADERS='{"a": "b"}',
        ),
    )
    worker = settings.endpoint(Role.WORKER)
    assert worker is not None
    assert (worker.model, worker.base_url, worker.api_key.get_secret_value()) == (
        "m",
        "https://host",
        KEY,
    )
    assert settings.endpoint(Role.EVALUATOR) == settings.endpoint(Role.SEEDER) == worker
    origins = settings.origins
    assert origins["TILTH_API_KEY"] == origin(Source.ENVIRONMENT, "ANTHROPIC_API_KEY")
    assert origins["TILTH_PREP_API_KEY"] == origin(Source.ENVIRONMENT, "ANTHROPIC_API_KEY")
    assert origins["TILTH_EVALUATOR_MODEL"] == origin(Source.ENVIRONMENT, "TILTH_WORKER_MODEL")


def test_evaluator_and_seeder_can_be_others(tmp_path: Path) -> None:
    settings = load(
        {},
        environment(
            tmp_path,
            TILTH_API_KEY=KEY,
            TILTH_WORKER_MODEL="m",
            TILTH_EVALUATOR_MODEL="e",
            TILTH_EVALUATOR_BASE_URL="http://127.0.0.1:1",
            TILTH_EVALUATOR_API_KEY=OTHER_KEY,
            TILTH_PREP_MODEL="p",
        ),
    )
    evaluator = settings.require_endpoint(Role.EVALUATOR)
    assert (evaluator.model, evaluator.base_url) == ("e", "http://127.0.0.1:1")
    assert evaluator.api_key.get_secret_value() == OTHER_KEY
    seeder = settings.require_endpoint(Role.SEEDER)
    assert (seeder.model, seeder.base_url, seeder.api_key.get_secret_value()) == ("p", None, KEY)


def test_a_name_of_our_own_in_the_file_beats_a_general_one_in_the_environment(
    tmp_path: Path,
) -> None:
    (tmp_path / ".tilth").mkdir()
    file = tmp_path / ".tilth" / ".env"
    file.write_text(f"TILTH_API_KEY={KEY}\nANTHROPIC_BASE_URL=http://file\n")
    environ = environment(
        tmp_path, ANTHROPIC_API_KEY=OTHER_KEY, ANTHROPIC_BASE_URL="http://environment"
    )
    settings = load({}, environ)
    assert settings.api_key is not None
    assert settings.api_key.get_secret_value() == KEY
    assert settings.origins["TILTH_API_KEY"] == origin(Source.FILE, "TILTH_API_KEY")
    assert settings.base_url == "http://environment"
    assert settings.origins["TILTH_BASE_URL"] == origin(Source.ENVIRONMENT, "ANTHROPIC_BASE_URL")


def test_a_fallback_that_cannot_be_read_is_named_itself(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"^ANTHROPIC_BASE_URL must be an http or https URL"):
        load({}, environment(tmp_path, ANTHROPIC_BASE_URL="nowhere"))


@pytest.mark.parametrize("role", list(Role))
def test_a_missing_key_and_model_are_no_error_until_they_are_needed(
    tmp_path: Path, role: Role
) -> None:
    settings = load({}, environment(tmp_path))
    assert settings.endpoint(role) is None
    with pytest.raises(BadSetting) as caught:
        settings.require_endpoint(role)
    where = f"in the environment or in {tmp_path / '.tilth' / '.env'}"
    assert str(caught.value).splitlines() == [
        f"TILTH_API_KEY is not set: set it (or ANTHROPIC_API_KEY) {where}",
        "TILTH_WORKER_MODEL is not set: set it, e.g. TILTH_WORKER_MODEL=claude-sonnet-5-5, "
        + where,
    ]


def test_only_what_is_missing_is_asked_for(tmp_path: Path) -> None:
    settings = load({}, environment(tmp_path, TILTH_API_KEY=KEY))
    with pytest.raises(BadSetting) as caught:
        settings.require_endpoint(Role.WORKER)
    assert str(caught.value).startswith("TILTH_WORKER_MODEL is not set")
    assert "TILTH_API_KEY" not in str(caught.value)


@pytest.mark.parametrize("name", ["Content-Length", "transfer-encoding", "HOST", "connection"])
def test_a_header_that_the_transport_sets_is_refused_by_name(tmp_path: Path, name: str) -> None:
    headers = f'{{"x-a": "hush-hush", "{name}": "hush-hush"}}'
    with pytest.raises(BadSetting) as caught:
        load({}, environment(tmp_path, TILTH_EXTRA_HEADERS=headers))
    said = f"TILTH_EXTRA_HEADERS must hold no {name.lower()} header: leave it out"
    assert str(caught.value).startswith(said)
    assert len(str(caught.value).splitlines()) == 1
    assert "hush" not in str(caught.value)
