"""`python -m tilth` and the `tilth` command."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from tilth.cli.app import app

    app()


if __name__ == "__main__":
    main()
