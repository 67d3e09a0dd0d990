"""The endpoint: how an answer is put together, priced, and judged when it fails."""
