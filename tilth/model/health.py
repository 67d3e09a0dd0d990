"""The health of model calls: what a failed try means, and whether and when to try again.

Pure decisions on values. It never sleeps, never reads a clock and never talks to an endpoint.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import mktime_tz, parsedate_tz
from typing import Any

from tilth.base.errors import TilthError
from tilth.base.values import Value, canonical, read_number
from tilth.config.secrets import Mask
from tilth.model.messages import Role

TEXT_LIMIT = 300
FIRST_DELAY_S = 1.0
LONGEST_DELAY_S = 60.0

_RETRIED = frozenset({408, 409, 429})
_QUOTA = frozenset({429, 529})
# Shorter waits are retries like any other.
SHORTEST_QUOTA_WAIT_S = 5.0
# 500 is how some servers of open models say it.
_MAY_MEAN_TOO_LONG = frozenset({400, 422, 500})
_TOO_LONG = re.compile(
    r"(prompt|input|request|conversation) (is|was) too (long|large)"
    r"|exceeds? (\S+ ){0,4}context"
    r"|context (size|length|window|limit)( has been| is|_)? ?exceeded"
    r"|context_length_exceeded|exceed_context_size|maximum context length",
    re.IGNORECASE,
)
_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_PREFIX = {Role.WORKER: "TILTH", Role.EVALUATOR: "TILTH_EVALUATOR", Role.SEEDER: "TILTH_PREP"}


class Failure(Value):
    """Say how one try at a model call failed."""

    text: str
    status: int | None = None
    retry_after_s: float | None = None
    is_empty: bool = False
    """The endpoint answered, but with nothing."""
    is_setup: bool = False
    """The request could not be made as it stands; no server has seen it."""
    is_unreached: bool = False
    """Nobody who speaks the Messages API answers at the address."""
    fix: str | None = None
    """What to do about it, where the status alone does not tell."""

    @property
    def is_limit(self) -> bool:
        """Tell whether it is a limit, which holds for all who ask there."""
        return self.status in _QUOTA


class CallError(TilthError):
    """Carry a failure from where it is found to where it is decided on."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.text)


class Spell(Value):
    """Measure the failures since the last good answer; jitter is a random number in [0, 1)."""

    attempt: int
    failing_s: float
    patience_s: float
    jitter: float


class Retry(Value):
    """Try again after a wait."""

    delay_s: float


class Refusal(Value):
    """Give up; say why and what to do."""

    problem: str
    fix: str = ""
    is_too_long: bool = False


def decide(failure: Failure, spell: Spell, role: Role) -> Retry | Refusal:
    """Choose what to do about one failed try."""
    if is_too_long(failure):
        return Refusal(problem=failure.text, is_too_long=True)
    if not may_pass(failure):
        return Refusal(problem=failure.text, fix=fix_for(failure, role))
    left_s = spell.patience_s - spell.failing_s
    if left_s <= 0:
        problem = f"failed for {_minutes(spell.failing_s)}, the last time with: {failure.text}"
        return Refusal(problem=problem, fix="continue with `tilth resume` when it is back")
    if failure.retry_after_s is None:
        return Retry(delay_s=min(_backoff(spell), left_s))
    if failure.retry_after_s > left_s:
        wait = f"it asks for a wait of {_minutes(failure.retry_after_s)}"
        problem = f"{failure.text}; {wait}, longer than the {_minutes(left_s)} left for trying"
        return Refusal(problem=problem, fix="continue with `tilth resume` after that")
    return Retry(delay_s=failure.retry_after_s)


def quota_wait_s(failure: Failure) -> float | None:
    """Give the wait a used-up limit asks for, if it is long enough to be one of its own kind."""
    wait = failure.retry_after_s if failure.status in _QUOTA else None
    return wait if wait is not None and wait >= SHORTEST_QUOTA_WAIT_S else None


def may_name_quota(failure: Failure) -> bool:
    """Tell whether the failure's own words may hold a reset time that no header named."""
    return failure.status in _QUOTA and failure.retry_after_s is None


def asks_for_wait(text: str, wait_s: float) -> str:
    """Say how long an endpoint wants to be left alone."""
    return f"{text}; it asks for a wait of {spoken_wait(wait_s)}"


def spoken_wait(seconds: float) -> str:
    """Write a wait in the unit that suits it."""
    if seconds < 2 * 86_400:
        return f"{seconds / 3600:.1f} hours" if seconds >= 7200 else _minutes(seconds)
    return f"{seconds / 86_400:.0f} days" if seconds < 1e9 else "more than thirty years"


