"""Log densities of new targets, against the mixtures that they are and the intervals they hold."""

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import nbinom, norm, poisson, t

from relvec.likelihoods import Gaussian, Poisson, StudentT
from relvec.likelihoods.poisson import count_log_density
from tests.likelihoods.test_contract import SUPPORT
from tests.support.rows import LIKELIHOODS, name_of

NUMBERS = [row for row in LIKELIHOODS if hasattr(row, "predictive_log_density")]


def density(likelihood, targets, mean, variance):
    """Log density of targets whose outputs have one mean and one variance."""
    n = len(targets)
    return likelihood.predictive_log_density(
        np.reshape(targets, (n, 1)), np.full((n, 1), mean), np.full((n, 1, 1), variance)
    )


@pytest.mark.parametrize("likelihood", NUMBERS, ids=name_of)
@pytest.mark.parametrize("variance", [0.0, 1e-6, 0.1])
def test_density_sums_to_one(likelihood, variance):
    targets, measure = SUPPORT[type(likelihood)]
    found = np.exp(density(likelihood, targets, 0.4, variance))
    assert found @ measure == pytest.approx(1, rel=1e-8)


@pytest.mark.parametrize("likelihood", NUMBERS, ids=name_of)
def test_of_a_known_output_it_is_the_likelihood(likelihood):
    targets = SUPPORT[type(likelihood)][0][::50]
    expected = likelihood.log_prob(targets, np.full((len(targets), 1), 0.4))
    np.testing.assert_allclose(density(likelihood, targets, 0.4, 0.0), expected, rtol=1e-9)


@pytest.mark.parametrize("likelihood", [Gaussian(0.3), StudentT(0.3, 3.0), StudentT(0.3, 50.0)])
@pytest.mark.parametrize("variance", [0.01, 4.0])
def test_interval_holds_its_share_of_the_density(likelihood, variance):
    shape = np.array([[0.2]]), np.array([[[variance]]])
    lower, upper = (end.item() for end in likelihood.interval(*shape, 0.9))
    held = quad(lambda x: np.exp(density(likelihood, [x], 0.2, variance))[0], lower, upper)[0]
    assert held == pytest.approx(0.9, abs=1e-7)


@pytest.mark.parametrize("degrees", [3.0, 7.5, 1e4])
@pytest.mark.parametrize("variance", [1e-4, 0.5, 30.0])
def test_student_t_noise_is_convolved_with_the_output(degrees, variance):
    targets = np.array([-2.0, 0.2, 1.0, 9.0])
    output = norm(0.2, np.sqrt(variance))
    noise = t(degrees, scale=np.sqrt(0.3))
    reach = 12 * np.sqrt(variance)
    expected = [
        quad(
            lambda f, x=x: noise.pdf(x - f) * output.pdf(f),
            *(0.2 - reach, 0.2 + reach),
            points=[0.2, np.clip(x, 0.2 - reach, 0.2 + reach)],
            epsabs=0,
            epsrel=1e-11,
            limit=400,
        )[0]
        for x in targets
    ]
    found = density(StudentT(0.3, degrees), targets, 0.2, variance)
    np.testing.assert_allclose(found, np.log(expected), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("degrees", [3.0, 20.0, 1e4])
def test_tails_of_student_t_noise_are_its_own(degrees):
    """However far out, an output of another order of size plays no part there."""
    targets = np.array([3.0, 1e3, 1e8, 1e60])
    found = density(StudentT(1.0, degrees), targets, 0.0, 1e-12)
    np.testing.assert_allclose(found, t(degrees).logpdf(targets), rtol=1e-9)


def test_targets_too_far_out_for_their_square_are_refused():
    with pytest.raises(OverflowError, match=r"y is up to 1e\+170"):
        density(StudentT(1.0, 3.0), [1e170], 0.0, 1.0)
    assert density(Gaussian(1.0), [1e170], 0.0, 1.0) == -np.inf


def test_counts_are_negative_binomial(rng):
    rate, variance = 10 ** rng.uniform(-3, 3, (200, 1)), 10 ** rng.uniform(-4, 1, (200, 1))
    expected = nbinom(1 / variance, 1 / (1 + rate * variance))
    counts = expected.ppf(rng.uniform(0.01, 0.99, (200, 1)))
    found = Poisson().predictive_log_density(counts, np.log(rate), variance[:, None])
    np.testing.assert_allclose(found, expected.logpmf(counts)[:, 0], rtol=1e-7)


@pytest.mark.parametrize("count", [0, 1, 1000, 10**6])
@pytest.mark.parametrize("variance", [1e-12, 1e-6, 0.01, 50.0])
def test_log_probability_of_counts_has_its_digits(count, variance):
    with mpmath.workdps(60):
        shape, rate = 1 / mpmath.mpf(variance), mpmath.mpf(1000)
        ways = mpmath.loggamma(count + shape) - mpmath.loggamma(shape) - mpmath.loggamma(count + 1)
        rare = count * mpmath.log(rate * variance / (1 + rate * variance))
        expected = float(ways + rare - shape * mpmath.log(1 + rate * variance))
    found = count_log_density(*np.array([[count], [1000.0], [1000 * variance]]))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_counts_of_a_known_rate_are_poisson():
    counts, rate = np.arange(9.0), np.full(9, 2.5)
    found = count_log_density(counts, rate, np.zeros(9))
    np.testing.assert_allclose(found, poisson(2.5).logpmf(counts), rtol=1e-9)


@pytest.mark.parametrize(
    ("count", "rate", "excess"),
    [
        (60.0, 70.0, 0.5),
        (1e6, 1.01e6, 3.0),
        (1e10, 1e3, 0.1),
        (1e15, 1.0000001e15, 2.0),
        (1e15, 1e15, 1e5),
        (1e140, 1e139, 1e-10),
        (1e140, 1e139, 1e139),
        (3.0, 1e9, 1e-3),
    ],
)
def test_counts_of_any_size_keep_their_digits(count, rate, excess):
    """The negative binomial distribution in 400 digits."""
    with mpmath.workdps(400):
        t, mean, above = map(mpmath.mpf, (count, rate, excess))
        shape = mean / above
        ways = mpmath.loggamma(t + shape) - mpmath.loggamma(t + 1) - mpmath.loggamma(shape)
        rare = t * mpmath.log(above / (1 + above)) - shape * mpmath.log(1 + above)
        expected = float(ways + rare)
    found = count_log_density(*(np.array([value]) for value in (count, rate, excess)))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
