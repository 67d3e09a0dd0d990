"""The quiet modules, and all that must stay as it was."""

import ast
from pathlib import Path

import inspect
import io
import logging

import logsetup
import pytest
from logsetup import configure, module_logger


MODULE = "logsetup.py"
PUBLIC = {"FORMAT", "NAME", "configure", "level_of", "module_logger"}
FILES = {"logsetup.py"}
UNTOUCHED = '''
NAME = "shop"


FORMAT = "%(levelname)s %(name)s: %(message)s"


def level_of(verbosity):
    """Give the level for a number of -v flags."""
    if verbosity <= 0:
        return logging.WARNING
    return logging.INFO if verbosity == 1 else logging.DEBUG


def module_logger(module):
    """Give the logger of one of the shop's modules."""
    return logging.getLogger(f"{NAME}.{module}")
'''

ROOT = Path(__file__).resolve().parents[1]


def source():
    return (ROOT / MODULE).read_text(encoding="utf-8")


def public_names(body):
    """Give what a module or class defines under a public name; imports do not count."""
    names = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def test_no_public_name_comes_or_goes():
    assert public_names(ast.parse(source()).body) == PUBLIC


def test_what_the_task_does_not_touch_stands_as_it_was():
    for block in UNTOUCHED.strip("\n").split("\n\n\n"):
        assert block in source(), block


def test_no_module_and_no_dependency_comes_along():
    found = {p.relative_to(ROOT) for p in (*ROOT.rglob("*.py"), *ROOT.glob("requirements*"))}
    assert {str(path) for path in found if path.parts[0] != "tests"} == FILES


def spoken(module, verbosity, **options):
    """Give the levels at which a module's lines come through."""
    stream = io.StringIO()
    configure(verbosity, stream, **options)
    for level in ("debug", "info", "warning", "error"):
        getattr(module_logger(module), level)("x")
    return [line.split()[0] for line in stream.getvalue().splitlines()]


def test_the_lines_have_the_form_they_had():
    stream = io.StringIO()
    configure(2, stream, quiet=["http"])
    module_logger("cart").debug("two %s", "things")
    module_logger("http.pool").error("lost")
    assert stream.getvalue() == "DEBUG shop.cart: two things\nERROR shop.http.pool: lost\n"


@pytest.mark.parametrize(("verbosity", "levels"), [(0, 2), (1, 3), (2, 4), (-1, 2)])
def test_the_levels_are_what_they_were(verbosity, levels):
    assert len(spoken("cart", verbosity)) == levels
    assert len(spoken("cart", verbosity, quiet=("http",))) == levels
    assert spoken("http", verbosity, quiet=("http",)) == ["WARNING", "ERROR"]


def test_the_default_is_to_write_warnings(capsys):
    configure()
    module_logger("cart").info("no")
    module_logger("cart").warning("yes")
    assert capsys.readouterr().err == "WARNING shop.cart: yes\n"


def test_loggers_below_are_quiet_and_neighbours_are_not():
    assert spoken("http.pool", 2, quiet=["http"]) == ["WARNING", "ERROR"]
    assert len(spoken("https", 2, quiet=["http"])) == 4
    assert len(spoken("http", 2, quiet=["http.pool"])) == 4


def test_the_quiet_ends_with_the_next_call():
    spoken("http", 1, quiet=["http", "cart"])
    assert spoken("http", 2, quiet=["cart"]) == ["DEBUG", "INFO", "WARNING", "ERROR"]
    assert spoken("cart", 2, quiet=["cart"]) == ["WARNING", "ERROR"]


def test_there_is_one_handler_however_often_it_is_called():
    for _ in range(3):
        logger = configure(1, io.StringIO(), quiet=["http"])
    assert logger is logging.getLogger("shop")
    assert len(logger.handlers) == 1
    assert type(logger.handlers[0]).__mro__.count(logging.FileHandler) == 0
    assert not logger.propagate


def test_the_logging_of_others_is_left_alone():
    root, other = logging.getLogger(), logging.getLogger("elsewhere")
    before = (root.level, list(root.handlers), other.level, list(other.handlers), other.disabled)
    configure(2, io.StringIO(), quiet=["http"])
    after = (root.level, list(root.handlers), other.level, list(other.handlers), other.disabled)
    assert after == before


def test_the_environment_is_not_read(monkeypatch):
    for name in ("LOG_LEVEL", "SHOP_LOG", "SHOP_LOG_LEVEL", "SHOP_QUIET", "LOG_QUIET", "DEBUG"):
        monkeypatch.setenv(name, "DEBUG")
    assert "environ" not in source()
    assert "getenv" not in source()
    assert spoken("cart", 0) == ["WARNING", "ERROR"]


def test_the_functions_take_what_the_task_names():
    parameters = inspect.signature(logsetup.configure).parameters
    assert list(parameters) == ["verbosity", "stream", "quiet"]
    assert parameters["verbosity"].default == 0
    assert parameters["stream"].default is None