def is_too_long(failure: Failure) -> bool:
    """Tell whether the request was over the model's window."""
    if failure.status == 413:
        return True
    return failure.status in _MAY_MEAN_TOO_LONG and _TOO_LONG.search(failure.text) is not None


def from_status(status: int, body: object, retry_after_s: float | None) -> Failure:
    """Read an HTTP error; the body is the decoded JSON, or the text if it was none."""
    text = f"HTTP {status}: {_message(body) or 'no message'}"
    return Failure(text=text, status=status, retry_after_s=retry_after_s)


def from_error(error: object) -> Failure:
    """Read the `error` member of an answer whose HTTP status was fine."""
    kind = error.get("type") if isinstance(error, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    status = _STATUS_OF_TYPE.get(kind) if isinstance(kind, str) else None
    if status is None:
        status = code if isinstance(code, int) and 400 <= code < 600 else 500
    name = kind if isinstance(kind, str) else "error"
    return Failure(text=f"{name}: {_message(error) or 'no message'}", status=status)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Read how long a server asks to be left alone; `now` is the time in seconds since 1970."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        wait = read_number(headers.get(name))
        if wait is not None:
            return wait * unit if wait > 0 else None
    date = parsedate_tz(headers.get("retry-after"))
    if date is None:
        return None
    try:
        wait = mktime_tz(date) - now
    except (ValueError, OverflowError):
        return None
    return wait if wait > 0 else None


def one_line(text: str, mask: Mask) -> str:
    """Make a provider's words fit to show: no secrets, one line, bounded, printable."""
    text = mask.known(text)
    line = "".join(char for char in " ".join(text.split()) if char.isprintable())
    return line if len(line) <= TEXT_LIMIT else line[: TEXT_LIMIT - 1] + "…"


def may_pass(failure: Failure) -> bool:
    """Tell whether the same request may be answered later."""
    if failure.is_setup:
        return False
    return failure.status is None or failure.status in _RETRIED or failure.status >= 500


def _backoff(spell: Spell) -> float:
    # bounded before the power is taken: 2.0 ** 1100 overflows
    doublings = min(spell.attempt - 1, 16)
    ceiling = min(FIRST_DELAY_S * 2.0**doublings, LONGEST_DELAY_S)
    return ceiling * (0.5 + 0.5 * spell.jitter)


def fix_for(failure: Failure, role: Role) -> str:
    """Say what to do about a failure, naming the variables of the role."""
    if failure.is_unreached:
        return f"check {_PREFIX[role]}_BASE_URL and the network"
    return failure.fix or _fix(failure.status, role)


def _fix(status: int | None, role: Role) -> str:
    prefix = _PREFIX[role]
    model = "TILTH_WORKER_MODEL" if role is Role.WORKER else f"{prefix}_MODEL"
    key, url = f"{prefix}_API_KEY", f"{prefix}_BASE_URL"
    fallback = "" if role is Role.WORKER else " (without one, TILTH_API_KEY)"
    if status is None:
        return f"check {url}, {key} and TILTH_EXTRA_HEADERS"
    if status < 400:
        return f"set {url} to the address it points at"
    fixes = {
        401: f"check {key}{fallback}",
        402: f"check the billing of the account behind {key}{fallback}",
        403: f"check that {key}{fallback} may use {model}",
        404: f"check {model} and {url}",
    }
    return fixes.get(status, f"check {model}, {url} and TILTH_EXTRA_HEADERS")


def _message(body: object) -> str:
    if isinstance(body, str):
        return _page_title(body) if body.lstrip().startswith("<") else body.strip()
    if not isinstance(body, dict):
        return "" if body is None else _rendered(body)
    found = _first_text(body)
    return _rendered(body) if found is None and body else (found or "")


def _rendered(body: object) -> str:
    try:
        return canonical(body)
    except RecursionError:
        return "a body nested too deeply to be shown"


def _first_text(body: dict[str, Any]) -> str | None:
    for key in ("error", "message", "detail"):
        inner = body.get(key)
        if isinstance(inner, dict):
            inner = inner.get("message")
        if isinstance(inner, str) and inner.strip():
            return inner.strip()
    return None


def _page_title(page: str) -> str:
    title = re.search(r"<title[^>]*>([^<]*)</title>", page, re.IGNORECASE)
    return f"an HTML page, {title[1].strip()!r}" if title else "an HTML page"


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"
