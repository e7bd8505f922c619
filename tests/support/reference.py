"""Slow, independent answers that the tests and benchmarks compare the package with.

Nothing here is shared with the package: the posterior comes from a QR factorisation of the stacked
matrix ``[sqrt(beta) Phi A^(-1/2); I]`` and the evidence from the dense covariance
``C = I / beta + Phi A^(-1) Phi'``. Equation numbers are those of Tipping (2001).

With ``fit_intercept`` a constant with a flat prior is eliminated: columns and target are centred
and the evidence is the density of the N - 1 contrasts of ``t`` orthogonal to the constant.
"""

from dataclasses import dataclass

import mpmath
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import helmert
from scipy.stats import multivariate_normal

Array = NDArray[np.float64]

#: A function leaves when the data determine its weight this little and its alpha still grows.
PRUNE_WELL_DETERMINED = 1e-9


@dataclass(frozen=True)
class TopDownFit:
    """What `top_down` returns; ``alpha`` and ``mean`` are those of the functions in ``active``."""

    active: NDArray[np.intp]
    alpha: Array
    beta: float
    mean: Array
    intercept: float
    log_evidence: float
    converged: bool

    def predict(self, Phi: Array) -> Array:
        """Posterior mean of the function, from the full design matrix of the query points."""
        return Phi[:, self.active] @ self.mean + self.intercept


def top_down(
    Phi: Array,
    t: Array,
    *,
    fit_intercept: bool = False,
    noise_variance: float | None = None,
    max_iter: int = 20_000,
    tol: float = 1e-5,
) -> TopDownFit:
    """MacKay's fixed point (eq. 16-18) from the full dictionary, pruning as it goes.

    It starts with all M functions sharing the variance of the target and, when the noise is learnt,
    with a tenth of that variance as noise. It stops once no log alpha moves by more than `tol`.
    """
    t_mean, Phi_mean = t.mean() * fit_intercept, Phi.mean(axis=0) * fit_intercept
    norm = np.linalg.norm(Phi - Phi_mean, axis=0)
    active = np.flatnonzero(norm > 1e-14 * np.linalg.norm(Phi, axis=0))
    columns, target = ((Phi - Phi_mean) / np.where(norm > 0, norm, 1))[:, active], t - t_mean
    n_free = len(t) - fit_intercept
    alpha = np.full(len(active), len(active) / (target @ target))
    beta = 1 / noise_variance if noise_variance else 10 * n_free / (target @ target)
    converged = False
    for _ in range(max_iter):
        mean, gamma, _ = _posterior(columns, target, alpha, beta, n_free)
        with np.errstate(divide="ignore"):
            new = gamma / mean**2
        lost = gamma < PRUNE_WELL_DETERMINED
        keep = ~lost | ((new < alpha) & (gamma > 0))
        change = np.abs(np.log(new[keep] / alpha[keep])).max(initial=0.0)
        if noise_variance is None:
            residual = target - columns @ mean
            new_beta = (n_free - gamma.sum()) / (residual @ residual)
            change, beta = max(change, abs(np.log(new_beta / beta))), new_beta
        columns, active, alpha = columns[:, keep], active[keep], new[keep]
        if keep.all() and change < tol:
            converged = True
            break
    mean, _, log_evidence = _posterior(columns, target, alpha, beta, n_free)
    weights = mean / norm[active]
    return TopDownFit(
        active=active,
        alpha=alpha * norm[active] ** 2,
        beta=float(beta),
        mean=weights,
        intercept=float(t_mean - Phi_mean[active] @ weights) if fit_intercept else 0.0,
        log_evidence=log_evidence,
        converged=converged,
    )


