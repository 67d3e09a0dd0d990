"""The states of a job."""

from enum import Enum


class State(Enum):
    """Where a job stands."""

    READY = "ready"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
