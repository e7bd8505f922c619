"""The lines are the history of the fit."""

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from relvec import RVC, RVR
from relvec.datasets import make_sinc
from relvec.display import EvidenceDisplay


@pytest.fixture(scope="module")
def data():
    return make_sinc(60, noise_scale=0.1, random_state=0)


def test_the_lines_are_the_history_and_end_in_the_model(data):
    model = RVR(gamma=0.1, solver="fixed_point").fit(*data)
    display = EvidenceDisplay.from_estimator(model)
    (evidence,), (functions,) = display.ax_.lines, display.functions_ax_.lines
    passes = np.arange(1, len(model.history_) + 1)
    np.testing.assert_array_equal(
        evidence.get_xydata(), np.column_stack([passes, [p.log_evidence for p in model.history_]])
    )
    np.testing.assert_array_equal(functions.get_ydata(), [p.n_active for p in model.history_])
    assert functions.get_ydata()[-1] == len(model.relevance_)
    assert display.ax_.get_legend() is None


def test_every_machine_has_a_line():
    X, y = load_iris(return_X_y=True)
    model = RVC(multi_class="ovr").fit(X, y)
    display = EvidenceDisplay.from_estimator(model)
    assert len(display.ax_.lines) == len(display.functions_ax_.lines) == 3
    last = [line.get_ydata()[-1] for line in display.ax_.lines]
    assert sum(last) == pytest.approx(model.log_evidence_)
    looks = {(line.get_linestyle(), line.get_color()) for line in display.ax_.lines}
    assert len(looks) == 3
    assert len(display.ax_.get_legend().get_texts()) == 3


def test_pipelines_and_given_axes_will_do(data):
    figure, ax = pyplot.subplots()
    model = make_pipeline(StandardScaler(), RVR()).fit(*data)
    display = EvidenceDisplay.from_estimator(model, ax=ax)
    assert display.ax_ is ax
    assert figure.axes == [ax, display.functions_ax_]


def test_bad_input_is_named(data):
    with pytest.raises(TypeError, match="must be an estimator of relvec"):
        EvidenceDisplay.from_estimator(SVR().fit(*data))
    with pytest.raises(NotFittedError):
        EvidenceDisplay.from_estimator(RVR())
    alone = pyplot.figure().add_axes((0.1, 0.1, 0.8, 0.8))
    with pytest.raises(ValueError, match="ax must be one of a figure's subplots"):
        EvidenceDisplay.from_estimator(RVR().fit(*data), ax=alone)
