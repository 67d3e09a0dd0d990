"""The nightly jobs."""
