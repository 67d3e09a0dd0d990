"""The order journal: what happened to orders, line by line."""


def wire(bus, journal):
    """Have the events of orders written into a journal, a list of lines."""

    def note(topic, payload):
        journal.append(f"{topic} {payload}")

    bus.subscribe("order.placed", note)
    bus.subscribe("order.paid", note)
