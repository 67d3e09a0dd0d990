"""The walls a command can be run behind, and the choice of the one that works here."""
