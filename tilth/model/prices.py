"""What a model call costs, by the price table that comes with genai-prices.

It never fetches prices, and a model the table does not know has no price rather than a price of 0.
"""

from __future__ import annotations

from tilth.model.messages import Usage


def cost_usd(usage: Usage, model: str, endpoint: str) -> float | None:
    """Price one call, or say None where the model or its use is not known."""
    if not usage.sent:
        # Every call has input: an endpoint that does not count is not free.
        return None
    # Imported here because it takes longer than a whole start.
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    tokens = Tokens(
        # Cached ones included, which the Messages API counts apart.
        input_tokens=usage.sent,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cache_write_1h_tokens=usage.cache_write_1h_tokens or None,
        output_tokens=usage.output_tokens,
    )
    try:
        return float(calc_price(tokens, model, provider_api_url=endpoint).total_price)
    except LookupError:
        pass
    # An endpoint the table does not know: a gateway, or a server of open models. Only a name of
    # Anthropic's own says what is behind it.
    try:
        name = model.removeprefix("anthropic/")
        return float(calc_price(tokens, name, provider_id="anthropic").total_price)
    except LookupError:
        return None
