"""The settings as reference text: `.env.example` and the table in the docs, from one declaration.

    python -m tilth.config.reference

writes both anew in a checkout; a test holds them to it.
"""

from __future__ import annotations

from pathlib import Path

from tilth.config.settings import VARIABLES, Variable

BEGIN = "<!-- made by python -m tilth.config.reference -->"
END = "<!-- end -->"

_EXAMPLE_HEAD = """\
# Settings of Tilth, each with its default. `tilth init` writes this file to $TILTH_HOME/.env.
# Uncomment what you want to change: a flag beats the environment, the environment beats this file.
"""


def env_example() -> str:
    """Write every setting as a commented `.env` file."""
    entries = (f"\n# {item.help}\n#{item.name}={item.default}\n" for item in VARIABLES)
    return _EXAMPLE_HEAD + "".join(entries)


def docs_table() -> str:
    """Write every setting as a row of a table."""
    rows = ["| variable | default | meaning |", "|---|---|---|", *map(_row, VARIABLES)]
    return "\n".join([BEGIN, *rows, END])


def in_page(page: str) -> str:
    """Put the table in its place in a page of the docs."""
    before, _, rest = page.partition(BEGIN)
    return before + docs_table() + rest.partition(END)[2]


def _row(item: Variable) -> str:
    named = [f"`{item.name}`", *(f"`{other}`" for other in (item.fallback, item.flag) if other)]
    secret = "; hidden wherever it is shown" if item.is_secret else ""
    default = f"`{item.default}`" if item.default else ""
    meaning = item.help.replace("|", "\\|")
    return f"| {', '.join(named)} | {default} | {meaning}{secret} |"


def _write(root: Path) -> None:
    (root / ".env.example").write_text(env_example(), "utf-8")
    page = root / "docs" / "settings.md"
    page.write_text(in_page(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    _write(Path(__file__).parents[2])
