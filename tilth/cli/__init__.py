"""The command line: the edge where everything is put together and every error becomes a line."""
