"""More than two classes: mpmath far out, two classes as one output, and no class before another."""

import mpmath
import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import qmc

from relvec.likelihoods import Bernoulli, Categorical
from tests.likelihoods.precise import derivatives

#: Functions of three classes up to a constant; 800 is where exponentials overflow.
FUNCTIONS = np.array(
    [[0.0, 0.0, 0.0], [1.0, -2.0, 0.5], [800.0, -800.0, 0.0], [800.0, 800.0, -800.0], [0, 1, 30.0]]
)
ONE_HOT = np.eye(3)


def outputs(likelihood, functions):
    """Coordinates of the functions of the classes along the contrasts."""
    return functions @ likelihood.contrasts.T


def log_prob(t, functions):
    largest = max(functions)
    total = mpmath.log(mpmath.fsum(mpmath.exp(f - largest) for f in functions))
    return functions[int(np.argmax(t))] - largest - total


@pytest.mark.parametrize("functions", FUNCTIONS, ids=str)
@pytest.mark.parametrize("t", ONE_HOT, ids=["first", "second", "third"])
def test_values_and_derivatives_along_any_direction(t, functions, rng):
    found = Categorical(3)
    centred = functions - functions.mean()
    y = outputs(found, centred)[None]
    spread = np.outer(*[direction := rng.normal(size=2)] * 2)

    def along(step):
        moved = [
            mpmath.mpf(f) + step * mpmath.mpf(d)
            for f, d in zip(centred, direction @ found.contrasts, strict=True)
        ]
        return log_prob(t, moved)

    expected = derivatives(along, 0)
    assert found.log_prob(t[None], y)[0] == pytest.approx(expected[0], rel=1e-14, abs=1e-13)
    slope, B = found.gradient(t[None], y)[0], found.neg_hessian(t[None], y)[0]
    assert slope @ direction == pytest.approx(expected[1], rel=1e-12, abs=1e-15)
    assert direction @ B @ direction == pytest.approx(-expected[2], rel=1e-12, abs=1e-15)
    third = found.neg_hessian_gradient(t[None], y, spread[None])[0] @ direction
    assert third == pytest.approx(-expected[3], rel=1e-12, abs=1e-15)


def test_two_classes_are_one_output_times_the_root_of_two(rng):
    one, two = Bernoulli(), Categorical(2)
    t = rng.integers(0, 2, (50, 1)).astype(float)
    y = np.concatenate([[[800.0], [-800.0]], 3 * rng.normal(size=(48, 1))])
    one_hot, root = np.hstack([t, 1 - t]), np.sqrt(2)
    variance = rng.uniform(0.1, 5, (50, 1, 1))
    both = [
        (one.log_prob(t, root * y), two.log_prob(one_hot, y)),
        (root * one.gradient(t, root * y), two.gradient(one_hot, y)),
        (2 * one.neg_hessian(t, root * y), two.neg_hessian(one_hot, y)),
        (
            root * one.neg_hessian_gradient(t, root * y, 2 * variance),
            two.neg_hessian_gradient(one_hot, y, variance),
        ),
        (one.probabilities(root * y)[:, ::-1], two.probabilities(y)),
    ]
    for expected, found in both:
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
    expected = one.mean_probabilities(root * y, 2 * variance)[:, ::-1]
    np.testing.assert_allclose(two.mean_probabilities(y, variance), expected, atol=1e-3)


@pytest.fixture(params=[3, 5])
def rows(request, rng):
    """A likelihood with targets, outputs and their covariances."""
    likelihood = Categorical(request.param)
    t = np.eye(request.param)[rng.integers(0, request.param, 20)]
    root = rng.normal(size=(20, request.param - 1, request.param - 1))
    return likelihood, t, 2 * rng.normal(size=(20, request.param - 1)), root @ root.swapaxes(1, 2)


def test_no_class_comes_before_another(rows, rng):
    """Other contrasts: a rotation of the outputs."""
    likelihood, t, y, covariance = rows
    order = rng.permutation(t.shape[1])
    turn = likelihood.contrasts @ np.eye(t.shape[1])[order] @ likelihood.contrasts.T
    there = y @ turn.T
    np.testing.assert_allclose(turn @ turn.T, np.eye(len(turn)), atol=1e-14)
    functions = likelihood.functions(y)[:, order]
    np.testing.assert_allclose(likelihood.functions(there), functions, atol=1e-13)
    moved = covariance @ turn.T
    both = [
        (likelihood.log_prob(t, y), likelihood.log_prob(t[:, order], there)),
        (likelihood.gradient(t, y) @ turn.T, likelihood.gradient(t[:, order], there)),
        (turn @ likelihood.neg_hessian(t, y) @ turn.T, likelihood.neg_hessian(t[:, order], there)),
        (
            likelihood.neg_hessian_gradient(t, y, covariance) @ turn.T,
            likelihood.neg_hessian_gradient(t[:, order], there, turn @ moved),
        ),
        (likelihood.probabilities(y)[:, order], likelihood.probabilities(there)),
    ]
    for expected, found in both:
        np.testing.assert_allclose(found, expected, atol=1e-12)
    expected = likelihood.mean_probabilities(y, covariance)[:, order]
    found = likelihood.mean_probabilities(there, turn @ moved)
    np.testing.assert_allclose(found, expected, atol=0.005)


