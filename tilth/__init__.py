"""Tilth: run a coding agent unattended and leave work a senior engineer would merge."""

__version__ = "0.1.0"
