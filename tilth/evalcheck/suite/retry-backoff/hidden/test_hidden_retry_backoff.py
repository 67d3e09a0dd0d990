import pytest

from client import forecast
from errors import ServiceError, TransientError
from retry import call


class Script:
    def __init__(self, *steps):
        self.steps = list(steps)
        self.asked = []

    def __call__(self, *given):
        self.asked.append(given)
        step = self.steps.pop(0)
        if isinstance(step, BaseException):
            raise step
        return step


def busy(retry_after=None):
    return TransientError("busy", retry_after)


def test_the_service_may_ask_for_more_than_the_cap():
    slept = []
    call(Script(busy(retry_after=90), "sun"), 5, 1, 3, slept.append)
    assert slept == [90]


def test_a_short_wish_does_not_shorten_the_pause():
    slept = []
    call(Script(busy(), busy(retry_after=0.1), busy(retry_after=0), "sun"), 5, 1, 60, slept.append)
    assert slept == [1, 2, 4]


def test_the_doubling_goes_on_beside_a_wish():
    slept = []
    call(Script(busy(30), busy(), busy(), "sun"), 5, 1, 60, slept.append)
    assert slept == [30, 2, 4]


def test_the_cap_holds_from_the_first_pause():
    slept = []
    call(Script(busy(), busy(), "sun"), 5, 4, 3, slept.append)
    assert slept == [3, 3]


def test_no_pause_after_the_last_attempt():
    slept = []
    script = Script(busy(), busy(), busy())
    with pytest.raises(TransientError):
        call(script, 3, 1, 60, slept.append)
    assert slept == [1, 2]
    assert len(script.asked) == 3


def test_the_very_last_exception_goes_out():
    last = busy(5)
    with pytest.raises(TransientError) as caught:
        call(Script(busy(), busy(), last), 3, 1, 60, lambda seconds: None)
    assert caught.value is last


def test_one_attempt_is_one_call_and_no_pause():
    slept = []
    only = busy(9)
    with pytest.raises(TransientError) as caught:
        call(Script(only), 1, 1, 60, slept.append)
    assert (caught.value is only, slept) == (True, [])
    assert call(Script("sun"), 1, 1, 60, slept.append) == "sun"


def test_another_error_on_a_later_attempt_goes_out_at_once():
    slept = []
    script = Script(busy(), ServiceError("gone"), "sun")
    with pytest.raises(ServiceError):
        call(script, 5, 1, 60, slept.append)
    assert (len(script.asked), slept) == (2, [1])


@pytest.mark.parametrize("error", [OSError("net"), TimeoutError(), KeyboardInterrupt(), ValueError("v")])
def test_only_the_passing_error_is_tried_again(error):
    script = Script(error, "sun")
    with pytest.raises(type(error)):
        call(script, 5, 1, 60, lambda seconds: None)
    assert len(script.asked) == 1


@pytest.mark.parametrize("value", [None, "", 0, False])
def test_every_value_is_a_result(value):
    script = Script(value, "second")
    assert call(script, 3, 1, 60, lambda seconds: None) == value
    assert len(script.asked) == 1


@pytest.mark.parametrize("attempts", [0, -2])
def test_without_attempts_nothing_is_called(attempts):
    script = Script("sun")
    with pytest.raises(ValueError):
        call(script, attempts, 1, 60, lambda seconds: None)
    assert script.asked == []


def test_the_forecast_gives_up_after_four():
    slept = []
    script = Script(*(busy() for _ in range(6)))
    with pytest.raises(TransientError):
        forecast(script, "Oslo", slept.append)
    assert slept == [0.5, 1, 2]
    assert script.asked == [("/forecast/Oslo",)] * 4


def test_the_forecast_heeds_the_service():
    slept = []
    assert forecast(Script(busy(20), "rain"), "Oslo", slept.append) == "rain"
    assert slept == [20]
