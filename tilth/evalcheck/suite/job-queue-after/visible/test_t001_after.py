import pytest

from nightly.queue import JobFailed, JobQueue, QueueError
from nightly.states import State


def fail():
    raise JobFailed("broken")


def fine():
    return None


def run_all(queue):
    """Run until nothing is ready, at most 50 jobs; gives the names in the order of running."""
    names = []
    while len(names) < 50 and (name := queue.run_next()) is not None:
        names.append(name)
    return names


# AC-1
def test_a_job_waits_until_the_other_is_done():
    queue = JobQueue()
    queue.add("load", fine)
    queue.add("report", fine, after=["load"])
    assert queue.state("report") is State.WAITING
    queue.run_next()
    assert queue.state("report") is State.READY


# AC-1
def test_an_unknown_name_is_refused():
    queue = JobQueue()
    with pytest.raises(QueueError):
        queue.add("report", fine, after=["load"])
    assert run_all(queue) == []


# AC-2
def test_a_job_behind_a_failed_one_is_skipped():
    queue = JobQueue()
    queue.add("load", fail)
    queue.add("report", fine, after=["load"])
    assert run_all(queue) == ["load"]
    assert queue.state("report") is State.SKIPPED


# AC-3
def test_jobs_run_in_the_order_of_adding():
    queue = JobQueue()
    queue.add("a", fine)
    queue.add("b", fine, after=["a"])
    queue.add("c", fine)
    assert run_all(queue) == ["a", "b", "c"]


# AC-3
def test_a_waiting_job_can_be_cancelled():
    queue = JobQueue()
    queue.add("a", fine)
    queue.add("b", fine, after=["a"])
    queue.cancel("b")
    assert queue.state("b") is State.CANCELLED


# AC-4
def test_done_and_failed_jobs_are_counted():
    queue = JobQueue()
    queue.add("a", fine)
    queue.add("b", fail)
    run_all(queue)
    assert queue.summary()["done"] == queue.summary()["failed"] == 1
