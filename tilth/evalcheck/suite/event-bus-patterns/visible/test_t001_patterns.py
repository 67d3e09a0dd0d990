from eventbus import Bus
from orders import wire


def recorder(into, name):
    return lambda topic, payload: into.append((name, topic, payload))


# AC-1
def test_a_cancelled_subscription_receives_nothing():
    bus, seen = Bus(), []
    subscription = bus.subscribe("order.paid", recorder(seen, "a"))
    subscription.cancel()
    subscription.cancel()
    assert bus.publish("order.paid", 1) == 0
    assert seen == []


# AC-2
def test_a_pattern_receives_the_topics_below_in_the_order_of_subscription():
    bus, seen = Bus(), []
    bus.subscribe("order.paid", recorder(seen, "exact"))
    bus.subscribe("order.*", recorder(seen, "all"))
    assert bus.publish("order.paid", 1) == 2
    assert bus.publish("orders.new", 2) == 0
    assert [name for name, _, _ in seen] == ["exact", "all"]


# AC-2
def test_listeners_are_counted():
    bus = Bus()
    bus.subscribe("order.paid", print)
    assert bus.listeners("order.paid") == 1
    assert bus.listeners("order.placed") == 0


# AC-3
def test_once_is_called_for_the_first_event_only():
    bus, seen = Bus(), []
    bus.once("order.paid", recorder(seen, "once"))
    assert [bus.publish("order.paid", n) for n in (1, 2)] == [1, 0]
    assert seen == [("once", "order.paid", 1)]


# AC-4
def test_a_handler_subscribed_during_a_delivery_gets_later_events():
    bus, seen = Bus(), []
    bus.once("a", lambda topic, payload: bus.subscribe("a", recorder(seen, "late")))
    bus.publish("a", 1)
    bus.publish("a", 2)
    assert seen == [("late", "a", 2)]


# AC-5
def test_the_journal_is_written():
    bus, journal = Bus(), []
    wire(bus, journal)
    bus.publish("order.placed", 7)
    assert journal == ["order.placed 7"]
