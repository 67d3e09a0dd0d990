# Everything stays inside the checkout: the virtual environment is .venv, its stamp lies in it.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: setup demo test lint bench crash suite clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet -e '.[dev]' -c constraints.txt
	@touch $@

demo: setup
	@$(BIN)/python -m tilth demo

# A file of tests stays in one process, so that what its tests share is made once.
test: setup
	@$(BIN)/python -m pytest -n auto --dist loadfile

lint: setup
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy --strict -p tilth

# How many kills a storm holds: make crash KILLS=1000
KILLS ?= 200

crash: setup
	@$(BIN)/python tests/storm.py $(KILLS)

bench: setup
	@$(BIN)/python -m bench

# Every change of the evaluator's suite applied and tested: make suite DIR=path/to/another
suite: setup
	@$(BIN)/python -m tilth.evalcheck.proof $(DIR)

clean:
	rm -rf .venv .ruff_cache .mypy_cache .pytest_cache build dist
	find $(wildcard tilth tests bench) -type d -name __pycache__ -prune -exec rm -rf {} +
