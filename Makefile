# Every target is one visible command that also works by hand. `make` alone prints this help.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SUITES ?= suites
SCHEDULERS ?= kube-scheduler kubesched
WORKERS ?= 2
ARGS   ?=

.PHONY: help sync lint test integration docs tools e2e sensitivity coverage leaders mutants faults switches bench lock clean

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

docs: sync tools ## Write the generated pages anew: the references, and those that compare both running schedulers
	$(BIN)/python -m kubesched.reference api > docs/api.md
	$(BIN)/python -m kubesched.reference configuration > docs/configuration.md
	KUBESCHED_UPDATE_DOCS=1 $(BIN)/python -m pytest $(addprefix tests/integration/kubesched/,test_side_by_side.py test_flags.py test_plugin_arguments.py) $(ARGS)

tools: sync ## Install the pinned control plane programs into the cache
	$(BIN)/schedlab tools install

e2e: sync tools ## Run the suites against kube-scheduler and kubesched on real control planes
	$(BIN)/schedlab test $(SUITES) -n $(WORKERS) $(addprefix --scheduler ,$(SCHEDULERS)) $(ARGS)

sensitivity: sync tools ## Every suite test must fail once its plugin is disabled, or its own mutation applied
	$(BIN)/schedlab test $(SUITES) -n $(WORKERS) $(addprefix --scheduler ,$(SCHEDULERS)) --sensitivity $(ARGS)

coverage: sync ## Write docs/coverage.md from the newest run of the suites
	$(BIN)/schedlab coverage artifacts/latest > docs/coverage.md

leaders: sync tools ## Kill the leader of three replicas again and again while 5,000 pods arrive
	$(BIN)/python -m tests.bench.leaders $(ARGS)

mutants: sync ## Every patch in tests/mutants must be killed by the tests it names
	$(BIN)/python -m tests.mutants $(ARGS)

faults: sync tools ## Faults injected into kubesched must show in the comparison with kube-scheduler
	$(BIN)/python -m tests.differential.faults $(ARGS)

switches: sync tools ## Compare decisions under every switch of the configuration, one by one
	$(BIN)/python -m tests.differential.switches $(ARGS)

bench: sync ## Decisions per second of the pure core, and states per second of explain
	$(BIN)/python -m tests.bench.core $(ARGS)
	$(BIN)/python -m tests.bench.explain

lock: ## Refresh requirements/dev.txt from pyproject.toml (needs uv)
	uv pip compile --quiet --python-version 3.11 --universal --generate-hashes --no-emit-index-url --no-annotate --no-header --extra harness --group dev pyproject.toml --output-file requirements/dev.txt

clean: ## Remove what the targets made in this checkout
	rm -rf $(VENV) artifacts .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
