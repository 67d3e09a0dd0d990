"""The program that puts a Landlock wall around a command and runs it.

It is started as a script of its own, isolated, with the rules as its first argument and the command
after it. It ends with the command's exit code, or with 125 when the wall could not be built.
"""

from __future__ import annotations

import json
import os
import sys

_NO_WALL = 125


def main() -> int:
    """Build the wall and run the command behind it."""
    import sandlock  # type: ignore[import-untyped]  # it brings no types along

    request = json.loads(sys.argv[1])
    os.environ.pop(request["unset"], None)
    try:
        wall = sandlock.Sandbox(
            **request["rules"], env=request["env"], clean_env=True, cwd=request["cwd"]
        )
        code = wall.run_interactive(sys.argv[2:])
    except (sandlock.SandlockError, OSError, RuntimeError, ValueError) as error:
        sys.stderr.write(f"landlock: {error}\n")
        return _NO_WALL
    return _NO_WALL if code < 0 else int(code)


if __name__ == "__main__":
    sys.exit(main())
