"""What can go wrong when the weather service is asked."""

from __future__ import annotations


class ServiceError(Exception):
    """The service refused, and will again."""


class TransientError(Exception):
    """The service is busy; it may say in how many seconds to come again."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
