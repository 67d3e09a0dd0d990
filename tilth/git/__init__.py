"""Git: the binary run safely, and what is read from and written to a repository."""
