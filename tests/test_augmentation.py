"""Functions centred on the queries, against the dense posterior of the augmented dictionary."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import clone, is_classifier

from relvec import RVC, RVR
from relvec._fitting.augmentation import TrainingRows
from relvec.basis import RBF, Bias, CallableKernel, Columns, Concatenate, Laplacian, Precomputed
from relvec.likelihoods import Gaussian
from tests.support.covering import covering
from tests.support.inputs import clouds, noisy_border, noisy_sinc
from tests.support.laplace import MODE, DenseCurvature
from tests.support.machines import MACHINES, answers
from tests.support.rows import cauchy
from tests.test_fitted_laplace import targets
from tests.test_storage import ROADS

pytestmark = pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")

QUERIES = np.array([[-9.5], [-7.9], [0.3], [3.1], [8.4], [9.6], [12.0], [40.0]])
KERNELS = {
    "rbf": "rbf",
    "linear spline": "linear_spline",
    "sum": RBF(gamma=0.5) + Laplacian(gamma=0.1),
    "two kernels": [RBF(gamma=0.02), RBF(gamma=0.6)],
    "a kernel and columns": [Columns(), RBF(gamma=0.3)],
}
COPIES = np.arange(40) % 4


def posed(machine, **parameters):
    """An estimator that augments, unfitted, with inputs and a target of its kind."""
    X, y = noisy_sinc(40, seed=4, slope=0.05)
    return machine.make(augment=True, **parameters), X, machine.target(y)


def kernel_functions(basis, X, Z):
    """Functions of every kernel of a fitted basis, centred on Z, at the rows of X."""
    return [k(X, Z) for k, _ in basis.kernel_parts()]


def prior_variances(model, machine, X, copies):
    """1/α* of each kernel: its share in the mean of f², over the mean of k(x, x)², row by row."""
    Phi = model.basis_.transform(X)[:, machine.columns]
    k, outputs = machine.posterior.mean.shape
    covariance = machine.posterior.covariance.reshape(k, outputs, k, outputs)

    def mean_square(functions):
        used = np.isin(machine.columns, functions)
        own = Phi[:, used]
        if model.fit_intercept:
            own = own - np.average(own, axis=0, weights=copies)
        squares = ((own @ machine.posterior.mean[used]) ** 2).sum(axis=1)
        for output in range(outputs):
            block = covariance[used][:, output][:, used][:, :, output]
            squares += np.diag(own @ block @ own.T)
        return np.average(squares / outputs, weights=copies)

    parts = model.basis_.kernel_parts()
    each = np.array([mean_square(functions) for _, functions in parts])
    if not each.any():
        return each
    together = mean_square(np.concatenate([functions for _, functions in parts]))
    peaks = [np.average(np.diag(kernel(X, X)) ** 2, weights=copies) for kernel, _ in parts]
    return together * each / each.sum() / peaks


def dense(model, machine, X, t, query, copies, precision):
    """Mean and covariance of the outputs at a query, from a dictionary that has its functions.

    Weights and levels are solved for at once; the likelihood is Gaussian in the outputs, with the
    slope and curvature that it has at the outputs of the kept functions alone.
    """
    Phi, at = (model.basis_.transform(Z)[:, machine.columns] for Z in (X, query))
    variances = prior_variances(model, machine, X, copies)
    present = variances > 0
    extra, own = (
        np.hstack(kernel_functions(model.basis_, Z, query))[:, present] for Z in (X, query)
    )
    y, spread = machine.posterior.latent_mean(Phi), machine.posterior.latent_covariance(Phi)
    _, slope, B = machine.likelihood.surrogate(t, y, spread)
    counts = copies * precision
    slope, B = counts[:, None] * slope, counts[:, None, None] * B
    alpha = np.append(machine.alpha, 1 / variances[present])
    bend = DenseCurvature(np.hstack([Phi, extra]), B, alpha, model.fit_intercept)
    working = np.einsum("nrs,ns->nr", B, y) + slope  # B times the working target
    weights = np.linalg.solve(bend.matrix, np.tensordot(bend.joined, working, ((0, 1), (0, 1))))
    row = bend.rows(np.hstack([at, own]))[0]
    return row @ weights, row @ np.linalg.solve(bend.matrix, row.T)


def assert_dense(model, X, all_targets, copies=None, precision=None, settled=1e-8):
    copies = np.ones(len(X)) if copies is None else copies
    precision = np.ones(len(X)) if precision is None else precision
    found = {}
    model.fit_result_.at_rows(lambda at: found.setdefault("at", at).Phi, QUERIES)
    moved = 0.0
    for machine, t in zip(model.fit_result_.outputs, all_targets, strict=True):
        mean, covariance = machine.latent(found["at"], spread=True)
        for query, m, c in zip(QUERIES, mean, covariance, strict=True):
            expected = dense(model, machine, X, t, query[None], copies, precision)
            size = np.sqrt(np.trace(expected[1]))
            at_mode = settled if isinstance(machine.likelihood, Gaussian) else MODE["atol"]
            np.testing.assert_allclose(
                m, expected[0], rtol=settled, atol=max(settled, at_mode) * size
            )
            np.testing.assert_allclose(c, expected[1], rtol=settled, atol=settled * size**2)
        plain = machine.posterior.latent_covariance(found["at"].Phi[:, machine.columns])
        if len(machine.columns):
            moved = max(moved, np.abs(covariance - plain).max() / plain.max())
    assert moved > 0.1


@pytest.mark.parametrize(
    ("machine", "kernel", "fit_intercept"),
    covering(MACHINES, KERNELS.values(), [False, True]),
    indirect=["machine"],
)
def test_outputs_are_those_of_the_augmented_dictionary(kernel, fit_intercept, machine):
    model, X, y = posed(machine, kernel=kernel, fit_intercept=fit_intercept)
    model.fit(X, y)
    assert_dense(model, X, targets(model, y))


def test_copies_of_rows_count(machine):
    model, X, y = posed(machine)
    model.fit(X, y, sample_weight=COPIES)
    present = COPIES > 0
    t = [part[present] for part in targets(model, y)]
    assert_dense(model, X[present], t, copies=COPIES[present])
    repeated = clone(model).fit(np.repeat(X, COPIES, axis=0), np.repeat(y, COPIES, axis=0))
    np.testing.assert_allclose(answers(repeated, QUERIES), answers(model, QUERIES), rtol=1e-5)


def test_noise_known_by_row_counts():
    X, y = noisy_sinc(40, seed=4)
    variances = np.linspace(0.001, 0.1, 40)
    model = RVR(augment=True).fit(X, y, noise_variance_per_row=variances)
    assert_dense(model, X, [y[:, None]], precision=variances.mean() / variances)


def test_outliers_count_as_little_as_in_the_fit():
    """The precisions of the rows are settled to 1e-9 nats: a shift by 4.5e-5 of the std."""
    X, y = noisy_sinc(40, seed=4)
    y[[5, 20]] += 3.0
    model = RVR(likelihood="student_t", augment=True).fit(X, y)
    assert_dense(model, X, [y[:, None]], settled=np.sqrt(2 * 1e-9))
    inside, far = model.predict([[0.0], [40.0]], return_std=True)[1]
    assert far > 1.2 * inside


@pytest.mark.parametrize("multi_output", ["shared", "independent"])
def test_several_targets(multi_output):
    X, y = noisy_sinc(40, seed=4)
    both = np.column_stack([y, np.full(40, 3.0), 100 * np.cos(X[:, 0] / 2) + y])
    model = RVR(augment=True, multi_output=multi_output).fit(X, both)
    assert_dense(model, X, both.T[:, :, None])


def test_probabilities_and_observations_follow_from_the_outputs(machine):
    model, X, y = posed(machine)
    model.fit(X, y)
    ones = np.ones(len(X))
    expected = []
    for one, t in zip(model.fit_result_.outputs, targets(model, y), strict=True):
        rows = [dense(model, one, X, t, query[None], ones, ones) for query in QUERIES]
        mean, covariance = map(np.array, zip(*rows, strict=True))
        if is_classifier(model):
            expected.append(one.likelihood.mean_probabilities(mean, covariance))
        else:
            moments = one.likelihood.moments(mean, covariance)
            expected.append(np.column_stack([moments[0], np.sqrt(moments[1])]))
    if len(expected) > 1:  # one class against the rest
        own = np.column_stack([p[:, 1] for p in expected])
        expected = [own / own.sum(axis=1, keepdims=True)]
    np.testing.assert_allclose(answers(model, QUERIES), expected[0], rtol=1e-7, atol=1e-9)


def test_without_functions_for_the_prior_to_be_read_off_nothing_is_added(rng):
    X, y = rng.uniform(size=(20, 1)), rng.standard_normal(20)
    plain, augmented = (RVR(augment=augment, tol=1e3).fit(X, y) for augment in (False, True))
    assert not len(plain.relevance_)
    for a, b in zip(
        plain.predict(QUERIES, return_std=True),
        augmented.predict(QUERIES, return_std=True),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)


def test_a_weight_that_cannot_move_changes_nothing(machine):
    model, X, y = posed(machine)
    plain = machine.make().fit(X, y)
    model.fit(X, y)
    for one in model.fit_result_.outputs:
        one.residuals.sizes[:] = 0.0
    np.testing.assert_allclose(answers(model, QUERIES), answers(plain, QUERIES), rtol=1e-12)


def test_intervals_are_as_wide_as_the_error_bars_say():
    X, y = noisy_sinc(40, seed=4)
    model = RVR(augment=True).fit(X, y)
    mean, std = model.predict(QUERIES, return_std=True)
    lower, upper = model.predict_interval(QUERIES, coverage=0.95)
    half = norm.ppf(0.975) * std
    np.testing.assert_allclose([lower, upper], [mean - half, mean + half], rtol=1e-12)


def test_probabilities_at_the_mode_feel_the_shift_only():
    X, y = noisy_border(80)
    model = RVC(augment=True, proba="mode").fit(X, y)
    far = model.predict_proba([[30.0, 0.0]])
    plain = RVC(proba="mode").fit(X, y).predict_proba([[30.0, 0.0]])
    np.testing.assert_allclose(far, plain, rtol=1e-12)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_std_far_out_exceeds_that_among_the_data(kernel):
    X, y = noisy_sinc(50, half_width=4.0, seed=17)
    model = RVR(kernel=kernel, augment=True).fit(X, y)
    inside = model.predict(np.linspace(-4, 4, 201)[:, None], return_std=True)[1].max()
    far = model.predict([[20.0], [1e6]], return_std=True)[1]
    plain = RVR(kernel=kernel).fit(X, y)
    assert plain.predict([[20.0]], return_std=True)[1] < 1.5 * inside
    assert (far > 2 * inside).all()


def test_far_out_the_variance_is_that_of_the_signal_and_the_mean_that_of_the_plain_model():
    """There the new function is known to no row: e* = 1, s* = q* = 0.

    ⟨f²⟩ is the variance of the mean function, and that of the function about it, σ²Σγ/N.
    """
    X, y = noisy_sinc(50, half_width=4.0, seed=17)
    model, plain = RVR(augment=True).fit(X, y), RVR().fit(X, y)
    (mean,), (std,) = model.predict_latent([[1e4]], return_std=True)
    (plain_mean,), (plain_std,) = plain.predict_latent([[1e4]], return_std=True)
    assert mean == pytest.approx(plain_mean, rel=1e-12)
    around = plain.noise_variance_ * plain.well_determined_.sum() / 50
    signal = plain.predict_latent(X).var() + around
    assert std**2 - plain_std**2 == pytest.approx(signal, rel=1e-9)


@pytest.mark.parametrize(("factor", "offset"), [(1e-100, 0.0), (1e100, 0.0), (1e5, -7e5)])
def test_units_of_the_target_do_not_matter(factor, offset):
    X, y = noisy_sinc(40, seed=15)
    plain, scaled = (RVR(augment=True).fit(X, t) for t in (y, factor * y + offset))
    mean, std = plain.predict(QUERIES, return_std=True)
    scaled_mean, scaled_std = scaled.predict(QUERIES, return_std=True)
    np.testing.assert_allclose((scaled_mean - offset) / factor, mean, atol=1e-6)
    np.testing.assert_allclose(scaled_std / factor, std, rtol=1e-6)


@pytest.mark.parametrize(
    ("machine", "kernel", "factor"),
    covering(MACHINES, ["rbf", "poly", "linear"], [1e-4, 1e6]),
    indirect=["machine"],
)
def test_units_of_the_inputs_do_not_matter(kernel, factor, machine):
    X, y = noisy_sinc(40, seed=15, slope=0.1)
    near, y = QUERIES[:-1], machine.target(y)
    plain = machine.make(kernel=kernel, augment=True).fit(X, y)
    scaled = machine.make(kernel=kernel, augment=True).fit(factor * X, y)
    np.testing.assert_allclose(answers(scaled, factor * near), answers(plain, near), rtol=1e-5)


def test_a_function_that_the_kept_ones_span_adds_no_variance():
    """Every function of the linear kernel is a multiple of x."""
    X, y = noisy_sinc(40, seed=15, slope=1.0)
    plain, augmented = (
        RVR(kernel="linear", augment=augment).fit(X, y) for augment in (False, True)
    )
    expected, found = (
        model.predict_latent(QUERIES, return_std=True)[1] for model in (plain, augmented)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_probabilities_become_less_certain_away_from_the_data():
    X, y = noisy_border(80)
    far = 30.0 * np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, -1.0]])
    plain, augmented = (RVC(augment=augment).fit(X, y) for augment in (False, True))
    before, after = (np.abs(model.predict_proba(far)[:, 1] - 0.5) for model in (plain, augmented))
    assert (after < before - 0.05).all()


def test_probabilities_of_several_classes_become_more_even_away_from_the_data():
    X, y = clouds(20, 20, 5)
    far = np.array([[60.0, 60.0], [-50.0, 0.0]])
    plain, augmented = (
        RVC(augment=augment, multi_class="multinomial").fit(X, y) for augment in (False, True)
    )
    before, after = (model.predict_proba(far).max(axis=1) for model in (plain, augmented))
    assert (after < before - 0.05).all()


def test_batches_equal_one_call(machine, monkeypatch):
    model, X, y = posed(machine)
    model.fit(X, y)
    queries = np.linspace(-15, 15, 61)[:, None]
    together = answers(model, queries)
    monkeypatch.setattr("relvec._fitting.batches.MOST", 4000)
    np.testing.assert_allclose(answers(model, queries), together, rtol=1e-9)
    alone = np.vstack([answers(model, query[None]) for query in queries])
    np.testing.assert_allclose(alone, together, rtol=1e-9)


def arrays_of(thing, seen=None):
    """Every array that an object holds, directly or not."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, dict):
        yield from (found for value in thing.values() for found in arrays_of(value, seen))
    elif isinstance(thing, list | tuple):
        yield from (found for value in thing for found in arrays_of(value, seen))
    elif hasattr(thing, "__dict__"):
        yield from arrays_of(vars(thing), seen)


