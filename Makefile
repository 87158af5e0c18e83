# Every target creates what it needs; `make` alone lists them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHONS := $(PYTHON) python3.14 python3.13 python3.12 python3.11 python3
WORKERS ?= 2
IN_PARALLEL = -n $(WORKERS) --dist worksteal --durations 10
SERVER_TESTS ?= tests/store/contract \
  $(shell grep -rl --include='test_*.py' --exclude-dir=contract 'mark\.integration' tests)

# The tests of the folders without IO: they alone are traced, because tracing costs a third of the time.
PURE_TESTS := tests/compiler tests/resolution tests/schema tests/window $(wildcard tests/store/test_*.py)

BIN := .venv/bin
PY := $(BIN)/python
CORE := .venv/.installed-core
NEO4J := .venv/.installed-neo4j
DEV := .venv/.installed-dev

# With the checkout as current directory a third party's `import schema` would find our folder.
export PYTHONSAFEPATH := 1
# Without bytecode each run would compile every module again, and each command of a test the package.
unexport PYTHONDONTWRITEBYTECODE

# Each commit of a test waits for the disk. Where memory is plentiful, the files of tests are kept there.
ROOMY_KB := 8000000
SHM_KB := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $$4 }')
FREE_KB := $(shell awk '/^MemAvailable/ { print $$2 }' /proc/meminfo 2>/dev/null)
ifeq ($(shell [ "0$(SHM_KB)" -gt $(ROOMY_KB) ] && [ "0$(FREE_KB)" -gt $(ROOMY_KB) ] && echo yes),yes)
test test-all test-neo4j: export TMPDIR := /dev/shm
endif

# uv trusts certificates of its own, pip those of the machine, which may have others.
export UV_SYSTEM_CERTS := 1

PIP := timeout 900 $(PY) -m pip install --quiet --disable-pip-version-check --timeout $${PIP_DEFAULT_TIMEOUT:-60}
install = $(PIP) $(1) || { echo "the download failed; trying once more" >&2; sleep 3; $(PIP) $(1); }

.PHONY: help demo test test-all test-neo4j nightly lint check bench docs neo4j lock clean

help:
	@echo "make demo       see it work: the light core and a guided tour"
	@echo "make test       the fast tests"
	@echo "make test-all   the fast and the slow tests, with the coverage of the pure folders"
	@echo "make test-neo4j the tests against a Neo4j server"
	@echo "make nightly    everything at full length: both servers, browsers, environments"
	@echo "make lint       format, lint, types"
	@echo "make check      the same with documentation, layout and import time"
	@echo "make bench      measure every claim that carries a number"
	@echo "make docs       build the documentation site into site/"
	@echo "make neo4j      start a Neo4j server for the tests (needs Java and Maven)"
	@echo "make lock       pin every package of the image by version and hash"
	@echo "make clean      remove the environment and everything built"

demo: $(CORE)
	@$(BIN)/tenure demo

test: $(DEV)
	@$(BIN)/pytest -q -m "not slow and not integration and not nightly" $(IN_PARALLEL) $(PYTEST_ARGS)

test-all: $(DEV)
	@$(BIN)/pytest -q -m "not integration and not nightly" $(IN_PARALLEL) --cov --cov-report= $(PYTEST_ARGS) $(PURE_TESTS)
	@$(BIN)/coverage report --skip-covered --show-missing --fail-under=95
	@$(BIN)/pytest -q -m "not integration and not nightly" $(IN_PARALLEL) $(PYTEST_ARGS) tests \
	  $(addprefix --ignore=,$(PURE_TESTS))

# A server that lives for minutes spends most of its CPU on compiling itself: the quick compiler of
# the JVM is enough for it.
test-neo4j: export JAVA_TOOL_OPTIONS := -XX:TieredStopAtLevel=1

# Only the files that ask for a server are collected. Two workers with a server each take longer
# on two cores: each server compiles its statements anew.
test-neo4j: $(DEV)
	@$(BIN)/pytest -q -m "integration and not nightly" --durations 10 $(PYTEST_ARGS) $(SERVER_TESTS)

nightly:
	@TESTS_NIGHTLY=1 .ci/run

# mypy refuses a root package in a folder whose name is no identifier: it gets a link named tenure.
# Each of the two checkers of types uses one core, so they run side by side.
lint: $(DEV)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@link=$$(mktemp -d); trap 'rm -rf "$$link"' EXIT; ln -s "$$PWD" "$$link/tenure"; \
	MYPYPATH="$$link" $(BIN)/mypy -p tenure & mypy=$$!; \
	if command -v node >/dev/null; then $(BIN)/pyright --pythonpath $(PY); \
	else echo "pyright is left out: it runs on Node"; fi; \
	wait "$$mypy"

check: $(DEV) lint
	@$(BIN)/pytest -q tests/test_docs.py tests/test_imports.py tests/test_shape.py tests/test_surface.py tests/test_weight.py

bench: $(DEV)
	@shopt -s nullglob; scripts=(bench/[a-z]*.py); \
	if [ $${#scripts[@]} -eq 0 ]; then echo "bench/ holds no script yet: nothing to measure"; fi; \
	for script in "$${scripts[@]}"; do echo "== $$script"; $(PY) "$$script"; done

# The builder stands in an environment of its own; what it reads is made anew first.
docs: $(DEV)
	@$(PY) tests/site_pages.py build/docs
	@$(BIN)/uv tool run --from 'zensical>=0.0.73,<0.2' zensical build --clean --strict
	@$(PY) tests/site_pages.py build/docs site

neo4j: $(NEO4J)
	@$(PY) tests/neo4j_server.py

# The extras that the image carries; tests/test_containers.py holds the file to pyproject.toml.
lock: $(DEV)
	@$(BIN)/uv pip compile pyproject.toml --extra media --extra neo4j --extra s3 --extra server --universal \
	  --python-version 3.13 --generate-hashes --no-header --upgrade --quiet -o requirements.lock

clean:
	@rm -rf .venv build dist site .cache *.egg-info .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A name on the PATH may be a shim that cannot run: each candidate must prove its version.
$(PY):
	@for python in $(PYTHONS); do \
	  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  "$$python" -m venv --clear .venv && exit 0; \
	  rm -rf .venv; \
	  echo "$$python could not make .venv; on Debian: apt install python3-venv" >&2; exit 1; \
	done; \
	echo "no Python 3.11 or newer on the PATH; install one, or name it: make PYTHON=/path/to/python3" >&2; \
	exit 1

$(CORE): pyproject.toml | $(PY)
	@echo "installing the light core into .venv"
	@$(call install,-e .)
	@touch $@

# A server for one's own use needs the driver alone, not the development tools.
$(NEO4J): pyproject.toml | $(PY)
	@echo "installing the driver for Neo4j into .venv"
	@$(call install,-e ".[neo4j]")
	@touch $(CORE) $@

$(DEV): pyproject.toml | $(PY)
	@echo "installing the development tools into .venv"
	@$(call install,-e ".[dev]")
	@touch $(CORE) $(NEO4J) $@
