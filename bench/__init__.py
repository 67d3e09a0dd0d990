"""Measurements of Tilth against the bare thing it wraps, as ratios taken side by side."""
