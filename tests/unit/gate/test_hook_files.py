"""Which Python files hold hooks of pytest."""

from __future__ import annotations

import pytest

from tilth.gate.hook_files import holds_hooks


@pytest.mark.parametrize(
    "text",
    [
        "def pytest_configure(config):\n    pass\n",
        "class Plugin:\n    def pytest_runtest_setup(self, item):\n        pass\n",
        "from shop.hooks import pytest_addoption\n",
        "from shop.hooks import header as pytest_report_header\n",
        "pytest_report_header = make()\n",
        "@hookimpl(specname='pytest_configure')\ndef ready(config):\n    pass\n",
    ],
)
def test_a_hook_is_known_by_its_name_or_its_mark(text: str) -> None:
    assert holds_hooks("shop/plugin.py", None, text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "import pytest_asyncio\nfrom pytest_shop import one\n",
        "pytest_plugins = ['shop.plugin']\n",
        "# def pytest_configure(config): ...\nx = 'pytest_configure'\n",
        "pytest_configure(config)\n",
        "def pytest_configure(\n",
    ],
)
def test_what_only_speaks_of_one_is_none(text: str) -> None:
    assert not holds_hooks("shop/plugin.py", text.encode())


def test_a_file_that_is_not_there_or_no_python_holds_none() -> None:
    assert not holds_hooks("shop/plugin.py", None)
    assert not holds_hooks("shop/plugin.txt", b"def pytest_configure(config):\n    pass\n")
