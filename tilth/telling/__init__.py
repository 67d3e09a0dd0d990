"""Telling: events put into words for a person who watches a run. Pure; draws and writes nothing."""
