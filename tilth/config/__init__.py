"""The configuration: settings, where they come from, and the secrets among them."""
