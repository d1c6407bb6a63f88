# `make check` is what CI runs (`.ci/run`). All targets use the environment that `make env` makes.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help env check format lint types test quick arrow ray pages fix clean

help:            ## what can be made
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/ —/'

env:             ## a virtual environment with everything for work on the library
	$(PYTHON) -m venv .venv && $(BIN)/pip install -q -e '.[dev]'

check: format lint types test arrow ray  ## what CI runs

format:          ## is every file formatted?
	$(BIN)/ruff format --check .

lint:            ## ruff's rules
	$(BIN)/ruff check .

types:           ## mypy, strict
	$(BIN)/mypy

test:            ## all tests
	$(BIN)/python -m pytest

quick:           ## all but the slow tests
	$(BIN)/python -m pytest -m 'not slow'

arrow:           ## the tests that need pyarrow; all others have run without it
	$(BIN)/pip install -q -e '.[arrow]' && $(BIN)/python -m pytest -q -m arrow; \
	status=$$?; $(BIN)/pip uninstall -q -y pyarrow; exit $$status

ray:             ## the tests that need Ray, which brings pandas and pyarrow: in an environment of its own
	$(PYTHON) -m venv .venv-ray && .venv-ray/bin/pip install -q -e '.[ray,endpoint,otel]' \
	  opentelemetry-sdk pytest hypothesis && \
	.venv-ray/bin/python -m pytest -q -rP $(patsubst %,tests/integrations/test_%.py,ray_map ray_tables reference foreign_frames)

pages:           ## write the reference pages that are made from the code
	for make in docs/reference/make_*.py; do PYTHONPATH=. $(BIN)/python $$make || exit 1; done

fix:             ## format and repair what ruff can
	$(BIN)/ruff check --fix . && $(BIN)/ruff format .

clean:           ## caches and builds, not your stores
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
