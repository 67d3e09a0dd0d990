"""Events by topic, delivered at once to whoever has subscribed."""


class Bus:
    """Deliver each event to the handlers of its topic, in the order of their subscription."""

    def __init__(self):
        self._handlers = {}

    def subscribe(self, topic, handler):
        """Have handler(topic, payload) called for every event of a topic."""
        self._handlers.setdefault(topic, []).append(handler)

    def publish(self, topic, payload=None):
        """Deliver an event; gives the number of handlers called."""
        handlers = tuple(self._handlers.get(topic, ()))
        for handler in handlers:
            handler(topic, payload)
        return len(handlers)

    def listeners(self, topic):
        """Give how many handlers an event of this topic would reach."""
        return len(self._handlers.get(topic, ()))
