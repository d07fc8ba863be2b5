# Every target sets up what it needs first: `make demo` the package alone, `make test` and
# `make lint` the development tools on top. A second call installs nothing.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
# Where torch comes from. The default build brings CUDA, 6.2 GB in all; PyTorch's site lists an index
# of CPU builds: make demo TORCH_INDEX=URL
TORCH_INDEX ?=

.PHONY: help setup demo check quick test lint format docs fuzz clean

help:
	@echo "make demo    show what akd does, on a built-in creature (writes out/demo)"
	@echo "make check   lint and the quick tests, side by side"
	@echo "make quick   the quick tests alone"
	@echo "make test    run all tests"
	@echo "make lint    ruff, pyright and import-linter"
	@echo "make docs    build the documentation site (writes out/site)"
	@echo "make fuzz    fuzz every parser for SECONDS (60) each"
	@echo "make format  let ruff format the code"
	@echo "make setup   install the package and the development tools, nothing else"
	@echo "make clean   remove the environment and out/"

setup: $(VENV)/.dev

# torch comes first and alone: with it in place, nothing else pulls another build of it.
$(VENV)/.demo: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "akd needs Python 3.11 or newer: set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) torch
	$(PIP) --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.demo package.json package-lock.json
	$(PIP) --editable '.[dev]'
	@if command -v npm >/dev/null; then npm ci --ignore-scripts --no-audit --no-fund --silent; \
	  else echo "npm was not found: tests against the Khronos validator will be skipped"; fi
	@touch $@

demo: $(VENV)/.demo
	$(BIN)/akd demo --out out/demo

# pyright keeps one core busy for most of the lint, so the tests run beside it.
check: setup
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target lint quick

quick: setup
	$(BIN)/pytest -n auto --dist worksteal -m "not slow" $(PYTEST)

test: setup
	$(BIN)/pytest -n auto --dist worksteal

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pyright

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "out/site/index.html; with search: python3 -m http.server --bind 127.0.0.1 -d out/site"

# Findings are left in out/fuzz/findings. ASSETS: files to start from.
SECONDS ?= 60
ASSETS ?= ../shared/assets/robustness
fuzz: setup
	$(PIP) --editable '.[fuzz]'
	$(BIN)/python -m fuzz --seconds $(SECONDS) --assets $(ASSETS)

clean:
	rm -rf $(VENV) node_modules out
