# `make` lists the targets; the list is the `##` comments below.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOCKED := $(VENV)/.locked
EDITABLE := $(VENV)/.editable

# Where engines and table states are kept; unset, the user's cache folder is taken.
ifdef HARNESS_CACHE
export HARNESS_CACHE
endif

.DEFAULT_GOAL := help
.PHONY: help venv check test run wheel clean

help:  ## list these targets
	@awk -F ':.*## *' '/^[a-z]+:.*## / {printf "%-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: $(EDITABLE)  ## make .venv from requirements.lock (again only when it changed)

$(LOCKED): requirements.lock
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	touch $@

$(EDITABLE): $(LOCKED) pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

check: venv  ## lint, types and the tests that need no engine
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n auto -m "not engines"

test: check  ## check, then the tests that start real engines
	$(BIN)/pytest -m engines

run: venv  ## quick start: run the quick-start profile and show what the engines got wrong
	$(BIN)/harness run --profile quick-start --show

wheel: venv  ## build the wheel into dist/
	$(BIN)/python -m build --wheel --no-isolation --outdir dist

clean:  ## remove what the other targets made here (not the cache of engines and states)
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
