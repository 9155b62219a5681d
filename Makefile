# suffice: everything there is to run. `make` alone lists the targets.

PYTHON ?= python3
VENV   ?= .venv
JOBS   ?= 2
BASE   ?= HEAD~1

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

# Tests start hundreds of processes of this package: none should compile it anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo play check quick test lint bench bench-check bench-table peers docs site evidence types clean

help:  ## list what can be made
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

demo: $(VENV)/.stamp-demo  ## what it can do, in one minute: a comparison, a page and a picture
	$(BIN)/suffice demo --output suffice-demo.html --picture suffice-demo.png

play: $(VENV)/.stamp-demo  ## the playground: points to paint, models to watch, in a browser
	$(BIN)/suffice play

# What one waits for: nothing is started, and nothing takes long. Types keep one core busy for most of
# the time that lint takes, so tests run beside them.
check: $(VENV)/.stamp-dev  ## lint, laws with few examples, and hand examples: nothing slow
	@$(MAKE) --no-print-directory --jobs=2 lint quick

QUICK := not (server or cluster or browser or process or shared or peers or slow)
quick: export OPENBLAS_NUM_THREADS = 1
quick: $(VENV)/.stamp-dev
	SUFFICE_PROFILE=check $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal -m "$(QUICK)" \
	  tests/architecture tests/laws tests/examples

# Several test processes with several BLAS threads each would fight over the cores.
test: export OPENBLAS_NUM_THREADS = 1
test: $(VENV)/.stamp-dev $(VENV)/.stamp-spark  ## the whole test suite, with reduced counts
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not cluster"
	$(BIN)/python -m pytest -n 0 -m cluster

lint: $(VENV)/.stamp-dev  ## ruff, mypy --strict, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.stamp-bench  ## speed and memory against scikit-learn, equal answers first
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.grid

bench-check: $(VENV)/.stamp-bench  ## is anything slower than BASE (the commit before), or than the table says?
	$(BIN)/python -m benchmarks.check --base $(BASE)

bench-table: $(VENV)/.stamp-bench  ## measure the table of ratios to scikit-learn again
	$(BIN)/python -m benchmarks.ratios

# A peer has an environment of its own, so that what it pins binds nobody else: requirements are in
# benchmarks/peers, with the command that uses them.
PEERS := $(patsubst benchmarks/peers/%.txt,.peers/%/.stamp,$(wildcard benchmarks/peers/*.txt))
peers: $(PEERS)  ## environments for peers of the benchmarks: .peers/NAME
	@sed -n 's/^# /  /p' benchmarks/peers/*.txt

.peers/%/.stamp: benchmarks/peers/%.txt pyproject.toml
	@echo "making .peers/$*"
	@$(PYTHON) -m venv .peers/$*
	@.peers/$*/bin/python -m pip --quiet --disable-pip-version-check install --editable '.[fast]' -r $<
	@touch $@

docs: $(VENV)/.stamp-demo  ## make the generated parts of the documentation again
	$(BIN)/suffice demo --force --output /dev/null --picture docs/images/gda.png > /dev/null
	$(BIN)/python -m suffice.plots.gallery
	$(BIN)/python -m suffice.cli.reference
	$(BIN)/python -m suffice.web.playground

# SITE=--as-tested runs no notebook: cells show what the pages show, which tests have run.
site: $(VENV)/.stamp-site  ## the documentation as pages with search and formulas, in build/site
	$(BIN)/python docs/site/build.py $(SITE)
	@echo "open build/site/index.html"

evidence: $(VENV)/.stamp-dev  ## the full counts behind every claim, into docs/evidence.md (long)
	$(BIN)/python -m benchmarks.evidence

# The compiler comes from the npm registry (23 MB, kept in build/types); tests do not need it.
types: build/types/node_modules/typescript  ## the types of the JavaScript modules, checked by TypeScript
	build/types/node_modules/.bin/tsc -p src/suffice/web/jsconfig.json

build/types/node_modules/typescript:
	@command -v npm > /dev/null || { echo "error: there is no npm"; echo "Hint: install Node.js with npm"; exit 1; } >&2
	npm install --silent --no-fund --no-audit --prefix build/types typescript@5

clean:  ## remove the environment and everything that was made
	rm -rf $(VENV) .peers build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	rm -f suffice-demo.html suffice-demo.png efron.png poisson-classes.png
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp for each set of extras, newer than pyproject.toml when it is installed. pip skips what
# is there already, so a larger set only adds what the smaller one did not need.

$(VENV)/.stamp-demo: pyproject.toml | $(VENV)/.stamp-venv
	@echo "installing suffice and what the demo needs into $(VENV)"
	@$(PIP) install --editable '.[plots]'
	@touch $@

$(VENV)/.stamp-bench: pyproject.toml | $(VENV)/.stamp-venv
	@echo "installing suffice and what the benchmarks need into $(VENV)"
	@$(PIP) install --editable '.[bench]'
	@touch $@

# `dev` holds what the demo needs, and says so to make.
$(VENV)/.stamp-dev: pyproject.toml | $(VENV)/.stamp-venv
	@echo "installing suffice, every extra and the development tools into $(VENV)"
	@$(PIP) install --editable '.[dev]'
	@touch $@ $(VENV)/.stamp-demo

$(VENV)/.stamp-site: pyproject.toml | $(VENV)/.stamp-venv
	@echo "installing suffice and what the site needs into $(VENV)"
	@$(PIP) install --editable '.[site]'
	@touch $@

# Spark is large, and brings what only its own tests need.
$(VENV)/.stamp-spark: pyproject.toml | $(VENV)/.stamp-dev
	@echo "installing Spark into $(VENV), which takes a while"
	@$(PIP) install --editable '.[spark]'
	@touch $@

# An environment with a working pip is kept, whoever made it.
$(VENV)/.stamp-venv:
	@command -v $(PYTHON) > /dev/null || { \
	  echo "error: there is no $(PYTHON)"; \
	  echo "Hint: install Python 3.11 or newer, or name one: make PYTHON=/path/to/python3.12"; exit 1; } >&2
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "error: $(PYTHON) is $$($(PYTHON) --version 2>&1), but 3.11 or newer is needed"; \
	  echo "Hint: name a newer one: make PYTHON=/path/to/python3.12"; exit 1; } >&2
	@$(BIN)/python -m pip --version > /dev/null 2>&1 \
	  || $(PYTHON) -c 'import venv, ensurepip' 2> /dev/null || { \
	  echo "error: $(PYTHON) -m venv is not available"; \
	  echo "Hint: on Debian and Ubuntu: apt-get install python3-venv; or make PYTHON=/path/to/another/python3"; \
	  exit 1; } >&2
	@$(BIN)/python -m pip --version > /dev/null 2>&1 || { \
	  echo "making $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@touch $@
