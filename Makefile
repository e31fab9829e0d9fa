# Two commands do everything: make demo, make test. Both set up a virtual environment in .venv first.
# GPU users: see "With and without a GPU" in docs/install.md before the first make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# With Python's usual cache of compiled modules, which some environments switch off; dots are followed by their count.
TESTS = PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n auto --maxprocesses 4 \
	-o console_output_style=count

.PHONY: demo quick test test-slow test-paper test-integrations docs lint types format clean

demo: $(VENV)/.installed
	$(BIN)/python examples/bank.py
	@echo
	@echo "See a word move with its sentence, in your browser:  $(BIN)/elmo explore"

test: $(VENV)/.installed-dev
	$(TESTS) -m "not slow"

test-slow: $(VENV)/.installed-dev
	$(TESTS) -m slow

# The house, the reference, the engine, the model and the texts: what most changes touch, in under a minute.
quick: $(VENV)/.installed-dev
	$(TESTS) -m "not slow" \
		tests/test_house.py tests/test_reference.py tests/engine tests/model tests/text

# The laboratory's, quick and slow.
test-paper: $(VENV)/.installed-dev
	$(TESTS) paper/tests

# spaCy, scikit-learn, sentence-transformers, flair, Ray: each in a new environment, with the newest versions, its guide
# and its tests; and the recipes (some minutes and 3 GB). .ci/integrations --record notes the versions in the guides.
test-integrations: $(VENV)/.installed-dev
	VENV=$(VENV) .ci/integrations all

# The documentation as a site, in an environment of its own: build/site/site/index.html.
docs: .venvs/docs/.installed $(VENV)/.installed-dev
	$(BIN)/elmo explore --export build/live-explorer --force --quiet
	.venvs/docs/bin/python docs/site/build.py

.venvs/docs/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venvs/docs
	.venvs/docs/bin/python -m pip install --quiet -c constraints.txt -e '.[docs,serve]'
	touch $@

# Types, by a checker whose every part is on PyPI, in an environment of its own: it brings 280 MB.
types: .venvs/types/.installed $(VENV)/.installed-dev
	.venvs/types/bin/basedpyright --pythonpath $(BIN)/python

.venvs/types/.installed: pyproject.toml
	$(PYTHON) -m venv .venvs/types
	.venvs/types/bin/python -m pip install --quiet basedpyright==1.40.2
	touch $@

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check . && $(BIN)/ruff format --check .

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix . && $(BIN)/ruff format .

clean:
	rm -rf $(VENV) demo-output

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt hatch_build.py $(wildcard src/elmo/ops/native/*/*.[ch]) | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[serve]'
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed paper/pyproject.toml
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[data,dev,static]' -e paper
	touch $@
