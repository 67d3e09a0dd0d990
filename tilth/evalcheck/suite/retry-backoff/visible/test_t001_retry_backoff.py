import pytest

from client import forecast
from errors import ServiceError, TransientError
from retry import call


class Script:
    def __init__(self, *steps):
        self.steps = list(steps)
        self.calls = 0

    def __call__(self, *_):
        self.calls += 1
        step = self.steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step


def busy(retry_after=None):
    return TransientError("busy", retry_after)


# AC-1, AC-3
def test_pauses_grow_until_it_works():
    slept = []
    assert call(Script(busy(), busy(), busy(), "sun"), 5, 1, 60, slept.append) == "sun"
    assert slept == [1, 2, 4]


def test_a_pause_is_never_longer_than_the_cap():
    slept = []
    call(Script(busy(), busy(), busy(), "sun"), 5, 1, 3, slept.append)
    assert slept == [1, 2, 3]


# AC-2
def test_another_error_goes_out_at_once():
    slept = []
    script = Script(ServiceError("no such place"), "sun")
    with pytest.raises(ServiceError):
        call(script, 5, 1, 60, slept.append)
    assert (script.calls, slept) == (1, [])


# AC-4
def test_what_the_service_asks_for_is_heeded():
    slept = []
    call(Script(busy(retry_after=7), "sun"), 5, 1, 60, slept.append)
    assert slept == [7]


# AC-5
def test_the_last_error_goes_out():
    with pytest.raises(TransientError):
        call(Script(busy(), busy(), busy()), 3, 1, 60, lambda seconds: None)


# AC-6
def test_no_attempts_are_refused():
    with pytest.raises(ValueError):
        call(Script("sun"), 0, 1, 60, lambda seconds: None)


# AC-7
def test_the_forecast_is_asked_for_again():
    slept = []
    assert forecast(Script(busy(), "rain"), "Oslo", slept.append) == "rain"
    assert slept == [0.5]
