# Every target is one visible command that also works by hand. `make` alone prints this help.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SUITES ?= suites
ARGS   ?=

.PHONY: help sync lint test integration tools e2e sensitivity mutants faults lock clean

help: ## Print this help
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

$(VENV)/.synced: requirements/dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

sync: $(VENV)/.synced ## Make .venv with the locked dependencies and both programs

lint: sync ## ruff, mypy --strict, import-linter
	$(BIN)/python -m ruff check . && $(BIN)/python -m ruff format --check . && $(BIN)/python -m mypy && $(BIN)/lint-imports

test: sync ## Unit tests: virtual time, no cluster
	$(BIN)/python -m pytest tests/unit tests/differential -n 2 $(ARGS)

integration: sync tools ## Tests of our own parts on a real control plane
	$(BIN)/python -m pytest tests/integration $(ARGS)

tools: sync ## Install the pinned control plane programs into the cache
	$(BIN)/schedlab tools install

e2e: sync tools ## Run the suites against kube-scheduler and kubesched on real control planes
	$(BIN)/schedlab test $(SUITES) --scheduler kube-scheduler --scheduler kubesched $(ARGS)

sensitivity: sync tools ## Every suite test must fail once the plugin it names is disabled
	$(BIN)/schedlab test $(SUITES) --scheduler kube-scheduler --scheduler kubesched --sensitivity $(ARGS)

mutants: sync ## Every patch in tests/mutants must be killed by the tests it names
	$(BIN)/python -m tests.mutants $(ARGS)

faults: sync tools ## Faults injected into kubesched must show in the comparison with kube-scheduler
	$(BIN)/python -m tests.differential.faults $(ARGS)

lock: ## Refresh requirements/dev.txt from pyproject.toml (needs uv)
	uv pip compile --quiet --python-version 3.11 --universal --generate-hashes --no-emit-index-url --no-annotate --no-header --extra harness --group dev pyproject.toml --output-file requirements/dev.txt

clean: ## Remove what the targets made in this checkout
	rm -rf $(VENV) artifacts .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
