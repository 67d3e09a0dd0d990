"""Settings: precedence, provenance, blanks, and every value that cannot be read."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from tilth.base.errors import BadSetting
from tilth.config.project import ProjectFacts
from tilth.config.settings import (
    BY_NAME,
    VARIABLES,
    OnExhausted,
    Origin,
    SandboxChoice,
    Settings,
    Source,
    known_secrets,
    load,
)
from tilth.contract.prd import Plan, Task
from tilth.model.messages import Role

KEY = "sk-ant-0123456789-secret-wxyz"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home directory with Tilth's own directory in it."""
    (tmp_path / ".tilth").mkdir()
    return tmp_path


def write_env(home: Path, text: str) -> None:
    (home / ".tilth" / ".env").write_text(text)


def read(home: Path, flags: dict[str, object] | None = None, **environ: str) -> Settings:
    return load(flags or {}, {"HOME": str(home), **environ})


def origin(source: Source, variable: str) -> Origin:
    return Origin(source=source, variable=variable)


def test_the_defaults_are_the_contract(home: Path) -> None:
    settings = read(home)
    assert settings.home == home / ".tilth"
    assert settings.sessions_dir == home / ".tilth" / "sessions"
    assert settings.max_iterations_per_task == 32
    assert settings.iteration_bonus_per_rejection == 5
    assert settings.max_evaluator_calls_per_task == 0
    assert settings.max_wall_clock_minutes == 120
    assert settings.max_tokens == 2_000_000
    assert settings.max_cost_usd == 10
    assert settings.evaluate
    assert settings.eval_threshold == 0
    assert settings.on_exhausted is OnExhausted.AUTO
    assert settings.evaluator_tools
    assert settings.max_evaluator_turns == 12
    assert settings.mutation_seconds == 30
    assert settings.jobs == 1
    assert settings.wait_for_quota_minutes == 360
    assert (settings.notify, settings.notify_command) == ((), "")
    assert settings.stall_seconds == 120
    assert not settings.fail_open_on_unparsed
    assert settings.context_files == ("AGENTS.md", "CLAUDE.md")
    assert settings.sandbox is SandboxChoice.AUTO
    assert not settings.sandbox_network
    assert settings.max_output_tokens == 16_000
    assert settings.tool_timeout_seconds == 120
    assert settings.validator_timeout_seconds == 300
    assert settings.python is None
    assert settings.unknown == ()
    assert {where.source for where in settings.origins.values()} == {Source.DEFAULT}


def test_a_flag_beats_the_environment_which_beats_the_file(home: Path) -> None:
    write_env(home, "TILTH_EVAL_THRESHOLD=10\nTILTH_MAX_TOKENS=11\nTILTH_MAX_OUTPUT_TOKENS=12\n")
    settings = read(
        home,
        {"eval_threshold": 30, "evaluate": None},
        TILTH_EVAL_THRESHOLD="20",
        TILTH_MAX_TOKENS="21",
    )
    assert (settings.eval_threshold, settings.max_tokens) == (30, 21)
    assert (settings.max_output_tokens, settings.evaluate) == (12, True)
    origins = settings.origins
    assert origins["TILTH_EVAL_THRESHOLD"] == origin(Source.FLAG, "--eval-threshold")
    assert origins["TILTH_MAX_TOKENS"] == origin(Source.ENVIRONMENT, "TILTH_MAX_TOKENS")
    assert origins["TILTH_MAX_OUTPUT_TOKENS"] == origin(Source.FILE, "TILTH_MAX_OUTPUT_TOKENS")
    assert origins["TILTH_EVALUATE"] == origin(Source.DEFAULT, "TILTH_EVALUATE")


def test_the_flags_that_switch_off_do(home: Path) -> None:
    settings = read(home, {"evaluate": False, "sandbox": "off"}, TILTH_EVALUATE="on")
    assert not settings.evaluate
    assert settings.sandbox is SandboxChoice.OFF
    assert settings.origins["TILTH_SANDBOX"] == origin(Source.FLAG, "--no-sandbox")


