import io

from logsetup import configure, module_logger


def written(verbosity, **options):
    """Configure, let two modules speak, and give the messages that were written."""
    stream = io.StringIO()
    configure(verbosity, stream, **options)
    for module in ("http", "cart"):
        module_logger(module).info("info from %s", module)
        module_logger(module).warning("warning from %s", module)
    return stream.getvalue()


# AC-1
def test_a_quiet_module_writes_warnings_only():
    text = written(1, quiet=["http"])
    assert "info from http" not in text
    assert "warning from http" in text
    assert "info from cart" in text


# AC-2
def test_a_second_call_ends_the_quiet():
    written(1, quiet=["http"])
    assert "info from http" in written(1)


# AC-3
def test_without_quiet_modules_everything_is_written():
    text = written(1)
    assert text.count("info from") == 2
    assert text.count("warning from") == 2
