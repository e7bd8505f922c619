"""In a notebook an estimator shows scikit-learn's block and, once fitted, facts of the fit."""

import json
import re
import subprocess
import sys
from html import unescape

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

from relvec import RVC, RVR
from relvec.datasets import make_sinc

NASTY = "<b>hill</b> & more"


@pytest.fixture(scope="module")
def data():
    return make_sinc(60, noise_scale=0.1, random_state=0)


def shown(estimator):
    """What a notebook takes."""
    return estimator._repr_mimebundle_()["text/html"]


def facts(html):
    """Names and texts of the rows of the table."""
    rows = re.findall(r"<th scope=\"row\"[^>]*>(.*?)</th><td[^>]*>(.*?)</td>", html)
    return {unescape(name): unescape(text) for name, text in rows}


def test_a_fit_is_told_under_the_block_of_scikit_learn(data):
    model = RVR(gamma=0.1).fit(*data)
    told = facts(shown(model))
    assert told == {
        "functions kept": f"{len(model.relevance_)}, fitted to 60 rows",
        "log evidence": f"{model.log_evidence_:.2f} nats",
        "noise sd": f"{np.sqrt(model.noise_variance_):.4g}",
        "status": model.status_,
    }
    assert facts(model._repr_html_()) == told
    assert "sk-estimator" in shown(model)
    assert model._repr_mimebundle_()["text/plain"] == repr(model)


def test_every_kind_of_estimator_tells_its_fit(machine, data):
    X, y = data
    model = clone(machine.estimator).fit(X, machine.target(y))
    assert facts(shown(model))["status"] == model.status_


def test_other_noise_has_its_own_words(data):
    X, y = data
    robust = RVR(gamma=0.1, likelihood="student_t").fit(X, y)
    assert facts(shown(robust))["noise scale"] == (
        f"{robust.noise_scale_:.4g}, with {robust.degrees_of_freedom_:.4g} degrees of freedom"
    )
    several = RVR(gamma=0.1).fit(X, np.column_stack([y, 2 * y]))
    sd = np.sqrt(several.noise_variance_)
    assert facts(shown(several))["noise sd"] == f"{sd[0]:.4g}, {sd[1]:.4g}"
    counts = RVR(gamma=0.1, likelihood="poisson").fit(X, np.round(10 * np.abs(y)))
    assert not {"noise sd", "noise scale"} & set(facts(shown(counts)))


def test_names_of_classes_are_text(data):
    X, y = data
    model = RVC(multi_class="ovr").fit(X, np.where(y > 0.3, NASTY, np.where(y < 0, "a", "b")))
    assert NASTY in model.status_
    told = shown(model).rpartition("<table")[2]
    assert NASTY not in told
    assert NASTY in facts("<table" + told)["status"]


def test_before_a_fit_the_block_is_that_of_scikit_learn():
    model = RVR(gamma=0.1)
    ours, theirs = (
        re.sub(r"-\d+", "", html) for html in (shown(model), estimator_html_repr(model))
    )
    assert ours == theirs


def test_where_scikit_learn_shows_text_so_do_we(data):
    model = RVR(gamma=0.1).fit(*data)
    with config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
        assert not hasattr(model, "_repr_html_")


NOTEBOOK = """
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from relvec import RVR
from relvec.datasets import make_sinc
X, y = make_sinc(60, noise_scale=0.1, random_state=0)
model = make_pipeline(StandardScaler(), RVR(gamma=1.0)).fit(X, y)
model[-1]
---
model
---
model[-1].summary()
"""


@pytest.mark.slow  # starts a kernel
def test_a_notebook_that_runs_shows_it_in_a_browser(data, tmp_path, browser):
    cells = [
        {
            "cell_type": "code",
            "id": str(number),
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": source.strip(),
        }
        for number, source in enumerate(NOTEBOOK.split("---"))
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {
        "cells": cells,
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path = tmp_path / "fit.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    words = ["-m", "nbconvert", "--execute", "--to", "html", "--template", "basic"]
    subprocess.run([sys.executable, *words, str(path)], check=True, capture_output=True)

    page = browser.open(path.with_suffix(".html"))
    model = make_pipeline(StandardScaler(), RVR(gamma=1.0)).fit(*data)
    lines = page.text.splitlines()
    for name, text in facts(shown(model[-1])).items():
        assert f"{name}\t{text}" in lines
    # one of the model, and one above its summary
    assert page.of("document.querySelectorAll('table.relvec-facts').length") == 2
    assert page.of("document.querySelectorAll('div.sk-top-container').length") == 2
    assert "weight_precision" in page.text
