"""The replay: a recorded session played again and compared with its record."""
