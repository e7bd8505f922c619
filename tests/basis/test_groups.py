"""Bases whose functions share a precision, in estimators."""

import numpy as np
import pytest

from relvec import RVC, RVR
from relvec.basis import RBF, Fourier


class Harmonics(Fourier):
    """Sine and cosine of one frequency share a precision."""

    @property
    def groups(self):
        return self.terms_[:, 1]


@pytest.fixture(name="series")
def wave(rng):
    """Two harmonics of a year in noise, neither of which is a sine or a cosine alone."""
    day = np.sort(rng.uniform(0, 730, 150))[:, None]
    angle = 2 * np.pi * day[:, 0] / 365
    return day, np.sin(angle + 0.6) + 0.5 * np.sin(3 * angle - 0.8) + 0.3 * rng.normal(size=150)


@pytest.mark.parametrize("solver", ["sequential", "fixed_point"])
@pytest.mark.parametrize("estimator", [RVR, RVC])
def test_functions_that_share_a_precision_are_kept_together(estimator, solver, series):
    day, y = series
    y = y > 0 if estimator is RVC else y
    model = estimator(kernel=Harmonics(6, 365.0), solver=solver).fit(day, y)
    groups = model.basis_.groups
    assert {0, 2} <= set(groups)
    assert len(model.relevance_) == 2 * len(set(groups))
    for group in set(groups):
        assert len(set(model.weight_precision_[groups == group].round(9))) == 1


def test_widths_are_learnt_beside_them(series):
    day, y = series
    bump = 3 * np.exp(-(((day[:, 0] - 500) / 40) ** 2))
    model = RVR(kernel=[Harmonics(6, 365.0), RBF("evidence")]).fit(day, y + bump)
    harmonics, kernel = model.basis_.parts_
    assert len(harmonics.terms_) == 2 * len(set(harmonics.groups))
    assert len(kernel.rows_)
    assert 10 < kernel.gamma_**-0.5 < 160
    later = np.linspace(0, 730, 50)[:, None]
    angle = 2 * np.pi * later[:, 0] / 365
    truth = np.sin(angle + 0.6) + 0.5 * np.sin(3 * angle - 0.8)
    truth += 3 * np.exp(-(((later[:, 0] - 500) / 40) ** 2))
    assert np.std(model.predict(later) - truth) < 0.15
