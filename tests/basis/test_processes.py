"""Gaussian processes of several widths."""

import numpy as np
import pytest

from relvec.basis import RBF, Processes


def test_each_group_has_the_covariance_of_its_width(rng):
    X = rng.normal(size=(12, 2))
    basis = Processes(gamma=[0.8, 1.6], n_centers=48).fit(X)
    Phi, group = basis.transform(X), basis.groups
    for which, factor in enumerate((1 / 16, 1 / 4, 1.0)):
        own, kernel = Phi[:, group == which], RBF(factor * np.array([0.8, 1.6])).fit(X)
        np.testing.assert_allclose(own @ own.T, kernel.transform(X), atol=1e-8)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [({"gamma": "ard"}, "gamma='ard', expected 'scale'"), ({"n_centers": 0}, "n_centers=0")],
)
def test_what_makes_no_processes_is_named(parameters, words, rng):
    with pytest.raises(ValueError, match=words):
        Processes(**parameters).fit(rng.normal(size=(5, 2)))
