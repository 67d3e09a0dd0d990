"""The event log: what can happen, how it is written, read and folded into state."""