def test_only_with_augment_are_training_rows_kept(machine):
    X, y = noisy_sinc(300, seed=4)
    plain = machine.make().fit(X, machine.target(y))
    assert plain.training_rows_ is None
    assert max(len(np.atleast_1d(part)) for part in arrays_of(vars(plain))) < 300
    augmented = machine.make(augment=True).fit(X, machine.target(y))
    np.testing.assert_array_equal(augmented.training_rows_, X)
    augmented.set_params(augment=False).fit(X, machine.target(y))
    assert max(len(np.atleast_1d(part)) for part in arrays_of(vars(augmented))) < 300


def test_rows_are_kept_as_they_were(machine):
    model, X, y = posed(machine)
    X = X.copy()
    expected = answers(model.fit(X, y), QUERIES)
    X[:] = 0.0
    np.testing.assert_array_equal(answers(model, QUERIES), expected)


@pytest.mark.parametrize("road", ROADS)
def test_stored_models_answer_the_same(road, machine):
    model, X, y = posed(machine)
    expected = answers(model.fit(X, y), QUERIES)
    np.testing.assert_array_equal(answers(road(model), QUERIES), expected)


def test_copies_of_the_parameters_answer_the_same(machine):
    model, X, y = posed(machine)
    expected = answers(model.fit(X, y), QUERIES)
    assert clone(model).augment
    np.testing.assert_array_equal(answers(clone(model).fit(X, y), QUERIES), expected)
    set_later = machine.make().set_params(augment=True).fit(X, y)
    np.testing.assert_array_equal(answers(set_later, QUERIES), expected)


