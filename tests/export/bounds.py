"""How far single precision may be off."""

import numpy as np

from relvec.basis import Concatenate, Process
from relvec.basis.curves import TAIL, Curve, Line
from relvec.basis.effects import Effect
from relvec.likelihoods import Poisson

#: Roundings of every term that a sum may be off by.
ROUNDINGS = 10 * np.finfo(np.float32).eps


def bounds(model, X):
    """Of mean and standard deviation of every output of a regressor at rows X.

    The mean is a sum of w_m φ_m(x). The standard deviation is the length of the vector
    (φ − φ̄)ᵀF beside constants, each of its entries a sum, and a length moves no further than its
    vector. A rate e^y has the relative error of y, and the standard deviation of counts with the
    dispersion δ, √(λ + λ²(s² + δ(1 + s²))), that of y and √(1 + δ) times that of the s of y.
    """
    machine = model[-1] if hasattr(model, "steps") else model
    rows = model[:-1].transform(X) if machine is not model else X
    Phi = terms(machine.basis_, np.asarray(rows, dtype=np.float64))
    predicted = (
        np.reshape(part, (len(X), -1)).T for part in machine.predict(rows, return_std=True)
    )
    of_mean, of_std = [], []
    for one, mean, std in zip(machine.fit_result_.outputs, *predicted, strict=True):
        own, posterior = Phi[:, one.columns], one.posterior
        of_mean.append(own @ np.abs(posterior.mean[:, 0]) + np.abs(posterior.intercept[0]))
        entries = own @ np.abs(posterior.root) + np.abs(posterior.center @ posterior.root)
        of_std.append(np.linalg.norm(entries, axis=1) + std)
        if isinstance(one.likelihood, Poisson):
            dispersion = one.likelihood.hyper.get("dispersion", 0.0)
            of_std[-1] = std * of_mean[-1] + mean * np.sqrt(1 + dispersion) * of_std[-1]
            of_mean[-1] = mean * (1 + of_mean[-1])
    return ROUNDINGS * np.column_stack(of_mean), ROUNDINGS * np.column_stack(of_std)


def terms(basis, X):
    """Sums of the sizes of the terms that every function at rows X is a sum of."""
    if isinstance(basis, Concatenate):
        return np.hstack([terms(part, X) for part in basis.parts_])
    if isinstance(basis, Process):
        covariance = np.abs(basis.kernel_.evaluate(X[:, basis.features_]))
        return covariance @ np.abs(basis.root_[:, basis.terms_])
    if isinstance(basis, Effect):
        products = np.ones((len(X), 1))
        for factor in basis.factors:
            own = terms_of_factor(factor, X)
            products = (products[:, :, None] * own[:, None, :]).reshape(len(X), -1)
        return products @ np.abs(basis.axes_[:, basis.terms_]) + np.abs(basis.mean_[basis.terms_])
    return np.abs(basis.evaluate(X))


def terms_of_factor(factor, X):
    """The same of the functions of one input."""
    x = X[:, factor.feature]
    if isinstance(factor, Line):
        return ((np.abs(x) + np.abs(factor.mean)) / factor.deviation)[:, None]
    if isinstance(factor, Curve):
        u = TAIL * np.arcsinh((x - factor.middle) / factor.unit / TAIL)
        gaussian = np.exp(-0.5 * ((u[:, None] - factor.knots) / factor.width) ** 2)
        return gaussian @ np.abs(factor.root) + np.abs(factor.mean)
    return np.abs(factor.values(X))
