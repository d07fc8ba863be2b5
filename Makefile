# `make demo` and `make test` set everything up by themselves; a second set-up costs nothing.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: help setup demo check test lint format clean

help:
	@echo "make demo    show what akd does, on a built-in creature (writes out/demo)"
	@echo "make check   lint and the quick tests, in about two minutes"
	@echo "make test    run all tests"
	@echo "make lint    ruff, pyright and import-linter"
	@echo "make format  let ruff format the code"
	@echo "make setup   only the set-up that the others do first"
	@echo "make clean   remove what set-up made"

setup: $(VENV)/.ready

# torch comes first and alone: with it in place, nothing else pulls another build of it.
$(VENV)/.ready: pyproject.toml constraints.txt package.json package-lock.json
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "akd needs Python 3.11 or newer: set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) torch
	$(PIP) --editable '.[dev]'
	@if command -v npm >/dev/null; then npm ci --ignore-scripts --no-audit --no-fund --silent; \
	  else echo "npm is not there: tests against the Khronos validator will be skipped"; fi
	@touch $@

demo: setup
	$(BIN)/akd demo --out out/demo

check: lint
	$(BIN)/pytest -n auto -m "not slow"

test: setup
	$(BIN)/pytest -n auto

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pyright

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) node_modules out
