"""Fleets: many sessions at once, on an engine that is there already."""
