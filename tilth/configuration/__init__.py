"""The configuration: where settings come from and how each value is read."""
