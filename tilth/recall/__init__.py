"""Recall: a session read back from its log."""
