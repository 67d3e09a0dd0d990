"""The nightly queue: jobs run one after the other, in the order in which they were added."""

from collections.abc import Callable
from dataclasses import dataclass

from nightly.states import State


class QueueError(Exception):
    """What was asked of the queue is not possible."""


class JobFailed(Exception):
    """Raised by the work of a job that did not succeed."""


@dataclass
class Job:
    """One piece of work and where it stands."""

    name: str
    work: Callable[[], object]
    state: State = State.READY
    error: str = ""


class JobQueue:
    """Hold jobs by name and run them."""

    def __init__(self):
        self._jobs = {}

    def add(self, name, work):
        """Add a job at the end; a name is used once."""
        if name in self._jobs:
            raise QueueError(f"there is a job {name!r} already")
        self._jobs[name] = Job(name, work)

    def state(self, name):
        """Tell where a job stands."""
        return self._job(name).state

    def error(self, name):
        """Give the text of the error that a job failed with, or an empty one."""
        return self._job(name).error

    def run_next(self):
        """Run the first ready job and give its name; None if there is none."""
        for job in self._jobs.values():
            if job.state is State.READY:
                self._run(job)
                return job.name
        return None

    def cancel(self, name):
        """Take a job out that has not run yet."""
        job = self._job(name)
        if job.state is not State.READY:
            raise QueueError(f"job {name!r} is {job.state.value}")
        job.state = State.CANCELLED

    def summary(self):
        """Count the jobs of each state."""
        states = [job.state for job in self._jobs.values()]
        return {
            "ready": states.count(State.READY),
            "done": states.count(State.DONE),
            "failed": states.count(State.FAILED),
            "cancelled": states.count(State.CANCELLED),
        }

    def _job(self, name):
        if name not in self._jobs:
            raise QueueError(f"there is no job {name!r}")
        return self._jobs[name]

    def _run(self, job):
        try:
            job.work()
        except JobFailed as error:
            job.state = State.FAILED
            job.error = str(error)
        else:
            job.state = State.DONE