@pytest.mark.parametrize(
    "kernel", [Precomputed(), Columns(), Concatenate([Bias(), Columns()]), "precomputed"]
)
def test_dictionaries_without_a_kernel_are_refused(kernel, machine):
    model, X, y = posed(machine, kernel=kernel)
    with pytest.raises(ValueError, match=r"augment=True .*k\(x, x\)"):
        model.fit(cauchy(X, X), y)


def test_kernels_that_vanish_at_their_centre_are_refused():
    X, y = noisy_sinc(40, seed=4)
    with pytest.raises(ValueError, match=r"k\(x, x\) is zero"):
        RVR(kernel=lambda X, Z: np.abs(X - Z.T), augment=True).fit(X, y)


def test_near_copies_of_a_kernel_share_what_one_would_add():
    X, y = noisy_sinc(40, seed=4)
    pair = [RBF(gamma=0.3), RBF(gamma=0.3 + 1e-7)]
    model = RVR(kernel=pair, noise_variance=1e-12, augment=True).fit(X, y)
    sizes = model.fit_result_.outputs[0].residuals.sizes
    signal = model.predict_latent(X).var()
    assert (sizes**2).sum() == pytest.approx(signal, rel=0.01)
    assert np.isfinite(answers(model, QUERIES)).all()


def test_a_function_in_the_place_of_a_precomputed_kernel():
    X, y = noisy_sinc(40, seed=4)
    values = cauchy(np.vstack([X, QUERIES]), np.vstack([X, QUERIES]))

    def looked_up(rows, others):
        return values[np.ix_(rows[:, 0].astype(int), others[:, 0].astype(int))]

    numbers = np.arange(48.0)[:, None]
    model = RVR(kernel=looked_up, augment=True).fit(numbers[:40], y)
    direct = RVR(kernel=CallableKernel(cauchy), augment=True).fit(X, y)
    np.testing.assert_allclose(answers(model, numbers[40:]), answers(direct, QUERIES), rtol=1e-6)


