"""The repository: git, run safely, and what is read from and written to it."""
