# `make` lists the targets; the list is the `##` comments below. HARNESS_CACHE, where it is set, names
# the folder that keeps engines and table states, as it does for the harness itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOCKED := $(VENV)/.locked
EDITABLE := $(VENV)/.editable
# What a change made slow is seen at the end of the tests.
SLOWEST := --durations=10 --durations-min=10
# Folders of tests are named where they can be: collecting all others takes half a minute.
NO_ENGINES := --ignore tests/engines --ignore tests/browser -m "not engines and not browser"
# Not by pytest-xdist, each of whose workers would start the engines that tests share.
KIT := tests/engines/test_conformance.py
TWO := $(MAKE) --no-print-directory -j2 --output-sync=line
SIDE_BY_SIDE := $(TWO) sharing alone

# Every process of Python that tests start would compile the modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help venv lint unit browser check fetch engines sharing alone test nightly images containers kit contained conformance hunt quality run bench deaths wheel lock clean

help:  ## list these targets
	@awk -F ':.*## *' '/^[a-z]+:.*## / {printf "%-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: $(EDITABLE)  ## make .venv from requirements.lock (again only when it changed)

# What builds the few source archives among the packages is installed first, so that it is checked
# against the lock as well; with build isolation pip would fetch it unchecked.
$(LOCKED): requirements.lock
	$(PYTHON) -m venv --clear $(VENV)
	awk '/^[a-z]/ {keep = /^(packaging|setuptools|wheel)==/} keep' $< > $(VENV)/build.lock
	$(PIP) --require-hashes -r $(VENV)/build.lock
	$(PIP) --require-hashes --no-build-isolation -r $<
	touch $@

$(EDITABLE): $(LOCKED) pyproject.toml
	$(PIP) --no-deps --no-build-isolation -e .
	touch $@

lint: venv  ## lint, types, links of the pages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lychee --quiet --no-progress --offline --include-fragments=anchor-only *.md docs
	$(BIN)/mypy

unit: venv  ## the tests that need no engine
	$(BIN)/pytest -n auto --dist worksteal $(SLOWEST) $(NO_ENGINES)

browser: venv  ## the tests of report.html in Chromium; as root on Debian it is installed
	@bash tests/browser.sh
	HARNESS_REQUIRE_BROWSER=1 $(BIN)/pytest -n auto $(SLOWEST) tests/browser

check: lint unit  ## lint, types, links and the tests that need no engine

fetch: venv  ## fetch the engines of the tests, but for those of more than 1 GB
	$(BIN)/python -m tests.engines.fetch_engines

engines: fetch  ## the tests that start real engines, without those marked nightly
	@echo "two runs of pytest side by side; each prints what it has to say once it has ended"
	$(SIDE_BY_SIDE) BY_DAY="and not nightly"

sharing:
	$(BIN)/pytest $(SLOWEST) -m "not docker and not alone $(BY_DAY)" tests/engines

alone:
	$(BIN)/pytest $(SLOWEST) -m "not docker and alone $(BY_DAY)" tests/engines

test:  ## lint, types, every test but the nightly ones (containers: if Docker answers); minutes by part
	@bash tests/all.sh

nightly: check fetch  ## check, then all tests that start real engines as processes
	$(SIDE_BY_SIDE)

images: fetch  ## images of the engines of the tests; as root on Debian also a Docker daemon
	@bash tests/docker.sh

containers: fetch  ## the tests of engines in containers, without those marked nightly
	@bash tests/docker.sh $(TWO) kit contained BY_DAY="and not nightly"

kit:  # it mostly waits
	$(BIN)/pytest $(SLOWEST) -m docker $(KIT)

contained:
	$(BIN)/pytest $(SLOWEST) -m "docker $(BY_DAY)" --ignore $(KIT) tests/engines

conformance: venv  ## the conformance kit on every engine, in both runtimes where Docker answers
	$(BIN)/harness engines verify --all --out docs/results/conformance.md

hunt: venv  ## the tests that need no engine, with other random examples each time
	$(BIN)/pytest -n auto --dist worksteal $(NO_ENGINES) --hypothesis-profile=hunt

quality: venv  ## plant defects in simulated readers and writers: each must be found under its name
	$(BIN)/python -m pytest -q -n auto tests/quality

run: venv  ## quick start: run the quick-start profile and show what the engines got wrong
	$(BIN)/harness run --profile quick-start --show

bench: venv  ## measure PROFILE (quick-start) and a plain script that asks the same; a Markdown table
	$(BIN)/python tools/bench.py --profile $(or $(PROFILE),quick-start) --folder build/bench

deaths: venv  ## kill what runs at RUNS (200) random moments, compare the verdicts; again: the rest
	$(BIN)/python tools/deaths.py --runs $(or $(RUNS),200) --folder build/deaths

wheel: venv  ## build the wheel into dist/
	rm -rf build
	$(BIN)/python -m build --wheel --no-isolation --outdir dist

lock:  ## pin what pyproject.toml asks for into requirements.lock, with hashes
	$(PYTHON) -m venv --clear build/lock
	build/lock/bin/python -m pip install --quiet --disable-pip-version-check uv
	build/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --extra dev \
		--generate-hashes --no-annotate --no-header $(UPGRADE) -o requirements.lock pyproject.toml

clean:  ## remove what the other targets made here (not the cache of engines and states)
	if [ -d build ]; then chmod -R u+w build; fi  # frozen table states are read-only
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