@pytest.mark.parametrize("value", [1, "yes", None])
def test_augment_is_true_or_false(value, machine):
    model, X, y = posed(machine)
    with pytest.raises(TypeError, match="augment"):
        model.set_params(augment=value).fit(X, y)


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("return_cov", lambda model: model.predict(QUERIES, return_cov=True)),
        ("sample_y", lambda model: model.sample_y(QUERIES)),
    ],
)
def test_what_needs_several_rows_at_once_is_refused(name, ask):
    X, y = noisy_sinc(40, seed=4)
    with pytest.raises(ValueError, match=f"{name}.*augment"):
        ask(RVR(augment=True).fit(X, y))


def test_functions_beyond_float64_are_refused():
    X, y = noisy_sinc(20, seed=4, slope=0.1)
    model = RVR(kernel="poly", degree=9, augment=True).fit(X, y)
    with pytest.raises(OverflowError, match="X"):
        model.predict([[1e30]])


def test_sizes_of_weights_survive_extreme_units():
    X, y = noisy_sinc(40, seed=4)
    for kernel in (partial(huge, 1e100), partial(huge, 1e-100)):
        model = RVR(kernel=kernel, augment=True).fit(X, y)
        (size,) = model.fit_result_.outputs[0].residuals.sizes
        rows = TrainingRows(model.training_rows_, model.basis_)
        signal = rows.Phi @ model.dual_coef_
        peak = size * kernel(X[:1], X[:1])[0, 0]
        assert peak == pytest.approx(signal.std(), rel=0.05)


def huge(scale, X, Z):
    return scale * cauchy(X, Z)
