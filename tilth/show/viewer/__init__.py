"""The viewer: a session in the browser, served while it runs or written into one file."""
