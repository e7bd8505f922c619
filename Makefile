# make demo   set up, then fit a real data set and draw it (relvec-demo.png)
# make test   set up, then run the test suite
# make lint   set up, then ruff and mypy
# make dist   build wheel and source distribution, and check both (dist)
# make docs   set up, then build the documentation site (docs/_build/html)
# make report set up, then measure every table and figure of the paper again (report.html; an hour)
#
# `PYTHON=python3.12 make test` picks the interpreter.

PYTHON ?= python3
BIN := .venv/bin
OLDEST := .venv-oldest/bin
DIST := .venv-dist/bin

.PHONY: demo test test-properties test-long test-slow test-oldest test-wheel lint dist docs report clean

demo: .venv/installed
	$(BIN)/relvec demo

test: .venv/installed
	$(BIN)/python -m pytest

# Properties on 500 examples each; the suite above takes a few of each.
test-properties: .venv/installed
	RELVEC_PROPERTIES=ci $(BIN)/python -m pytest tests/properties

# The same on 20,000 examples each, drawn anew every time: hours.
test-long: .venv/installed
	RELVEC_PROPERTIES=long $(BIN)/python -m pytest tests/properties

# The statistical tests: many fits each, minutes in all.
test-slow: .venv/installed
	$(BIN)/python -m pytest -m slow

# The same suite on the oldest libraries that pyproject.toml allows.
test-oldest: .venv-oldest/installed
	$(OLDEST)/python -m pytest

# Installs the wheel alone in an environment of its own, where the README has to work as printed.
test-wheel: dist
	$(DIST)/python -m tests.support.wheel dist

lint: .venv/installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

dist: .venv-dist/installed
	rm -rf dist
	$(DIST)/python -m build --outdir dist
	$(DIST)/twine check --strict dist/*
	$(DIST)/cffconvert --validate

# Runs every example of the gallery; a warning of Sphinx or of an example, or a link to nowhere, fails.
docs: .venv/documented
	rm -rf docs/reference/api docs/gallery
	$(BIN)/sphinx-build -W --keep-going -n -q -d docs/_build/doctrees docs docs/_build/html

report: .venv/installed
	$(BIN)/python -m benchmarks.paper all

clean:
	rm -rf .venv .venv-dist .venv-oldest dist

# A stamp file marks a finished set-up, so that it happens once (and again when pyproject.toml changes).
.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[cli,tests,lint]'
	touch $@

.venv/documented: .venv/installed
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
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
		'polars==1.17.*' 'pytest==8.*' \
		'skl2onnx==1.19.*' 'onnx==1.17.*' 'onnxruntime==1.20.*'
	touch $@
