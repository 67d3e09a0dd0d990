"""What finished subscriptions do, and what they leave behind."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

from eventbus import Bus
from orders import wire


def recorder(into, name):
    return lambda topic, payload: into.append((name, topic, payload))


ROOT = Path(__file__).resolve().parents[1]
OPEN_END = re.compile(r"\b(TO[D]O|FIX[M]E|XX[X]|HACK|WIP)\b", re.IGNORECASE)


def sources():
    """Give the text of each of the project's modules, the tests left out."""
    paths = (p for p in ROOT.rglob("*.py") if "tests" not in p.relative_to(ROOT).parts)
    return {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8") for p in sorted(paths)}


def nodes(source, *kinds):
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]


def comments(source):
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [t.string.lstrip("#").strip() for t in tokens if t.type == tokenize.COMMENT]


def is_code(comment):
    """Tell a statement that was commented out from words."""
    try:
        body = ast.parse(comment).body
    except SyntaxError:
        return False
    kinds = (ast.Assign, ast.AugAssign, ast.Return, ast.Raise, ast.Import, ast.ImportFrom)
    return any(
        isinstance(node, kinds) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        for node in body
    )


def test_no_debugging_output_is_left():
    for name, source in sources().items():
        called = {
            node.func.id for node in nodes(source, ast.Call) if isinstance(node.func, ast.Name)
        }
        assert not called & {"print", "pprint", "breakpoint"}, name
        assert "sys.std" not in source, name


def test_no_open_end_and_no_code_in_comments_is_left():
    for name, source in sources().items():
        found = [c for c in comments(source) if OPEN_END.search(c) or is_code(c)]
        assert not found, name
        assert "NotImplemented" not in source, name


def test_no_branch_or_function_is_left_empty():
    for name, source in sources().items():
        for node in nodes(source, ast.If, ast.For, ast.While, ast.FunctionDef):
            for body in (node.body, getattr(node, "orelse", [])):
                assert not (body and isinstance(body[-1], ast.Pass)), f"{name}:{node.lineno}"


def test_nothing_is_left_that_nothing_uses():
    for name, source in sources().items():
        used = {node.id for node in nodes(source, ast.Name)}
        used |= {node.attr for node in nodes(source, ast.Attribute)}
        defined = {node.name for node in nodes(source, ast.FunctionDef) if private(node.name)}
        imports = nodes(source, ast.Import, ast.ImportFrom)
        if not name.endswith("__init__.py"):
            defined |= {a.asname or a.name for node in imports for a in node.names}
        assert not defined - used - {"annotations"}, name


def private(name):
    return name.startswith("_") and not name.startswith("__")


def test_a_handler_cancelled_during_the_delivery_is_not_called():
    bus, seen = Bus(), []
    bus.subscribe("a", lambda topic, payload: second.cancel())
    second = bus.subscribe("a", recorder(seen, "second"))
    bus.subscribe("a.b", recorder(seen, "other"))
    assert bus.publish("a") == 1
    assert seen == []


def test_the_same_handler_can_be_subscribed_twice_and_cancelled_once():
    bus, seen = Bus(), []
    handler = recorder(seen, "same")
    first = bus.subscribe("a", handler)
    bus.subscribe("a", handler)
    first.cancel()
    first.cancel()
    assert bus.publish("a") == 1


@pytest.mark.parametrize(
    ("topic", "reached"),
    [
        ("order.paid", 1),
        ("order.line.added", 1),
        ("order", 0),
        ("orders.new", 0),
        ("x.order.paid", 0),
    ],
)
def test_a_pattern_reaches_what_lies_below_and_listeners_knows_it(topic, reached):
    bus = Bus()
    bus.subscribe("order.*", recorder([], "all"))
    assert bus.listeners(topic) == reached
    assert bus.publish(topic) == reached


def test_a_pattern_below_a_pattern_and_plain_signs():
    bus = Bus()
    bus.subscribe("order.line.*", recorder([], "lines"))
    bus.subscribe("a?c.*", recorder([], "plain"))
    assert bus.listeners("order.line.added") == 1
    assert bus.listeners("order.paid") == 0
    assert bus.listeners("abc.d") == 0


def test_patterns_and_topics_run_in_the_order_of_subscription():
    bus, seen = Bus(), []
    for name, topic in [("1", "a.*"), ("2", "a.b"), ("3", "a.*"), ("4", "a.b")]:
        bus.subscribe(topic, recorder(seen, name))
    bus.publish("a.b")
    assert [name for name, _, _ in seen] == ["1", "2", "3", "4"]


def test_once_takes_a_pattern_and_no_longer_counts():
    bus, seen = Bus(), []
    bus.once("order.*", recorder(seen, "once"))
    assert bus.listeners("order.paid") == 1
    assert bus.publish("order.paid", 1) == 1
    assert bus.listeners("order.paid") == 0
    assert bus.publish("order.placed", 2) == 0
    assert seen == [("once", "order.paid", 1)]


def test_once_is_called_once_even_if_it_publishes_itself():
    bus, seen = Bus(), []

    def again(topic, payload):
        seen.append(payload)
        bus.publish(topic, payload + 1)

    bus.once("a", again)
    bus.publish("a", 1)
    assert seen == [1]


def test_once_can_be_cancelled_before():
    bus, seen = Bus(), []
    bus.once("a", recorder(seen, "once")).cancel()
    assert bus.publish("a") == 0
    assert seen == []


def test_once_is_called_once_if_an_earlier_handler_publishes():
    bus, seen = Bus(), []
    bus.once("a", lambda topic, payload: bus.publish("a", "inner"))
    bus.once("a", recorder(seen, "once"))
    bus.publish("a", "outer")
    assert seen == [("once", "a", "inner")]


def test_the_journal_has_one_subscription_to_all_of_order():
    bus, journal = Bus(), []
    subscription = wire(bus, journal)
    assert bus.listeners("order.paid") == 1
    bus.publish("order.line.added", 3)
    bus.publish("order.paid", 4)
    assert journal == ["order.line.added 3", "order.paid 4"]
    subscription.cancel()
    bus.publish("order.paid", 5)
    assert len(journal) == 2
