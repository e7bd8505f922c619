"""Models that additions and deletions, one at a time, do not lead to."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from sklearn.preprocessing import PolynomialFeatures

from relvec import RVR, SparseBayesianRegressor
from relvec._evidence.hyperparameters import Hyperparameters
from relvec.solvers import exchange
from tests.support.reference import log_evidence_dense


def epidemic(contact, recovery, n=1000, total=1000.0):
    """Susceptible, infected and recovered, whose sum is constant, and the change of the second."""

    def change(_, x):
        caught = contact * x[0] * x[1] / total
        return [-caught, caught - recovery * x[1], recovery * x[1]]

    t = np.linspace(0, 200, n)
    x = solve_ivp(change, (0, 200), [total - 1, 1, 0], t_eval=t, rtol=1e-11, atol=1e-11).y.T
    return x, contact * x[:, 0] * x[:, 1] / total - recovery * x[:, 1]


@pytest.mark.parametrize("noise", [0.1, 0.5])
@pytest.mark.parametrize(("contact", "recovery"), [(0.4, 0.1), (0.6, 0.2), (0.3, 0.02)])
def test_of_columns_that_span_the_same_the_fewest_are_kept(contact, recovery, noise):
    """Since x0 + x1 + x2 is constant, x0 x1 is a sum of x1, x1² and x1 x2 as well."""
    x, y = epidemic(contact, recovery)
    y = y + noise * np.random.default_rng(0).normal(size=len(y))
    terms = PolynomialFeatures(2, include_bias=False)
    columns = terms.fit_transform(x)
    names = terms.get_feature_names_out().tolist()
    pair = columns[:, [names.index("x1"), names.index("x0 x1")]]
    found = SparseBayesianRegressor(n_starts=1).fit(columns, y)
    assert found.log_evidence_ > SparseBayesianRegressor().fit(pair, y).log_evidence_ - 1


@pytest.mark.parametrize("seed", [0, 4])
def test_no_function_of_a_fit_is_worth_another_in_its_place(seed):
    """By the dense evidence, and eq. R2 to R4 with a dense inverse."""
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(-3, 3, 60))[:, None]
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=60)
    tol = 0.03
    model = RVR(gamma=10.0, fit_intercept=False, tol=tol).fit(X, y)
    Phi, variance = np.exp(-10 * (X - X.T) ** 2), model.noise_variance_
    kept, alpha = model.relevance_, model.weight_precision_
    for position in range(len(kept)):
        stay, left = Phi[:, np.delete(kept, position)], np.delete(alpha, position)
        inverse = np.linalg.inv(variance * np.eye(60) + (stay / left) @ stay.T)
        s, q = np.einsum("nm,nk,km->m", Phi, inverse, Phi), Phi.T @ inverse @ y
        ratio = np.maximum(q**2 / s, 1.0)
        gain = 0.5 * (ratio - 1 - np.log(ratio))
        gain[kept] = 0.0
        lost = model.log_evidence_ - log_evidence_dense(stay, y, left, 1 / variance)
        assert gain.max() - lost < 1.5 * tol


@pytest.mark.parametrize("penalty", [0.0, 2.0])
@pytest.mark.parametrize(("share", "moves"), [(0.9, 0), (1.1, 1)])
def test_an_exchange_is_worth_its_functions_or_not_tried(monkeypatch, penalty, share, moves):
    """Of two functions for one: it pays for one more, and for `WORTH` times `tol` nats."""
    tried, tol = [], 0.1
    gain = share * (exchange.WORTH * tol + penalty)
    here = SimpleNamespace(hyper=Hyperparameters.empty(np.ones(1)), log_evidence=-10.0)
    there = SimpleNamespace(hyper=here.hyper.add(np.array([3]), 1.0), log_evidence=gain - 10.0)
    model = SimpleNamespace(exchanges=lambda *_: (None, [there]), n=9, noise=None, quick=False)
    monkeypatch.setattr(exchange, "promised", lambda *_: 0.0)
    monkeypatch.setattr(exchange, "newton_ascent", lambda at, *_: tried.append(at) or at)
    found = exchange.better_exchange(model, [here], tol, penalty)
    assert found is (there.hyper if moves else None)
    assert len(tried) == moves
