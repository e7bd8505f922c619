"""RVR on a y of several columns: targets that share their functions, or do not."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils import get_tags

from relvec import RVR, SparseBayesianRegressor
from relvec.exceptions import EmptyModelWarning
from tests.support.reference import log_evidence_dense

QUERY = np.linspace(-12.0, 12.0, 9)[:, None]


def data(n=60, seed=0):
    """Two curves of different units with different noise."""
    draw = np.random.RandomState(seed)
    X = np.sort(draw.uniform(-8, 8, (n, 1)), axis=0)
    x = X[:, 0]
    smooth = np.sinc(x / np.pi) + 0.05 * draw.standard_normal(n)
    rough = 300 * np.cos(x / 2) + 40 * draw.standard_normal(n)
    return X, np.column_stack([smooth, rough])


def everything(model):
    """All that a model says, in a list."""
    return [
        *model.predict(QUERY, return_std=True),
        *model.predict_latent(QUERY, return_std=True),
        model.dual_coef_,
        model.intercept_,
        model.weight_precision_,
        model.weight_covariance_,
        model.noise_variance_,
        model.well_determined_,
    ]


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("noise_variance", [None, 0.1])
def test_evidence_is_the_product_of_the_densities(fit_intercept, noise_variance):
    X, Y = data()
    Y /= [1, 300]  # no digits to spare for the dense reference
    model = RVR(gamma=0.2, fit_intercept=fit_intercept, noise_variance=noise_variance).fit(X, Y)
    Phi = model.basis_.transform(X)
    expected = sum(
        log_evidence_dense(Phi, t, alpha, 1 / v, fit_intercept=fit_intercept)
        for t, alpha, v in zip(Y.T, model.weight_precision_, model.noise_variance_, strict=True)
    )
    assert model.log_evidence_ == pytest.approx(expected, rel=1e-9)
    assert model.log_evidence(X, Y) == pytest.approx(model.log_evidence_, rel=1e-10)


def test_one_alpha_is_shared_in_the_units_of_every_target():
    X, Y = data()
    model = RVR(gamma=0.2).fit(X, Y)
    spread = np.linalg.norm(Y - Y.mean(axis=0), axis=0)
    shared = model.weight_precision_ * spread[:, None] ** 2
    assert_allclose(shared[0], shared[1], rtol=1e-10)


@pytest.mark.parametrize("column", [0, 1])
def test_units_and_level_of_a_target_are_its_own_business(column):
    X, Y = data()
    plain, moved = RVR(gamma=0.2).fit(X, Y), Y.copy()
    moved[:, column] = 1e4 * Y[:, column] - 3e5
    there = RVR(gamma=0.2).fit(X, moved)
    assert_array_equal(there.relevance_, plain.relevance_)
    mean, std = plain.predict(QUERY, return_std=True)
    mean[:, column], std[:, column] = 1e4 * mean[:, column] - 3e5, 1e4 * std[:, column]
    assert_allclose(there.predict(QUERY, return_std=True), (mean, std), rtol=1e-6)
    changed = plain.log_evidence_ - 59 * np.log(1e4)
    assert there.log_evidence_ == pytest.approx(changed, rel=1e-8)


@pytest.mark.parametrize("copies", [2, 3])
def test_equal_targets_have_the_functions_that_one_with_as_much_evidence_has(copies):
    """T equal targets are as T times the evidence: a function worth `tol` to one is worth T."""
    X, Y = data()
    several = RVR(gamma=0.2, tol=0.03 * copies).fit(X, np.column_stack([Y[:, 0]] * copies))
    one = RVR(gamma=0.2).fit(X, Y[:, 0])
    assert_array_equal(several.relevance_, one.relevance_)
    assert several.log_evidence_ == pytest.approx(copies * one.log_evidence_, rel=1e-6)
    for found, expected in zip(
        several.predict(QUERY, return_std=True), one.predict(QUERY, return_std=True), strict=True
    ):
        assert_allclose(found, np.column_stack([expected] * copies), rtol=1e-3, atol=1e-4)


def test_targets_may_come_in_any_order():
    X, Y = data()
    plain, swapped = RVR(gamma=0.2).fit(X, Y), RVR(gamma=0.2).fit(X, Y[:, ::-1])
    assert_allclose(swapped.predict(QUERY)[:, ::-1], plain.predict(QUERY), rtol=1e-6)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_independent_machines_are_separate_fits(fit_intercept):
    X, Y = data()
    machine = RVR(gamma=0.2, fit_intercept=fit_intercept, multi_output="independent")
    together, alone = (
        machine.fit(X, Y),
        [RVR(gamma=0.2, fit_intercept=fit_intercept).fit(X, t) for t in Y.T],
    )
    assert_array_equal(together.relevance_, np.union1d(*[one.relevance_ for one in alone]))
    assert together.log_evidence_ == sum(one.log_evidence_ for one in alone)
    assert_array_equal(together.noise_variance_, [one.noise_variance_ for one in alone])
    assert_array_equal(together.intercept_, [one.intercept_ for one in alone])
    for target, one in enumerate(alone):
        kept = np.isin(together.relevance_, one.relevance_)
        assert_array_equal(together.dual_coef_[target, kept], one.dual_coef_)
        assert_array_equal(together.dual_coef_[target, ~kept], 0)
        assert_array_equal(together.weight_precision_[target, kept], one.weight_precision_)
        assert np.isinf(together.weight_precision_[target, ~kept]).all()
        for found, expected in zip(
            together.predict(QUERY, return_std=True),
            one.predict(QUERY, return_std=True),
            strict=True,
        ):
            assert_allclose(found[:, target], expected, rtol=1e-12)
    expected = MultiOutputRegressor(RVR(gamma=0.2, fit_intercept=fit_intercept)).fit(X, Y)
    assert_allclose(together.predict(QUERY), expected.predict(QUERY), rtol=1e-12)
    assert together.log_evidence(X, Y) == pytest.approx(together.log_evidence_, rel=1e-9)


@pytest.mark.parametrize("multi_output", ["shared", "independent"])
def test_shapes_are_those_of_scikit_learn(multi_output):
    X, Y = data()
    model = RVR(multi_output=multi_output).fit(X, Y)
    k = len(model.relevance_)
    mean, std = model.predict(QUERY, return_std=True)
    assert mean.shape == std.shape == (9, 2)
    again, covariance = model.predict(QUERY, return_cov=True)
    assert covariance.shape == (9, 9, 2)
    assert_allclose(again, mean, rtol=1e-10)
    assert_allclose(np.einsum("nnt->nt", covariance), std**2, rtol=1e-9)
    assert model.sample_y(QUERY, 5, random_state=0).shape == (9, 2, 5)
    assert model.dual_coef_.shape == model.weight_precision_.shape == (2, k)
    assert model.well_determined_.shape == (2, k)
    assert model.intercept_.shape == model.noise_variance_.shape == (2,)
    assert model.weight_covariance_.shape == (2, k, k)
    by_hand = model.basis_.transform(QUERY) @ model.dual_coef_.T + model.intercept_
    assert_allclose(mean, by_hand, rtol=1e-9)
    assert 0.9 < model.score(X, Y) <= 1
    table = model.summary()
    assert len(table) == k
    assert {"weight[0]", "weight[1]", "std[0]", "std[1]"} <= set(table.columns)


def test_a_frame_of_targets_is_its_values():
    X, Y = data()
    frame = pd.DataFrame(Y, columns=["smooth", "rough"])
    assert_array_equal(RVR().fit(X, frame).predict(QUERY), RVR().fit(X, Y).predict(QUERY))


def test_samples_have_the_moments_of_the_posterior():
    X, Y = data()
    model, n = RVR().fit(X, Y), 20_000
    for noise, predict in ((False, model.predict_latent), (True, model.predict)):
        drawn = model.sample_y(QUERY, n, random_state=0, noise=noise)
        mean, std = predict(QUERY, return_std=True)
        assert (np.abs(drawn.mean(axis=2) - mean) < 5 * std / np.sqrt(n)).all()
        assert_allclose(drawn.std(axis=2), std, rtol=5 / np.sqrt(2 * n))


def test_a_linear_model_has_coefficients_for_every_target():
    draw = np.random.RandomState(0)
    X = draw.standard_normal((80, 12))
    slopes = np.zeros((2, 12))
    slopes[0, [1, 4]], slopes[1, [1, 4, 7]] = [1.0, -2.0], [300.0, 100.0, 50.0]
    Y = X @ slopes.T + draw.standard_normal((80, 2)) * [0.1, 5.0] + [3.0, -7.0]
    for model in (RVR(kernel="linear"), SparseBayesianRegressor()):
        model.fit(X, Y)
        assert model.coef_.shape == (2, 12)
        assert_allclose(model.coef_, slopes, atol=3)
        assert_allclose(X @ model.coef_.T + model.intercept_, model.predict(X), rtol=1e-9)
    assert_array_equal(model.relevance_, [1, 4, 7])


@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")
def test_relevance_that_is_shared_is_found_where_each_target_alone_is_too_noisy():
    """Ten targets of the same three columns out of sixty, each noisy: together they are sure."""
    draw = np.random.RandomState(1)
    X, slopes = draw.standard_normal((40, 60)), np.zeros((10, 60))
    slopes[:, [3, 20, 41]] = draw.choice([-1.0, 1.0], (10, 3))
    Y = X @ slopes.T + 1.5 * draw.standard_normal((40, 10))
    shared = SparseBayesianRegressor().fit(X, Y)
    alone = SparseBayesianRegressor(multi_output="independent").fit(X, Y)
    assert_array_equal(shared.relevance_, [3, 20, 41])
    error = [np.sqrt(np.mean((model.coef_ - slopes) ** 2)) for model in (shared, alone)]
    assert error[0] < 0.5 * error[1]


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_constant_target_is_predicted_and_leaves_the_others_alone(place, fit_intercept):
    X, Y = data()
    with_it = np.insert(Y, place, 3.0 if fit_intercept else 0.0, axis=1)
    machine = RVR(gamma=0.2, fit_intercept=fit_intercept)
    expected = machine.fit(X, Y).predict(QUERY, return_std=True)
    with pytest.warns(EmptyModelWarning, match=f"target {place}: no basis function"):
        machine.fit(X, with_it)
    found = np.array(machine.predict(QUERY, return_std=True))
    assert_allclose(np.delete(found, place, axis=2), expected, rtol=1e-10)
    assert_allclose(found[0, :, place], 3.0 if fit_intercept else 0.0, rtol=1e-12)
    assert np.isfinite(found).all()


def test_targets_that_are_all_constant_are_each_predicted():
    X, _ = data()
    with pytest.warns(EmptyModelWarning):
        model = RVR().fit(X, np.tile([1.0, -2.0], (60, 1)))
    assert_allclose(model.predict(QUERY), np.tile([1.0, -2.0], (9, 1)), rtol=1e-12)
    assert model.dual_coef_.shape == (2, 0)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_weights_are_copies(fit_intercept):
    X, Y = data()
    copies = np.arange(60) % 3
    machine = RVR(gamma=0.2, fit_intercept=fit_intercept, centers=X[::2])
    weighted = machine.fit(X, Y, copies)
    answers, evidence = everything(weighted), weighted.log_evidence_
    assert weighted.log_evidence(X, Y, copies) == pytest.approx(evidence, rel=1e-9)
    repeated = machine.fit(np.repeat(X, copies, axis=0), np.repeat(Y, copies, axis=0))
    assert repeated.log_evidence_ == pytest.approx(evidence, rel=1e-8)
    for found, expected in zip(everything(repeated), answers, strict=True):
        assert_allclose(found, expected, rtol=1e-4, atol=1e-6 * np.abs(expected).max())


def test_noise_known_by_row_is_that_of_every_target():
    X, Y = data()
    v = np.geomspace(1e-3, 1, 60)
    targets = np.column_stack([Y[:, 0], Y[:, 0] + np.cos(X[:, 0])])
    model = RVR(gamma=0.2).fit(X, targets, noise_variance_per_row=v)
    assert_allclose(model.noise_variance_, v.mean())
    again = model.log_evidence(X, targets, noise_variance_per_row=v)
    assert again == pytest.approx(model.log_evidence_, rel=1e-10)
    mean, std = model.predict_latent(QUERY, return_std=True)
    known = np.arange(1.0, 10.0)
    found = model.predict(QUERY, return_std=True, noise_variance_per_row=known)
    assert_allclose(found, (mean, np.sqrt(std**2 + known[:, None])), rtol=1e-10)
    _, covariance = model.predict(QUERY, return_cov=True, noise_variance_per_row=known)
    assert_allclose(np.einsum("nnt->nt", covariance), found[1] ** 2, rtol=1e-9)


def test_counts_are_fitted_one_target_by_itself():
    X, Y = data()
    counts = np.round(np.exp(1 + Y / np.abs(Y).max(axis=0)))
    model = RVR(likelihood="poisson", multi_output="independent").fit(X, counts)
    for target, t in enumerate(counts.T):
        expected = RVR(likelihood="poisson").fit(X, t).predict(QUERY, return_std=True)
        found = np.array(model.predict(QUERY, return_std=True))[:, :, target]
        assert_allclose(found, expected, rtol=1e-9)
    assert model.sample_y(QUERY, 3, random_state=0, noise=True).shape == (9, 2, 3)


@pytest.mark.parametrize("solver", ["fixed_point", "em", "variational"])
def test_every_solver_takes_several_targets(solver):
    X, Y = data(30)
    model = RVR(gamma=0.2, solver=solver, max_iter=20_000, tol=0.3).fit(X, Y)
    best = RVR(gamma=0.2, tol=0.3, n_starts=3).fit(X, Y)
    assert best.log_evidence_ > model.log_evidence_ - 0.5
    assert_allclose(model.predict(X), best.predict(X), atol=0.2 * Y.std(axis=0).max())


@pytest.mark.parametrize("gamma", ["evidence", "ard"])
def test_widths_are_learnt_for_all_targets_together(gamma):
    X, Y = data()
    model = RVR(gamma=gamma).fit(X, Y)
    assert model.log_evidence_ > RVR().fit(X, Y).log_evidence_
    assert model.log_evidence(X, Y) == pytest.approx(model.log_evidence_, rel=1e-8)


def test_history_has_the_geometric_mean_of_the_noises():
    X, Y = data()
    model = RVR().fit(X, Y)
    mean = np.sqrt(np.prod(model.noise_variance_))
    assert model.history_[-1].noise_variance == pytest.approx(mean, rel=1e-9)


@pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")
def test_targets_in_units_that_are_very_far_apart():
    X, Y = data()
    model = RVR().fit(X, Y * [1e-95, 1e95])
    near = RVR().fit(X, Y)
    np.testing.assert_allclose(model.predict(X) * [1e95, 1e-95], near.predict(X), rtol=1e-9)
    assert np.isfinite([row.noise_variance for row in model.history_]).all()


def test_tags_say_what_several_targets_are_taken():
    assert get_tags(RVR()).target_tags.multi_output
    assert get_tags(SparseBayesianRegressor()).target_tags.multi_output
    assert get_tags(RVR(likelihood="poisson", multi_output="independent")).target_tags.multi_output
    assert not get_tags(RVR(likelihood="poisson")).target_tags.multi_output
