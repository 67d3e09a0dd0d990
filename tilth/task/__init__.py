"""One task's way: from its opening over tool turns, case and review to its landing."""
