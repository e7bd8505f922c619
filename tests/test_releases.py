"""Models that releases stored, read by the present one.

``tests/data/models`` has a folder a release. ``python -m tests.test_releases VERSION`` adds one,
when the release is made and with its state checked out.
"""

import subprocess
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED

import joblib
import numpy as np
import pytest
import skops.io

from relvec import RVC, RVR, SparseBayesianRegressor
from relvec.basis import RBF, Bias, Concatenate, LinearKernel, Polynomial
from relvec.storage import TRUSTED
from tests.support import inputs
from tests.support.machines import answers, classes, counts

FOLDER = Path(__file__).parent / "data" / "models"
MODELS = {
    "regression": (RVR(), lambda y: y),
    "counts": (RVR(likelihood="poisson"), counts),
    "student": (RVR(likelihood="student_t"), lambda y: y),
    "augmented": (RVR(augment=True), lambda y: y),
    "two targets": (RVR(multi_output="shared"), lambda y: np.column_stack([y, y**2])),
    "two classes": (RVC(), classes(2)),
    "three classes": (RVC(), classes(3)),
    "one against the rest": (RVC(multi_class="ovr"), classes(3)),
    "product": (RVR(kernel=RBF(gamma=0.1) * (LinearKernel() + RBF(gamma=1.0))), lambda y: y),
    "mixed": (RVR(kernel=Concatenate([Bias(), Polynomial(3), RBF(gamma=0.3)])), lambda y: y),
    "learnt width": (RVR(gamma="ard"), lambda y: y),
    "linear": (SparseBayesianRegressor(), lambda y: y),
}
CALIBRATED = {"intervals": (RVR(), lambda y: y), "sets of classes": (RVC(), classes(3))}
RELEASES = sorted(path.name for path in FOLDER.iterdir())


def data():
    return inputs.noisy_sinc(30, seed=66, slope=0.1)


def said(model, X):
    """Predictions and probabilities, a row each, of every output."""
    found = model.predict(X, return_std=True) if hasattr(model, "sample_y") else [answers(model, X)]
    return np.column_stack(found)


def covered(calibrated, X):
    """Intervals or sets of classes, a row each."""
    if hasattr(calibrated, "predict_set"):
        return calibrated.predict_set(X, 0.8)
    return np.column_stack(calibrated.predict_interval(X, 0.8))


def file_of(name):
    return name.replace(" ", "-")


def read(release, name, form):
    path = FOLDER / release / f"{file_of(name)}.{form}"
    return skops.io.load(path, trusted=TRUSTED) if form == "skops" else joblib.load(path)


def write(folder, name, model):
    skops.io.dump(model, folder / f"{file_of(name)}.skops", compression=ZIP_DEFLATED)
    joblib.dump(model, folder / f"{file_of(name)}.joblib", compress=3)
    return model


def store(release):
    """Write what this release makes of the data, in both forms, and what its models predict."""
    folder, (X, y) = FOLDER / release, data()
    folder.mkdir()
    told = {}
    for name, (model, target) in MODELS.items():
        told[name] = said(write(folder, name, model.fit(X, target(y))), X)
    for name, (model, target) in CALIBRATED.items():
        calibrated = model.fit(X, target(y)).calibrate(X, target(y))
        told[name] = covered(write(folder, name, calibrated), X)
    np.savez_compressed(folder / "predictions.npz", **told)


@pytest.mark.parametrize("form", ["skops", "joblib"])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("release", RELEASES)
def test_a_stored_model_predicts_as_it_did(release, name, form):
    told = np.load(FOLDER / release / "predictions.npz")
    if name not in told:
        pytest.skip(f"{release} had no model called {name!r}")
    model, (X, _) = read(release, name, form), data()
    np.testing.assert_allclose(said(model, X), told[name], rtol=1e-9, atol=1e-12)
    assert "weight" in str(model.summary())
    assert np.isfinite(model.log_evidence_)


@pytest.mark.parametrize("form", ["skops", "joblib"])
@pytest.mark.parametrize("name", CALIBRATED)
@pytest.mark.parametrize("release", RELEASES)
def test_a_stored_calibration_covers_as_it_did(release, name, form):
    told = np.load(FOLDER / release / "predictions.npz")
    calibrated, (X, _) = read(release, name, form), data()
    np.testing.assert_allclose(covered(calibrated, X), told[name], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["regression", "product", "learnt-width"])
@pytest.mark.parametrize("release", RELEASES)
def test_a_pickle_is_read_where_nothing_was_imported(release, name):
    path = FOLDER / release / f"{name}.joblib"
    script = f"import joblib; print(joblib.load({str(path)!r}).log_evidence_)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stderr == ""
    assert float(done.stdout) == joblib.load(path).log_evidence_


def test_there_are_models_of_a_release():
    assert RELEASES


if __name__ == "__main__":
    store(sys.argv[1])
