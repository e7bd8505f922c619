"""A fitted model says what it was fitted to say, whatever its parameters are set to later."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from relvec import (
    RVC,
    RVR,
    EffectsClassifier,
    EffectsRegressor,
    SparseBayesianClassifier,
    SparseBayesianRegressor,
    compare,
)
from relvec.export import to_c

DRAW = np.random.RandomState(3)
X = DRAW.standard_normal((60, 2))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * DRAW.standard_normal(60)
TWO, THREE = (Y > 0).astype(int), np.digitize(Y, [-0.7, 0.7])
WEIGHT = {0: 2.0, 1: 1.0}
MODELS = {
    "RVR": (RVR(), Y),
    "augmented": (RVR(augment=True), Y),
    "student_t": (RVR(likelihood="student_t"), Y),
    "several targets": (RVR(), np.column_stack([Y, X[:, 0]])),
    "weights with a prior": (RVR(solver="em", alpha_prior=(2.0, 1.0)), Y),
    "RVC": (RVC(), TWO),
    "weighted": (RVC(class_weight=WEIGHT), TWO),
    "at the mode": (RVC(proba="mode"), THREE),
    "one against the rest": (RVC(), THREE),
    "softmax": (RVC(multi_class="multinomial"), THREE),
    "linear": (SparseBayesianRegressor(), Y),
    "linear softmax": (SparseBayesianClassifier(), THREE),
    "effects": (EffectsRegressor(), Y),
    "effects of classes": (EffectsClassifier(class_weight="balanced"), TWO),
}
#: Two values of every parameter; those of a fit are not tried.
OTHERS = {
    "alpha_prior": [(0.0, 0.0), (5.0, 3.0)],
    "approximation": ["laplace", "variational"],
    "augment": [False, True],
    "beta_prior": [(0.0, 0.0), (5.0, 3.0)],
    "categorical": [(), (0,)],
    "centers": [None, 4],
    "checkpoint": [None, "there/is/none"],
    "class_weight": [None, {0: 7.0, 1: 0.5, 2: 3.0}],
    "coef0": [0.0, 3.0],
    "degree": [3, 2],
    "fit_intercept": [True, False],
    "gamma": ["scale", 0.01],
    "groups": [None, [1, 1]],
    "interactions": ["auto", None],
    "kernel": ["rbf", "linear"],
    "likelihood": ["gaussian", "poisson"],
    "max_iter": [1000, 1],
    "memory_limit": [1e9, 1.0],
    "multi_class": ["ovr", "multinomial"],
    "multi_output": ["shared", "independent"],
    "n_jobs": [None, 2],
    "n_starts": [1, 3],
    "noise": ["constant", "learnt"],
    "noise_correlation": [None, "ar1"],
    "noise_variance": [None, 17.0],
    "proba": ["integrated", "mode"],
    "random_state": [None, 5],
    "remainder": [None, "process"],
    "remainder_centers": [None, 3],
    "solver": ["sequential", "fixed_point"],
    "tol": [0.03, 10.0],
    "verbose": [0, 1],
}
ASKED = ("predict_latent", "predict_interval", "predict_proba", "predict_log_proba")
ASKED += ("decision_function", "predict_effects")
JUDGED = ("log_evidence", "predict_log_density", "score")

pytestmark = pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")


def says(model, y):
    """All that a fitted model says, as arrays and texts."""
    told = {asked: getattr(model, asked)(X) for asked in ASKED if hasattr(model, asked)}
    told |= {asked: getattr(model, asked)(X, y) for asked in JUDGED if hasattr(model, asked)}
    told["predict"] = (
        model.predict(X) if is_classifier(model) else model.predict(X, return_std=True)
    )
    told |= {asked: str(getattr(model, asked)()) for asked in ("summary", "diagnose")}
    told["diagnosis"] = str(model.diagnose(X + 10, y))
    told["groups"] = str(model.group_relevance_)
    if not model.fit_result_.parameters["augment"] and not hasattr(model, "effects_"):
        told["C"] = to_c(model, name="model").source
    table = compare({"it": model}, X, y)
    told["compared"] = table.drop(columns="seconds").to_numpy()
    return told


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


def halves(parameters):
    """Half of the parameters at a time, each without every other one in one of them."""
    for bit in range(len(parameters).bit_length()):
        for side in (0, 1):
            yield bit, [p for place, p in enumerate(parameters) if place >> bit & 1 == side]


@pytest.mark.parametrize("name", MODELS)
def test_parameters_that_are_set_later_say_nothing(name):
    estimator, y = MODELS[name]
    model = clone(estimator).fit(X, y)
    expected = says(model, y)
    given = model.get_params(deep=False)
    others = {p: [each for each in OTHERS[p] if each != value] for p, value in given.items()}
    for turn, some in halves(list(given)):
        model.set_params(**given | {p: others[p][turn % len(others[p])] for p in some})
        assert_same(says(model, y), expected)
    model.set_params(**{parameter: OTHERS[parameter][-1] for parameter in given})
    assert_same(says(model, y), expected)
    assert_same(says(pickle.loads(pickle.dumps(model)), y), expected)


def test_the_next_fit_takes_what_was_set():
    model = RVC(multi_class="multinomial").fit(X, THREE)
    before = model.predict_proba(X)
    after = model.set_params(proba="mode").fit(X, THREE).predict_proba(X)
    assert np.abs(after - before).max() > 0.01


def test_changes_to_a_given_dict_say_nothing():
    weight = dict(WEIGHT)
    model = RVC(class_weight=weight).fit(X, TWO)
    weight[0] = 50.0
    assert model.log_evidence(X, TWO) == pytest.approx(model.log_evidence_, rel=1e-9)


def test_terms_of_evidences_are_those_of_the_fits():
    flat = RVR().fit(X, Y).set_params(fit_intercept=False)
    without = RVR(fit_intercept=False).fit(X, Y)
    with pytest.raises(ValueError, match="fit_intercept is True in 'flat' and False in 'without'"):
        compare({"flat": flat, "without": without}, X, Y)
    assert len(compare({"flat": flat, "another": RVR()}, X, Y)) == 2


@pytest.mark.parametrize("shift", [-1.0, 0.01, 1e4])
@pytest.mark.parametrize("name", ["RVR", "linear", "effects", "several targets", "student_t"])
def test_models_of_a_shifted_target_are_refused(name, shift):
    """An evidence of contrasts is the same at any level."""
    estimator, y = MODELS[name]
    model = clone(estimator).fit(X, y)
    assert model.log_evidence(X, y + shift) == pytest.approx(model.log_evidence_, rel=1e-6)
    with pytest.raises(ValueError, match="'it' predicts otherwise than a fit to X and y"):
        compare({"it": model}, X, y + shift)


@pytest.mark.parametrize("name", ["RVR", "RVC"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_models_of_a_mirrored_target_are_refused(name, fit_intercept):
    """An evidence is the same whatever the sign of the target, or the order of two classes."""
    estimator, y = MODELS[name]
    model = clone(estimator).set_params(fit_intercept=fit_intercept).fit(X, y)
    mirrored = y.max() - y if is_classifier(model) else -y
    assert model.log_evidence(X, mirrored) == pytest.approx(model.log_evidence_, rel=1e-6)
    with pytest.raises(ValueError, match="'it' predicts otherwise than a fit to X and y"):
        compare({"it": model}, X, mirrored)


@pytest.mark.parametrize("name", MODELS)
def test_models_of_the_same_rows_in_another_order_are_taken(name):
    estimator, y = MODELS[name]
    model, order = clone(estimator).fit(X, y), np.random.RandomState(0).permutation(60)
    assert len(compare({"it": model}, X[order], y[order])) == 1
