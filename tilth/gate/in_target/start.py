"""The start of a process of the gate in the target's interpreter: a request in, an answer out.

A process that a test spawns imports this again, under another name: it must find nothing to do.
"""

if __name__ == "__main__":
    import importlib
    import json
    import os
    import sys

    leave, started_as = os._exit, os.getpid()
    above, package = os.path.split(os.path.dirname(os.path.abspath(__file__)))
    sys.path.insert(0, above)
    name, asked, answered = sys.argv[1:]
    module = importlib.import_module(f"{package}.{name}")
    del sys.path[0]
    with open(asked, encoding="utf-8") as file:
        request = json.load(file)
    os.unlink(asked)
    found = module.answer(request)
    sys.stdout.flush()
    sys.stderr.flush()
    # A forked copy of this process that runs on to here has nothing to say.
    if os.getpid() == started_as:
        with open(answered, "w", encoding="utf-8") as file:
            json.dump(found, file)
    leave(found.get("status", 0))