def average_by_trapezium(likelihood, mean, root):
    """Average over y = mean + zᵀroot, with the trapezium rule on a cube of normal z."""
    z, d = np.linspace(-8, 8, 241 if likelihood.n_classes == 3 else 71), likelihood.n_outputs
    points = np.stack(np.meshgrid(*[z] * d, indexing="ij"), axis=-1).reshape(-1, d)
    weights = np.exp(-0.5 * (points**2).sum(axis=1))
    return weights @ likelihood.probabilities(mean + points @ root) / weights.sum()


@pytest.mark.parametrize("n_classes", [3, 4])
@pytest.mark.parametrize(("size", "error"), [(0.1, 1e-4), (1.0, 6e-4), (10.0, 1.5e-3)])
def test_mean_probabilities_are_as_exact_as_the_guide_says(n_classes, size, error, rng):
    likelihood, d = Categorical(n_classes), n_classes - 1
    roots = np.sqrt(size / d) * rng.normal(size=(12, d, d))
    mean = 2 * np.sqrt(size) * rng.normal(size=(12, d))
    found = likelihood.mean_probabilities(mean, roots.swapaxes(1, 2) @ roots)
    each = zip(mean, roots, strict=True)
    expected = np.stack([average_by_trapezium(likelihood, m, root) for m, root in each])
    apart = np.abs(found - expected)
    assert apart.max() < error
    assert np.sqrt((apart**2).mean()) < error / 3
    assert (apart / expected)[expected > 1e-3].max() < 0.5


@pytest.mark.parametrize(
    ("n_classes", "std", "error"), [(5, 1, 6e-4), (5, 3, 2e-3), (10, 1, 6e-4), (10, 3, 5e-3)]
)
def test_so_are_those_of_more_classes(n_classes, std, error, rng):
    """Against 2^15 other points, where functions have standard deviations of up to `std`."""
    likelihood, d = Categorical(n_classes), n_classes - 1
    roots = rng.normal(size=(6, d, d))
    roots *= std / np.linalg.norm(roots @ likelihood.contrasts, axis=1).max(axis=1)[:, None, None]
    mean = std * rng.normal(size=(6, d))
    found = likelihood.mean_probabilities(mean, roots.swapaxes(1, 2) @ roots)
    points = ndtri(qmc.Sobol(d, seed=1).random(2**15))
    each = zip(mean, roots, strict=True)
    expected = [likelihood.probabilities(m + points @ root).mean(axis=0) for m, root in each]
    assert np.abs(found - expected).max() < error


@pytest.mark.parametrize("size", [1.0, 4.0], ids=["near", "wide"])
def test_mean_probabilities_are_averages_over_draws(rows, rng, size):
    likelihood, _, mean, covariance = rows
    found = likelihood.mean_probabilities(mean, size * covariance)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    for row in range(len(mean)):
        drawn = rng.multivariate_normal(mean[row], size * covariance[row], 100_000)
        average = likelihood.probabilities(drawn).mean(axis=0)
        np.testing.assert_allclose(found[row], average, atol=0.005)


def test_mean_probabilities_without_spread_are_those_of_the_mean(rows):
    likelihood, _, mean, covariance = rows
    found = likelihood.mean_probabilities(mean, np.zeros_like(covariance))
    np.testing.assert_allclose(found, likelihood.probabilities(mean), rtol=1e-12)


def test_a_row_is_averaged_alike_wherever_it_stands(rng):
    """Many rows are taken some at a time."""
    likelihood, mean = Categorical(3), rng.normal(size=(4000, 2))
    covariance = np.tile(np.eye(2), (len(mean), 1, 1))
    found = likelihood.mean_probabilities(mean, covariance)
    backwards = likelihood.mean_probabilities(mean[::-1], covariance)
    np.testing.assert_allclose(found, backwards[::-1], rtol=1e-12)
