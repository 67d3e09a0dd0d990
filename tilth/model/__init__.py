"""The models: messages, the endpoint they go to, and recorded answers."""