def _posterior(
    Phi: Array, t: Array, alpha: Array, beta: float, n_free: int
) -> tuple[Array, Array, float]:
    """Weight mean, ``1 - alpha_i Sigma_ii`` and log evidence, by a QR that squares no condition."""
    scaled = np.sqrt(beta / alpha) * Phi
    Q, R = np.linalg.qr(np.vstack([scaled, np.eye(len(alpha))]))
    top, inverse_R = Q[: len(t)], Q[len(t) :]
    whitened = inverse_R @ (top.T @ (np.sqrt(beta) * t))
    mean = whitened / np.sqrt(alpha)
    residual = t - Phi @ mean
    log_det = 2 * np.log(np.abs(R.diagonal())).sum() - n_free * np.log(beta)
    quadratic = beta * (residual @ residual) + whitened @ whitened
    log_evidence = -0.5 * (n_free * np.log(2 * np.pi) + log_det + quadratic)
    return mean, 1 - np.einsum("ij,ij->i", inverse_R, inverse_R), float(log_evidence)


def log_evidence(
    Phi: Array, t: Array, alpha: Array, beta: float, *, fit_intercept: bool = False
) -> float:
    """Log density of the data under C (eq. 15), for any conditioning of C, from the stacked QR."""
    if fit_intercept:
        Phi, t = Phi - Phi.mean(axis=0), t - t.mean()
    return _posterior(Phi, t, np.asarray(alpha), beta, len(t) - fit_intercept)[2]


def log_evidence_dense(
    Phi: Array, t: Array, alpha: Array, beta: float, *, fit_intercept: bool = False
) -> float:
    """Log density by `scipy.stats.multivariate_normal`; it refuses C with a condition over 1e9."""
    C = np.eye(len(t)) / beta + (Phi / alpha) @ Phi.T
    if fit_intercept:
        H = helmert(len(t))  # orthonormal rows, each orthogonal to the constant
        C, t = H @ C @ H.T, H @ t
    return float(multivariate_normal.logpdf(t, cov=C))


def log_evidence_exact(
    Phi: Array,
    t: Array,
    alpha: Array,
    beta: float | Array,
    *,
    fit_intercept: bool = False,
    digits: int = 60,
) -> float:
    """Log density with `digits` decimal digits: the judge where C is ill-conditioned.

    The noise precision may be one for each row.
    """
    n = len(t)
    with mpmath.workdps(digits):
        prior_variance = [1 / mpmath.mpf(float(a)) for a in alpha]
        rows = [[mpmath.mpf(value) for value in row] for row in Phi.tolist()]
        C = mpmath.diag([1 / mpmath.mpf(float(b)) for b in np.broadcast_to(beta, n)])
        for i, row in enumerate(rows):
            scaled = [value * variance for value, variance in zip(row, prior_variance, strict=True)]
            for j in range(i + 1):
                C[i, j] = C[j, i] = C[i, j] + mpmath.fdot(scaled, rows[j])
        L = mpmath.cholesky(C)
        white_t = _forward_solve(L, t)
        quadratic = mpmath.fdot(white_t, white_t)
        log_det = 2 * mpmath.fsum(mpmath.log(L[j, j]) for j in range(n))
        if fit_intercept:
            # |H C H'| = |C| 1'C^-1 1 / N, and the quadratic form loses what the constant explains.
            white_one = _forward_solve(L, np.ones(n))
            precision = mpmath.fdot(white_one, white_one)
            quadratic -= mpmath.fdot(white_one, white_t) ** 2 / precision
            log_det += mpmath.log(precision / n)
            n -= 1
        return float(-(n * mpmath.log(2 * mpmath.pi) + log_det + quadratic) / 2)


def _forward_solve(L: "mpmath.matrix", v: Array) -> list["mpmath.mpf"]:
    """Solve ``L x = v`` for lower triangular L in the working precision of mpmath."""
    x: list[mpmath.mpf] = []
    for j, value in enumerate(v):
        known = mpmath.fdot((L[j, i], x[i]) for i in range(j))
        x.append((mpmath.mpf(float(value)) - known) / L[j, j])
    return x
