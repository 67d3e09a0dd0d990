"""The seed: an interview, and the proof that its plan and tests hold before anything runs."""
