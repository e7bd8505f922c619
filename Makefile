# make demo   set up, then fit a real data set and draw it (relvec-demo.png)
# make test   set up, then run the test suite
# make lint   set up, then ruff and mypy
# make dist   build wheel and source distribution, and check both (dist)
# make docs   set up, then build the documentation site (docs/_build/html)
# make report set up, then measure every table and figure of the paper again (report.html; an hour)
# make constraints   take the newest versions of all libraries into constraints.txt, if all passes
#
# `PYTHON=python3.12 make test` picks the interpreter, `VENV=.venv-3.12` another environment than .venv,
# and `CONSTRAINTS=` the newest versions of all libraries rather than those of constraints.txt.

PYTHON ?= python3
VENV ?= .venv
CONSTRAINTS ?= constraints.txt
COUNT ?= 200
SEED ?= 0
BIN := $(VENV)/bin
OLDEST := .venv-oldest/bin
DIST := .venv-dist/bin

# A worker on every core, of one thread each: more would wait for each other.
PYTEST = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(1)/python -m pytest -n auto --dist worksteal

.PHONY: demo test test-properties test-long test-slow test-oldest test-wheel mutants lint dist docs \
	report constraints clean

demo: $(VENV)/installed
	$(BIN)/relvec demo

test: $(VENV)/installed
	$(call PYTEST,$(BIN))

# Properties on 500 examples each; the suite above takes a few of each.
test-properties: $(VENV)/installed
	RELVEC_PROPERTIES=ci $(call PYTEST,$(BIN)) tests/properties

# The same on 20,000 examples each, drawn anew every time: hours.
test-long: $(VENV)/installed
	RELVEC_PROPERTIES=long $(call PYTEST,$(BIN)) tests/properties

# The statistical tests: many fits each, minutes in all.
test-slow: $(VENV)/installed
	$(call PYTEST,$(BIN)) -m slow

# Tests of the tests: COUNT faults of the mathematics, drawn by SEED, and which go unnoticed.
mutants: $(VENV)/installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.support.mutants $(COUNT) $(SEED)

# The same suite on the oldest libraries that pyproject.toml allows.
test-oldest: .venv-oldest/installed
	$(call PYTEST,$(OLDEST))

# Installs the wheel alone in an environment of its own, where the README has to work as printed.
test-wheel: dist
	$(DIST)/python -m tests.support.wheel dist

lint: $(VENV)/installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

dist: .venv-dist/installed
	rm -rf dist
	$(DIST)/python -m build --outdir dist
	$(DIST)/twine check --strict dist/*
	$(DIST)/cffconvert --validate

# Runs every example of the gallery. A warning of Sphinx or of an example, axes without labels, or a link
# to nowhere, fails, and so does a page whose formulas a browser does not show without a network.
docs: $(VENV)/documented
	rm -rf docs/reference/api docs/gallery
	$(BIN)/sphinx-build -W --keep-going -n -q -d docs/_build/doctrees docs docs/_build/html
	$(BIN)/python -m pytest -q -n 0 -m site tests/test_built_site.py

report: $(VENV)/installed
	$(BIN)/python -m benchmarks.paper all

constraints:
	rm -rf .venv-constraints
	$(MAKE) lint test docs VENV=.venv-constraints CONSTRAINTS=
	.venv-constraints/bin/python -m pip freeze --exclude-editable > constraints.txt

clean:
	rm -rf .venv .venv-* dist

# A stamp file marks a finished set-up, so that it happens once, and again when what it reads changes.
$(VENV)/installed: pyproject.toml $(CONSTRAINTS)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[cli,tests,lint]' $(CONSTRAINTS:%=--constraint %)
	touch $@

$(VENV)/documented: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable '.[docs]' $(CONSTRAINTS:%=--constraint %)
	touch $@

.venv-dist/installed:
	$(PYTHON) -m venv .venv-dist
	$(DIST)/python -m pip install --quiet build cffconvert twine
	touch $@

.venv-oldest/installed: pyproject.toml
	$(PYTHON) -m venv .venv-oldest
	$(OLDEST)/python -m pip install --quiet --editable '.[cli,tests]' \
		'scikit-learn==1.6.*' 'numpy==1.26.*' 'scipy==1.12.*' \
		'matplotlib==3.9.*' 'pyparsing==3.2.*' 'pandas==2.2.*' 'pyarrow==18.*' \
		'polars==1.17.*' 'pytest==8.*' 'pytest-xdist==3.6.*' \
		'skops==0.12.*' 'skl2onnx==1.19.*' 'onnx==1.17.*' 'onnxruntime==1.20.*'
	touch $@