def test_a_flag_nobody_declared_is_a_fault_of_the_caller(home: Path) -> None:
    with pytest.raises(TypeError, match="evalute"):
        read(home, {"evalute": False})


@pytest.mark.parametrize("blank", ["", " ", "\t \n"])
def test_a_blank_value_means_the_next_place_or_the_default(home: Path, blank: str) -> None:
    write_env(home, "TILTH_MAX_TOKENS=7\nTILTH_SANDBOX=' '\n")
    blanks = {item.name: blank for item in VARIABLES}
    settings = read(home, **blanks, ANTHROPIC_API_KEY=blank, ANTHROPIC_BASE_URL=blank)
    assert settings.max_tokens == 7
    assert settings.sandbox is SandboxChoice.AUTO
    assert settings.api_key is None
    assert settings.home == home / ".tilth"


@pytest.mark.parametrize("text", ["1", "true", "TRUE", "Yes", "on"])
def test_a_switch_is_on(home: Path, text: str) -> None:
    assert read(home, TILTH_SANDBOX_NETWORK=text).sandbox_network


@pytest.mark.parametrize("text", ["0", "false", "False", "NO", "off"])
def test_a_switch_is_off(home: Path, text: str) -> None:
    assert not read(home, TILTH_EVALUATE=text).evaluate


def test_values_are_read_as_people_write_them(home: Path) -> None:
    settings = read(
        home,
        TILTH_MAX_WALL_CLOCK_MINUTES=" 0.5 ",
        TILTH_MAX_COST_USD="2.25",
        TILTH_ON_EXHAUSTED="Skip",
        TILTH_CONTEXT_FILES=" ./AGENTS.md, docs/STYLE.md ,,AGENTS.md",
        TILTH_EXTRA_HEADERS='{"x-api-key": "abc def", "anthropic-version": "2023-06-01"}',
        TILTH_BASE_URL="http://[::1]:8080/v1",
        TILTH_PYTHON=sys.executable,
    )
    assert settings.max_wall_clock_minutes == 0.5
    assert settings.max_cost_usd == 2.25
    assert settings.on_exhausted is OnExhausted.SKIP
    assert settings.context_files == ("AGENTS.md", "docs/STYLE.md")
    assert settings.extra_headers["x-api-key"].get_secret_value() == "abc def"
    assert settings.base_url == "http://[::1]:8080/v1"
    assert settings.python == Path(sys.executable)


