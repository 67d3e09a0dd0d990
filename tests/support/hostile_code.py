"""Wrong code that tries to pass for right by itself: it leaves, it lies, it reaches for pytest."""

from __future__ import annotations

from support.hostile_session import SEED, WRONG

LEAVE = "import os\n\nos._exit(0)\n"
_REACH = "import gc\n\nimport pytest\n\n\n{}\n\nfor thing in gc.get_objects():\n    {}\n"
_CALL = (
    "class Evil:\n    @pytest.hookimpl(tryfirst=True)\n"
    "    def pytest_pyfunc_call(self, pyfuncitem):\n        return True\n\n"
)
_MANAGER = "if isinstance(thing, pytest.PytestPluginManager):\n        "
_NOTHING = "def nothing(*_):\n    return True\n"
_FORGED = (
    '{"status": 0, "collected": [], "results": [{"node": "' + SEED + '::test_add", "ending": '
    '"passed"}]}'
)

# What a wrong `calc.py` may try by itself, and a word of what the gate says to it.
CODE: dict[str, tuple[str, str]] = {
    "leaves when it is imported": (LEAVE + WRONG, "before pytest could report"),
    "leaves when it is called": (
        "import os\n\n\ndef add(a, b):\n    os._exit(0)\n",
        "before pytest could report",
    ),
    "leaves at the exit": (
        f"import atexit\nimport os\n\natexit.register(os._exit, 0)\n\n\n{WRONG}",
        "test_add: failed",
    ),
    "leaves by an alarm": (
        (
            "import os\nimport signal\n\nsignal.signal(signal.SIGALRM, lambda *_: os._exit(0))\n"
            f"signal.setitimer(signal.ITIMER_REAL, 0.001)\n\n\n{WRONG}"
        ),
        "before pytest could report",
    ),
    "leaves by a thread": (
        "import os\nimport threading\n\nthreading.Thread(target=os._exit, args=(0,)).start()\n\n\n"
        + WRONG,
        "before pytest could report",
    ),
    "exits when it is imported": ("raise SystemExit(0)\n", "SystemExit"),
    "exits when it is called": ("import sys\n\n\ndef add(a, b):\n    sys.exit(0)\n", "SystemExit"),
    "stops pytest": (
        f"import pytest\n\npytest.exit('done', returncode=0)\n\n\n{WRONG}",
        "Exit: done",
    ),
    "becomes another program": (
        f"import os\n\nos.execv('/bin/true', ['true'])\n\n\n{WRONG}",
        "before pytest could report",
    ),
    "lets a copy of itself speak": (
        f"import os\n\nif os.fork():\n    os._exit(0)\n\n\n{WRONG}",
        "before pytest could report",
    ),
    "kills the process above": (
        f"import os\nimport signal\n\nos.kill(os.getppid(), signal.SIGKILL)\n\n\n{WRONG}",
        "test_add: failed|before pytest could report",
    ),
    "writes a report of its own": (
        (
            "import os\nimport pathlib\n\n"
            f"pathlib.Path('../report').write_text('{_FORGED}\\n00\\n')\n"
            "os._exit(0)\n"
        ),
        "before pytest could report",
    ),
    "stands in the way of the report": (
        # Its name is not known, so everything is in the way that could be.
        (
            "import os\nimport sys\n\nframe = sys._getframe()\nwhile frame:\n"
            "    if 'request' in frame.f_locals:\n"
            "        os.mkfifo(frame.f_locals['request']['report'])\n        break\n"
            f"    frame = frame.f_back\n\n\n{WRONG}"
        ),
        "before pytest could report",
    ),
    "skips when it is called": (
        "import pytest\n\n\ndef add(a, b):\n    pytest.skip('later')\n",
        "skipped",
    ),
    "skips the whole file": (
        "import unittest\n\nraise unittest.SkipTest('later')\n",
        "skipped",
    ),
    "hides the tests from pytest": (
        (
            "import sys\n\nframe = sys._getframe()\nwhile frame:\n"
            "    if frame.f_globals.get('__name__') == 'test_t001_add':\n"
            f"        frame.f_globals['__test__'] = False\n    frame = frame.f_back\n\n\n{WRONG}"
        ),
        "did not run",
    ),
    "swaps the maker of reports": (
        (
            "import _pytest.runner\n\nreal = _pytest.runner.TestReport.from_item_and_call\n\n\n"
            "def fake(item, call):\n    call.excinfo = None\n    return real(item, call)\n\n\n"
            f"_pytest.runner.TestReport.from_item_and_call = fake\n\n\n{WRONG}"
        ),
        "replaced what its tests rely on: _pytest.reports.TestReport.from_item_and_call",
    ),
    "swaps the code that runs a test": (
        (
            f"import _pytest.python\n\n\n{_NOTHING}\n\n"
            f"_pytest.python.Function.runtest.__code__ = nothing.__code__\n\n\n{WRONG}"
        ),
        "replaced what its tests rely on: _pytest.python.Function.runtest",
    ),
    "puts one of pytest's own functions in another's place": (
        (
            "import _pytest.nodes\nimport _pytest.python\n\n"
            f"_pytest.python.Function.runtest = _pytest.nodes.Node.setup\n\n\n{WRONG}"
        ),
        "replaced what its tests rely on: _pytest.python.Function.runtest",
    ),
    "forges where its code comes from": (
        (
            "import _pytest.python\n\nspace = {}\n"
            "code = compile('def runtest(self):\\n    pass\\n', 'conftest.py', 'exec')\n"
            f"exec(code, space)\n_pytest.python.Function.runtest = space['runtest']\n\n\n{WRONG}"
        ),
        "replaced what its tests rely on: _pytest.python.Function.runtest",
    ),
    "makes no assertion fail": (
        f"import builtins\n\nbuiltins.AssertionError = Warning\n\n\n{WRONG}",
        "replaced what its tests rely on: builtins.AssertionError",
    ),
    "registers a plugin from within": (
        _REACH.format(_CALL, f"{_MANAGER}thing.register(Evil())") + WRONG,
        "replaced what its tests rely on: hook pytest_pyfunc_call of calc",
    ),
    "takes the plugin away that calls tests": (
        _REACH.format("", f"{_MANAGER}thing.unregister(name='python')") + WRONG,
        "replaced what its tests rely on: _pytest.python.pytest_",
    ),
    "swaps a hook inside the plugin manager": (
        (
            f"import gc\n\nimport pluggy\n\n\n{_NOTHING}\n\n"
            "for thing in gc.get_objects():\n    if isinstance(thing, pluggy.HookImpl):\n"
            "        if thing.function.__name__ == 'pytest_pyfunc_call':\n"
            f"            thing.function = nothing\n\n\n{WRONG}"
        ),
        "replaced what its tests rely on: hook pytest_pyfunc_call of calc",
    ),
    "swaps the code of the next test": (
        (
            f"import sys\n\n\n{_NOTHING}\n\n"
            "def add(a, b):\n    names = sys._getframe(1).f_globals\n"
            "    names['test_add_of_negatives'].__code__ = nothing.__code__\n    return 5\n"
        ),
        "tests rely on: .*the code of tests/test_t001_add.py::test_add_of_negatives",
    ),
    "swaps the code of the tests as they appear": (
        (
            "import sys\nimport threading\n\n\ndef swap():\n    tests = None\n"
            "    while not hasattr(tests, 'test_add_of_negatives'):\n"
            "        tests = sys.modules.get('test_t001_add')\n"
            "    tests.test_add.__code__ = (lambda: None).__code__\n"
            "    tests.test_add_of_negatives.__code__ = (lambda: None).__code__\n\n\n"
            f"threading.Thread(target=swap).start()\n\n\n{WRONG}"
        ),
        "tests rely on: .*the code of tests/test_t001_add.py::test_add|test_add: failed",
    ),
    "traces the tests": (
        (
            "import sys\n\n\ndef jump(frame, event, _):\n"
            "    if event == 'line' and frame.f_code.co_name.startswith('test_'):\n"
            "        frame.f_trace = None\n    return jump\n\n\n"
            f"sys.settrace(jump)\n\n\n{WRONG}"
        ),
        "replaced what its tests rely on: sys.settrace",
    ),
    "rewrites what the harness heard": (
        "import sys\n\nreport = sys.modules['tilth_gate_in_target.report']\n"
        "report._outcome = lambda report: 'passed'\n\n\n" + WRONG,
        "replaced what its tests rely on: tilth_gate_in_target.report._outcome",
    ),
    "takes the key of the report": (
        (
            "import hashlib\nimport hmac\nimport json\nimport os\nimport sys\n\n"
            "frame = sys._getframe()\nwhile frame:\n    if 'key' in frame.f_locals:\n"
            "        key, request = frame.f_locals['key'], frame.f_locals['request']\n"
            f"        nodes = ['{SEED}::test_add', '{SEED}::test_add_of_negatives']\n"
            "        ended = [{'node': node, 'ending': 'passed'} for node in nodes]\n"
            "        said = {'status': 0, 'collected': nodes, 'results': ended}\n"
            "        body = json.dumps(said).encode()\n"
            "        seal = hmac.new(key, body, hashlib.sha256).hexdigest().encode()\n"
            "        with open(request['report'], 'wb') as report:\n"
            "            report.write(body + b'\\n' + seal + b'\\n')\n        os._exit(0)\n"
            f"    frame = frame.f_back\n\n\n{WRONG}"
        ),
        "replaced what its tests rely on",
    ),
}
