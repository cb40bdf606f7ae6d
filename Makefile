# Every target sets up what it needs: only make and Python (3.11 to 3.14) must be there.
#   make run ARGS="-n 60 -o /tmp/x"     a small benchmark
#   make test PYTHON=python3.13         set up with a Python of your choice

PYTHON ?=
ARGS ?=
PYTHONS := $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11)
BIN := .venv/bin
READY := .venv/.ready

# With uv when it is on PATH (one inside .venv would not outlive a new .venv), else with pip.
UV := $(filter-out $(CURDIR)/$(BIN)/uv,$(shell command -v uv 2>/dev/null))
ifneq ($(UV),)
NEEDS := sys
MAKE_VENV = "$(UV)" venv --quiet --python "$$py" .venv
INSTALL = "$(UV)" pip install --quiet --python $(BIN)/python
else
NEEDS := sys, venv, ensurepip
MAKE_VENV = "$$py" -m venv .venv
# A .venv that uv made holds no pip.
INSTALL = { test -x $(BIN)/pip || $(BIN)/python -m ensurepip --default-pip >/dev/null; } && \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check
endif

# Sets $$py to the first of PYTHONS that will do (the one under it, if that is a venv's), or stops.
FIND_PYTHON = py=$$(for p in $(PYTHONS); do "$$p" -c 'import $(NEEDS); \
	(3, 11) <= sys.version_info < (3, 15) or sys.exit(1); print(sys._base_executable)' \
	2>/dev/null && break; done); \
	test -n "$$py" || { echo "error: Python 3.11 to 3.14 (with venv) is needed, and none of" \
	"these is one: $(PYTHONS). Name one with PYTHON=..." >&2; exit 1; }

.PHONY: help run test test-all test-oldest lint format docs bench lab notebooks lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

run: $(READY) ## run the benchmark experiment; more options in ARGS
	$(BIN)/kozel run experiments/benchmark.toml $(ARGS)

# A process for each core; a file's tests stay together, since they share what they have played.
PARALLEL := -n auto --dist loadfile

test: $(READY) ## run the tests but the slow ones
	$(BIN)/python -m pytest $(PARALLEL) $(ARGS)

test-all: $(READY) ## run all tests
	$(BIN)/python -m pytest $(PARALLEL) -m "" $(ARGS)

# Beside tests of play: the files whose libraries differ most from version to version. What a newer
# library says of an older one's calls (matplotlib's of pyparsing) is no error there.
OLDEST := .venv-oldest
OLDEST_TESTS := cli match rules record simulation tournaments store rounds stats ratings sequential \
	plots style report commands cluster jupyter

test-oldest: $(OLDEST)/.ready ## run some tests with the oldest libraries that are allowed
	$(OLDEST)/bin/python -m pytest -o filterwarnings= -o cache_dir=$(OLDEST)/.pytest_cache \
		$(OLDEST_TESTS:%=tests/test_%.py) $(ARGS)

$(OLDEST)/.ready: pyproject.toml
	@$(FIND_UV) && echo "Setting up $(OLDEST) with the oldest libraries" && rm -rf $(OLDEST) && \
	"$$uv" venv --quiet --no-config --python 3.11 $(OLDEST) && \
	"$$uv" pip install --quiet --no-config --python $(OLDEST)/bin/python \
		--resolution lowest-direct --extra dask --extra notebook --group dev -r pyproject.toml && \
	"$$uv" pip install --quiet --no-config --python $(OLDEST)/bin/python \
		--no-deps --no-build-isolation -e . && touch $@

lint: $(READY) ## check style and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: $(READY) ## put the code in shape
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(READY) ## write what the pages show of commands, Python and studies again
	$(BIN)/python tests/command_page.py
	$(BIN)/python tests/study_pages.py
	$(BIN)/python tests/write_pages.py

bench: $(READY) ## measure the speed, and write benchmarks/results.md
	@$(BIN)/python -c 'import dominoes, pyspiel' 2>/dev/null || \
	$(INSTALL) --no-build-isolation -e ".[bench]" || echo "without dominoes and open-spiel"
	$(BIN)/python benchmarks/report.py $(ARGS)

lab: $(READY) ## open the first notebook in JupyterLab
	$(BIN)/jupyter lab notebooks/01_quickstart.ipynb $(ARGS)

notebooks: $(READY) ## execute the notebooks again, in place
	$(BIN)/python -m nbconvert --to notebook --execute --inplace \
		--ExecutePreprocessor.record_timing=False notebooks/*.ipynb

# Sets $$uv, which is fetched into .venv where there is none.
FIND_UV = uv=$$(command -v uv || command -v $(BIN)/uv) || { \
	test -x $(BIN)/pip || { $(FIND_PYTHON); rm -rf .venv && $(MAKE_VENV); } && \
	$(BIN)/python -m pip install --quiet uv && uv=$(BIN)/uv; }

lock: ## remake requirements.lock; newer versions with ARGS=--upgrade
	@$(FIND_UV) && env -u UV_FIND_LINKS "$$uv" pip compile pyproject.toml --extra notebook --group dev \
		--universal --python-version 3.11 --generate-hashes --no-annotate \
		--no-config --no-emit-index-url --no-emit-find-links \
		--custom-compile-command "make lock" --quiet --output-file requirements.lock $(ARGS)

clean: ## remove .venv, caches and built files
	rm -f .venv/.locked $(READY)
	rm -rf .venv $(OLDEST) build dist benchmarks/build .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -type d \( -name __pycache__ -o -name .ipynb_checkpoints \) -prune -exec rm -rf {} +

# A changed lock makes a new .venv; a changed pyproject.toml only installs the project again.
# Each mark is set last, so a set-up that was cut short starts over.
.venv/.locked: requirements.lock
	@$(FIND_PYTHON); echo "Setting up .venv with $$py (this may take some minutes)" && \
	rm -rf .venv && $(MAKE_VENV) && $(INSTALL) --require-hashes -r $< && touch $@

$(READY): .venv/.locked pyproject.toml
	@$(INSTALL) --no-deps --no-build-isolation -e . && touch $@