BAD = [
    ("CARRY", "../x", "must be off, generated, project, or a comma list of globs"),
    ("MAX_ITERATIONS_PER_TASK", "0", "must be a whole number of at least 1"),
    ("ITERATION_BONUS_PER_REJECTION", "-1", "must be a whole number of at least 0"),
    ("MAX_EVALUATOR_CALLS_PER_TASK", "1.5", "must be a whole number of at least 0"),
    ("MAX_TOKENS", "many", "must be a whole number of at least 1"),
    ("MAX_TOKENS", "9" * 30, "must be a whole number of at least 1"),
    ("MAX_OUTPUT_TOKENS", "1_000", "must be a whole number of at least 1"),
    ("EVAL_THRESHOLD", "101", "must be a whole number from 0 to 100"),
    ("MAX_WALL_CLOCK_MINUTES", "0", "must be a number above 0"),
    ("MAX_COST_USD", "nan", "must be a number above 0"),
    ("MAX_COST_USD", "1e400", "must be a number above 0"),
    ("MAX_COST_USD", "$5", "must be a number above 0"),
    ("TOOL_TIMEOUT_SECONDS", "-3", "must be a number above 0 and at most 604800"),
    ("VALIDATOR_TIMEOUT_SECONDS", "1e9", "must be a number above 0 and at most 604800"),
    ("STALL_SECONDS", "0", "must be a number above 0 and at most 604800"),
    ("MUTATION_SECONDS", "-1", "must be a number from 0 to 604800"),
    ("CHALLENGE_SECONDS", "soon", "must be a number from 0 to 604800"),
    ("WAIT_FOR_QUOTA_MINUTES", "inf", "must be a number from 0 to 10080"),
    ("MAX_EVALUATOR_TURNS", "0", "must be a whole number of at least 1"),
    ("JOBS", "0", "must be a whole number of at least 1"),
    ("EVALUATOR_TOOLS", "some", "must be one of 1, true, yes, on, 0, false, no, off"),
    ("NOTIFY_COMMAND", "say 'it", "must be a command line whose quotes are closed"),
    ("EVALUATE", "maybe", "must be one of 1, true, yes, on, 0, false, no, off"),
    ("FAIL_OPEN_ON_UNPARSED", "2", "must be one of 1, true, yes, on, 0, false, no, off"),
    ("SANDBOX_NETWORK", "tru", "must be one of 1, true, yes, on, 0, false, no, off"),
    ("ON_EXHAUSTED", "stop", "must be one of auto, halt, skip, accept"),
    ("SANDBOX", "docker", "must be one of auto, bwrap, landlock, off"),
    ("BASE_URL", "localhost:8080", "must be an http or https URL"),
    ("BASE_URL", "ftp://host", "must be an http or https URL"),
    ("EVALUATOR_BASE_URL", "https://", "must be an http or https URL"),
    ("PREP_BASE_URL", "http://host:99999", "must be an http or https URL"),
    ("PREP_BASE_URL", "http://[::1", "must be an http or https URL"),
    ("CONTEXT_FILES", "../x", "must be a comma list of relative file names without '..'"),
    ("CONTEXT_FILES", "/etc/passwd", "must be a comma list of relative file names without '..'"),
    ("CONTEXT_FILES", "~/x", "must be a comma list of relative file names without '..'"),
    ("CONTEXT_FILES", ",", "must be a comma list of relative file names without '..'"),
    ("CONTEXT_FILES", ".", "must be a comma list of relative file names without '..'"),
    ("WORKER_MODEL", "a\nb", "must be a model id on one line of printable characters"),
    ("SESSIONS_DIR", "a\x07b", "must be a path on one line of printable characters"),
    ("HOME", "a\x07b", "must be a path on one line of printable characters"),
    ("PYTHON", "python3", "must be 'auto' or the path of an executable file"),
    ("PYTHON", "/", "must be 'auto' or the path of an executable file"),
]


@pytest.mark.parametrize(("name", "text", "rule"), BAD)
def test_a_bad_value_is_named_with_what_it_is(home: Path, name: str, text: str, rule: str) -> None:
    with pytest.raises(BadSetting) as caught:
        read(home, **{f"TILTH_{name}": text})
    assert str(caught.value) == f"TILTH_{name} {rule}, got {text!r}"


def test_every_setting_has_a_bad_value_here() -> None:
    plain = {item.name for item in VARIABLES if not item.is_secret and not item.inherits}
    assert plain <= {f"TILTH_{name}" for name, _, _ in BAD}


