"""The commands that look: each reads what a session left on disk and changes nothing."""
