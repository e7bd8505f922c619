"""What may be done to the noise."""

import pytest

from relvec._design import DenseDesign
from relvec._evidence import evidence_model
from relvec._evidence.noise import LEAST_FREEDOM, Noise
from relvec._numerics.priors import Gamma
from relvec.likelihoods import Gaussian

FREE = Noise(held=False, beta_max=1e8)


def test_noise_moves_up_or_down_unless_held():
    for slope in (-1.0, 1.0):
        assert FREE.may_move(1.0, slope, 10, freedom=5)
        assert not Noise(held=True, beta_max=1e8).may_move(1.0, slope, 10, freedom=5)


@pytest.mark.parametrize(
    ("beta", "freedom"), [(1e8, 5), (1.0, 0.9 * LEAST_FREEDOM * 10)], ids=["ceiling", "freedom"]
)
def test_noise_shrinks_neither_below_its_floor_nor_without_freedom(beta, freedom):
    assert not FREE.may_move(beta, 1.0, 10, freedom)
    assert FREE.may_move(beta, -1.0, 10, freedom)


def test_noise_precision_is_that_of_equation_18_within_its_bounds():
    assert FREE.precision(freedom=8.0, misfit=0.1) == pytest.approx(80.0)
    assert FREE.precision(freedom=8.0, misfit=0.0) == FREE.beta_max
    assert FREE.precision(freedom=8.0, misfit=1e-12) == FREE.beta_max
    assert FREE.precision(freedom=1e-9, misfit=0.5) == 1.0


def test_noise_precision_is_that_of_equation_46_under_a_prior():
    noise = Noise(held=False, beta_max=1e8, prior=Gamma(3.0, 0.2))
    assert noise.precision(freedom=8.0, misfit=0.1) == pytest.approx((8 + 6) / (0.1 + 0.4))
    assert noise.precision(freedom=-6.0, misfit=0.5) == pytest.approx(1 / 1.4)


def test_a_prior_counts_as_observations_that_noise_is_told_from():
    noise = Noise(held=False, beta_max=1e8, prior=Gamma(1.0, 0.2))
    assert noise.may_move(1.0, 1.0, 10, freedom=0.1)
    assert not noise.may_move(1.0, 1.0, 11, freedom=0.1)


def test_noise_is_released_to_its_known_value_or_under_its_ceiling():
    assert Noise(held=True, beta_max=50.0).released(3.0) == 50.0
    assert FREE.released(3.0) == 3.0
    assert FREE.released(1e9) == FREE.beta_max


@pytest.mark.parametrize("unit", [1.0, 1e3])
def test_the_least_variance_bounds_the_noise_in_any_unit(rng, unit):
    """β is that of a target of unit norm about its mean."""
    Phi, t, least = rng.normal(size=(20, 3)), unit * rng.normal(size=(20, 1)), 1e-3 * unit**2
    design = DenseDesign(Phi, center=True)
    noise = evidence_model(Gaussian(least_variance=least), design, t).noise
    assert noise.beta_max == pytest.approx(20 * t.var() / least)