def test_all_problems_are_told_at_once_a_line_each(home: Path) -> None:
    write_env(home, "TILTH_MAX_COST_USD=lots\n")
    with pytest.raises(BadSetting) as caught:
        read(home, {"eval_threshold": "high"}, TILTH_MAX_TOKENS="0")
    file = home / ".tilth" / ".env"
    assert str(caught.value).splitlines() == [
        "TILTH_MAX_TOKENS must be a whole number of at least 1, got '0'",
        f"TILTH_MAX_COST_USD must be a number above 0, got 'lots' (in {file})",
        "--eval-threshold must be a whole number from 0 to 100, got 'high'",
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("TILTH_API_KEY", "sk-ant-hush hush"),
        ("TILTH_EVALUATOR_API_KEY", "hush\nhush"),
        ("ANTHROPIC_API_KEY", "hüsh-hush"),
        ("TILTH_EXTRA_HEADERS", "hush"),
        ("TILTH_EXTRA_HEADERS", '["hush"]'),
        ("TILTH_EXTRA_HEADERS", '{"x": 1, "y": "hush"}'),
        ("TILTH_EXTRA_HEADERS", '{"x y": "hush"}'),
        ("TILTH_EXTRA_HEADERS", '{"x": "hush\\r\\nhost: hush"}'),
        ("TILTH_EXTRA_HEADERS", "[" * 100_000 + "hush"),
        ("TILTH_NOTIFY", "json://hush hüsh"),
        ("TILTH_BASE_URL", "https://me:hush@host/v1?hush"),
        ("TILTH_BASE_URL", "https://host/?key=hush"),
        ("TILTH_BASE_URL", "sk-ant-hush-hush"),
    ],
)
def test_a_secret_that_cannot_be_read_is_named_but_never_shown(
    home: Path, name: str, text: str
) -> None:
    with pytest.raises(BadSetting) as caught:
        read(home, **{name: text})
    assert str(caught.value).startswith(f"{name} must be ")
    assert len(str(caught.value).splitlines()) == 1
    assert "hush" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_key_pasted_into_the_wrong_variable_is_not_shown(home: Path) -> None:
    with pytest.raises(BadSetting) as caught:
        read(home, TILTH_API_KEY="plain-old-key", TILTH_MAX_TOKENS="plain-old-key")
    assert str(caught.value).endswith("got '[hidden: 13 characters]'")


def test_no_view_of_the_settings_shows_a_secret(home: Path) -> None:
    header = "gateway-password-123"
    settings = read(
        home,
        TILTH_API_KEY=KEY,
        TILTH_WORKER_MODEL="m",
        TILTH_EXTRA_HEADERS=f'{{"x-api-key": "{header}"}}',
    )
    endpoint = settings.require_endpoint(Role.WORKER)
    shown = [settings.shown(item) for item in VARIABLES]
    for view in (repr(settings), str(settings), settings.model_dump_json(), repr(endpoint), *shown):
        assert KEY not in view
        assert header not in view
    assert settings.shown(BY_NAME["TILTH_API_KEY"]) == "sk-…wxyz"
    assert settings.shown(BY_NAME["TILTH_EXTRA_HEADERS"]) == "x-api-key: …-123"
    assert endpoint.revealed_headers() == {"x-api-key": header}


def test_more_jobs_than_can_be_had_are_bounded_and_said(home: Path) -> None:
    assert (read(home, TILTH_JOBS="16").jobs, read(home, TILTH_JOBS="16").unknown) == (16, ())
    for asked in ({"flags": {"jobs": 17}}, {"TILTH_JOBS": "17"}):
        settings = read(home, **asked)  # type: ignore[arg-type]
        (said,) = settings.unknown
        assert settings.jobs == 16
        assert said.endswith(" asks for 17 tasks at the same time; at most 16 are worked on")


def test_the_places_to_notify_are_a_list_of_secrets(home: Path) -> None:
    settings = read(home, TILTH_NOTIFY=" json://127.0.0.1:9/abc  tgram://0123456789:token ")
    urls = [url.get_secret_value() for url in settings.notify]
    assert urls == ["json://127.0.0.1:9/abc", "tgram://0123456789:token"]
    assert settings.shown(BY_NAME["TILTH_NOTIFY"]) == "…/abc …oken"


def plan(*depends_on: list[str]) -> Plan:
    return Plan(
        tasks=tuple(
            Task(
                id=f"T-{number:03}",
                title="t",
                description="d",
                acceptance_criteria=("c",),
                depends_on=tuple(needs),
            )
            for number, needs in enumerate(depends_on, 1)
        )
    )


def test_auto_skips_where_a_plan_declares_a_dependency_and_halts_where_none_does() -> None:
    auto = OnExhausted.AUTO
    assert auto.effective(plan([], [])) is OnExhausted.HALT
    assert auto.effective(plan([], ["T-001"])) is OnExhausted.SKIP


