"""The endpoints: a model behind an address that the settings name."""

from __future__ import annotations

from collections.abc import Callable

from tilth.base.clock import Clock, SystemClock
from tilth.base.interrupt import Interrupt
from tilth.config.settings import Endpoint
from tilth.model.messages import Role
from tilth.model.provider import AnthropicModel, ModelConfig
from tilth.model.shared_limit import SharedLimit


def config_of(endpoint: Endpoint) -> ModelConfig:
    """Give an endpoint in the clear, as a model is called with."""
    return ModelConfig(
        model=endpoint.model,
        api_key=endpoint.api_key.get_secret_value(),
        base_url=endpoint.base_url,
        extra_headers=endpoint.revealed_headers(),
        stall_s=endpoint.stall_seconds,
    )


def model_at(
    endpoint: Endpoint,
    interrupt: Interrupt,
    clock: Clock | None = None,
    heard: Callable[[Role, str], None] | None = None,
    limit: SharedLimit | None = None,
) -> AnthropicModel:
    """Give a model that answers at an endpoint, and whose waits end with an interrupt.

    Those that are asked with the same key share its `limit`.
    """
    now = (clock or SystemClock()).now
    return AnthropicModel(
        config_of(endpoint),
        sleep=interrupt.sleep,
        now=lambda: now().timestamp(),
        heard=heard,
        limit=limit,
    )
