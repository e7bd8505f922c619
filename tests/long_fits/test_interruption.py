"""Ctrl-C ends a fit with the best model so far, if there is one."""

import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning

from relvec import RVC, RVR
from relvec._fitting.alternating import fit
from relvec._runner import Runner
from relvec.basis import RBF
from relvec.exceptions import InterruptedWarning
from tests.long_fits.fits import FITS, NAMES, assert_same_fit, curve, ending, iris, two_inputs

passing = partial(ending, passes=True)

INTERRUPTED = "^interrupted: the model is the best so far$"


def assert_usable(model, X, y):
    """It predicts, says that it was interrupted, and its evidence is that of its functions."""
    predicted = model.predict_proba(X) if is_classifier(model) else model.predict(X)
    assert np.isfinite(predicted).all()
    assert model.diagnose().codes[0] == "interrupted"
    assert model.log_evidence(X, y) == pytest.approx(model.log_evidence_, rel=1e-6)
    assert model.history_


@pytest.mark.filterwarnings("ignore::relvec.exceptions.NoiseFloorWarning")
@pytest.mark.parametrize("name", NAMES)
def test_ctrl_c_ends_a_fit_with_the_best_model_so_far(name, monkeypatch):
    model, data = FITS[name]
    X, y = data()
    with passing(monkeypatch, None, 0) as found:
        undisturbed = clone(model).fit(X, y)
    for at in (len(found) // 2, len(found) - 1):
        interrupted = clone(model)
        with (
            passing(monkeypatch, KeyboardInterrupt(), at),
            pytest.warns(InterruptedWarning, match=INTERRUPTED),
        ):
            interrupted.fit(X, y)
        assert_usable(interrupted, X, y)
        assert interrupted.n_iter_ <= undisturbed.n_iter_ + len(interrupted.fit_result_.outputs)
        assert interrupted.log_evidence_ < undisturbed.log_evidence_ + 1


@pytest.mark.parametrize("name", NAMES)
def test_before_the_first_pass_nothing_is_fitted(name, monkeypatch):
    def interrupted(runner, state):
        raise KeyboardInterrupt

    monkeypatch.setattr(Runner, "_timed", interrupted)
    model, data = FITS[name]
    with pytest.raises(KeyboardInterrupt):
        clone(model).fit(*data())


@pytest.mark.filterwarnings("ignore::relvec.exceptions.InterruptedWarning")
def test_more_passes_make_better_models(monkeypatch):
    """No pass of expectation-maximisation lowers the evidence."""
    X, y = curve()
    reached = []
    for at in range(2, 9):
        with passing(monkeypatch, KeyboardInterrupt(), at):
            reached.append(RVR(gamma=0.1, solver="em").fit(X, y).log_evidence_)
    assert (np.diff(reached) > 0).all()


def test_a_second_ctrl_c_ends_everything(monkeypatch):
    """Machines that are not begun make a pass each, and the second comes in one of them."""
    fits = []

    def interrupted(*given):
        fits.append(given)
        if len(fits) > 1:
            raise KeyboardInterrupt
        return fit(*given)

    monkeypatch.setattr("relvec._fitting.problem.fit", interrupted)
    with passing(monkeypatch, KeyboardInterrupt(), 2), pytest.raises(KeyboardInterrupt):
        RVC(gamma=0.3, multi_class="ovr").fit(*iris())
    assert len(fits) == 2


class Impatient(RBF):
    """A kernel whose user presses Ctrl-C when it is evaluated for the `at`th time."""

    evaluated = 0
    at = 0

    def k(self, X, Z):
        type(self).evaluated += 1
        if type(self).evaluated == type(self).at:
            raise KeyboardInterrupt
        return super().k(X, Z)


def test_ctrl_c_while_scales_are_learnt_ends_with_the_best_of_them(monkeypatch):
    X, y = two_inputs()
    kernel = Impatient(gamma="ard")
    first = RVR(gamma="scale").fit(X, y)
    undisturbed = RVR(kernel=kernel).fit(X, y)
    total = Impatient.evaluated
    for at in (total // 4, total // 2, total - 1):
        monkeypatch.setattr(Impatient, "evaluated", 0)
        monkeypatch.setattr(Impatient, "at", at)
        with pytest.warns(InterruptedWarning):
            model = RVR(kernel=kernel).fit(X, y)
        monkeypatch.setattr(Impatient, "at", 0)
        assert_usable(model, X, y)
        assert first.log_evidence_ < model.log_evidence_ <= undisturbed.log_evidence_ + 1


def test_ctrl_c_in_the_first_evaluation_is_ctrl_c(monkeypatch):
    monkeypatch.setattr(Impatient, "evaluated", 0)
    monkeypatch.setattr(Impatient, "at", 1)
    with pytest.raises(KeyboardInterrupt):
        RVR(kernel=Impatient(gamma=0.1)).fit(*curve())


def test_an_interrupted_fit_goes_on_where_there_is_a_checkpoint(tmp_path, monkeypatch):
    X, y = curve()
    path = tmp_path / "fit.checkpoint"
    model = RVR(gamma=0.1, n_starts=3, checkpoint=path)
    with passing(monkeypatch, KeyboardInterrupt(), 12), pytest.warns(InterruptedWarning):
        clone(model).fit(X, y)
    assert path.exists()
    assert_same_fit(clone(model).fit(X, y), RVR(gamma=0.1, n_starts=3).fit(X, y))
    assert not path.exists()


def test_the_warning_is_one_of_convergence():
    """Whoever looks after fits that did not converge looks after these as well."""
    assert issubclass(InterruptedWarning, ConvergenceWarning)


# Thousands of passes, of which the rows fill the pipe: the fit cannot end before they are read.
# Python heeds the signal only where whoever started it did not have it ignored.
SCRIPT = """
import signal
import warnings
from relvec import RVR
from relvec.datasets import make_sinc

signal.signal(signal.SIGINT, signal.default_int_handler)
X, y = make_sinc(200, noise_scale=0.1, random_state=0)
with warnings.catch_warnings(record=True) as caught:
    model = RVR(gamma=1.0, solver="em", tol=1e-9, max_iter=10**6, verbose=1).fit(X, y)
print("ended:", [type(one.message).__name__ for one in caught], model.predict(X).shape)
"""


def test_the_signal_of_a_terminal_ends_a_fit():
    command = [sys.executable, "-u", "-c", SCRIPT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(10):
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        *_, last = process.stdout
    assert last == "ended: ['InterruptedWarning'] (200,)\n"
    assert process.returncode == 0
