"""The tally: what each event adds to a session's summary."""
