"""A session: its files and lock, and its life from start over resume to reset."""
