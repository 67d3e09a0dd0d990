# Everything stays inside the checkout: the virtual environment is .venv, its stamp lies in it.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Each process of a test run loads all files of tests: what one of them compiles, the others take.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test lint bench challenge real crash suite dist docs pictures clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "setup: Tilth needs Python 3.11 or newer: make $(or $(MAKECMDGOALS),setup) PYTHON=python3.13" >&2; exit 1; }
	@test -x $(BIN)/python || { echo "setup: making .venv with $$($(PYTHON) --version)" >&2; $(PYTHON) -m venv .venv; }
	@echo "setup: installing Tilth and the packages it needs into .venv; once, about a minute" >&2
	@$(BIN)/python -m pip install --quiet -e '.[dev]' -c constraints.txt
	@echo "setup: done" >&2
	@touch $@

$(BIN)/zensical: $(STAMP)
	@echo "docs: installing what builds them into .venv; once" >&2
	@$(BIN)/python -m pip install --quiet -e '.[docs]' -c constraints.txt
	@touch $@

demo: setup
	@echo "demo: a recorded run with real git, ruff and pytest; no key, no network, half a minute" >&2
	@$(BIN)/python -m tilth demo

# A file of tests stays in one process, so that what its tests share is made once.
test: setup
	@$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

lint: setup
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy --strict -p tilth

# How many kills a storm holds: make crash KILLS=1000
KILLS ?= 200

crash: setup
	@$(BIN)/python tests/storm.py $(KILLS)
	@$(BIN)/python tests/fleet_storm.py
	@$(BIN)/python tests/storm.py $(KILLS) "" 3
	@$(BIN)/python tests/lane_storm.py
	@$(BIN)/python tests/lives.py

bench: setup
	@$(BIN)/python -m bench

# The passing tests of real projects, challenged on their own code; fetches them: make challenge NAMES="toolz click"
challenge: setup
	@$(BIN)/python -m bench.challenge $(NAMES)

# Real projects as their developers have them: their suites at home and in the gate, and a session on each; fetches them
real: setup
	@$(BIN)/python -m bench.real $(NAMES)

# Every change of the evaluator's suite applied and tested: make suite DIR=path/to/another
suite: setup
	@$(BIN)/python -m tilth.evalcheck.proof $(DIR)

# A wheel and an sdist; tests/cli/test_installed.py installs the wheel and runs the demo from it.
dist: setup
	@rm -rf dist
	@$(BIN)/python -m hatchling build
	@ls -l dist

# The pages of docs/ with navigation and search, in build/docs.
docs: $(BIN)/zensical
	@$(BIN)/zensical build --clean --strict

# The pictures in docs/, made anew: the demo from its recording, the viewer in Chromium.
pictures: setup
	@$(BIN)/python tests/support/demo_cast.py
	@$(BIN)/python tests/support/viewer_pictures.py

clean:
	rm -rf .venv .ruff_cache .mypy_cache .pytest_cache build dist
	find $(wildcard tilth tests bench) -type d -name __pycache__ -prune -exec rm -rf {} +