@pytest.mark.parametrize("said", [OnExhausted.HALT, OnExhausted.SKIP, OnExhausted.ACCEPT])
def test_what_the_user_said_about_exhaustion_holds_for_every_plan(said: OnExhausted) -> None:
    assert said.effective(plan([], [])) is said
    assert said.effective(plan([], ["T-001"])) is said


@pytest.mark.parametrize("key", ["ollama", "abc123", "authentication", "not-needed-here"])
def test_a_key_that_may_stand_in_any_text_is_warned_about(home: Path, key: str) -> None:
    (said,) = read(home, ANTHROPIC_API_KEY=key).unknown
    assert said.startswith("ANTHROPIC_API_KEY is short or a plain word: it is hidden only where")
    assert key not in said
    assert read(home, TILTH_API_KEY=KEY).unknown == ()


def test_the_settings_cannot_be_changed(home: Path) -> None:
    settings = read(home)
    with pytest.raises(ValidationError):
        settings.max_tokens = 5


def test_nothing_is_taken_from_the_process_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("MAX_TOKENS=5\nTILTH_MAX_TOKENS=5\n")
    monkeypatch.setenv("MAX_TOKENS", "6")
    monkeypatch.setenv("TILTH_MAX_TOKENS", "6")
    with contextlib.chdir(tmp_path):
        by_hand = Settings(home=tmp_path, worker_model="m")
        loaded = read(tmp_path)
    assert by_hand.max_tokens == loaded.max_tokens == 2_000_000
    assert by_hand.sessions_dir == tmp_path / "sessions"
    assert by_hand.evaluator_model == "m"


def test_keys_that_are_set_and_overruled_are_secrets_as_well(home: Path) -> None:
    (home / ".env").write_text(
        "TILTH_API_KEY=key-of-the-file\nANTHROPIC_API_KEY=other-of-the-file\n"
        'TILTH_EXTRA_HEADERS={"x-a": "header-of-the-file", "anthropic-beta": "a-public-word"}\n'
    )
    settings = load(
        {},
        {
            "TILTH_HOME": str(home),
            "TILTH_API_KEY": KEY,
            "ANTHROPIC_API_KEY": "key-of-another",
            "TILTH_EXTRA_HEADERS": '{"x-a": "header-value"}',
        },
    )
    assert settings.api_key is not None
    assert settings.api_key.get_secret_value() == KEY
    assert set(known_secrets(settings)) == {
        KEY,
        "key-of-the-file",
        "key-of-another",
        "other-of-the-file",
        "header-value",
        "header-of-the-file",
    }
    assert "key-of" not in repr(settings)


def test_known_secrets_are_the_keys_and_headers_the_longest_first(home: Path) -> None:
    settings = read(
        home,
        TILTH_API_KEY=KEY,
        TILTH_PREP_API_KEY="prep-key",
        TILTH_EXTRA_HEADERS='{"a": "header-value", "b": "short"}',
    )
    assert known_secrets(settings) == (KEY, "header-value", "prep-key")


def test_the_tokens_in_places_to_notify_are_secrets_too(home: Path) -> None:
    settings = read(home, TILTH_NOTIFY="discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js json://x")
    assert set(known_secrets(settings)) == {
        "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js",
        "JHMHI8qBe7bk2ZwO5U711o3dV_js",
        "json://x",
    }


def test_what_the_project_says_counts_below_the_user(home: Path) -> None:
    facts = ProjectFacts(context_files=("CONVENTIONS.md",))
    settings = read(home).under(facts)
    assert settings.context_files == ("CONVENTIONS.md",)
    assert settings.origins["TILTH_CONTEXT_FILES"].source is Source.PROJECT
    assert read(home).under(ProjectFacts()).context_files == ("AGENTS.md", "CLAUDE.md")
    asked = read(home, TILTH_CONTEXT_FILES="MINE.md").under(facts)
    assert asked.context_files == ("MINE.md",)
