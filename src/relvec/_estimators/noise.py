"""Noise of regression: the same everywhere, or a function of the inputs that is learnt."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from relvec._assess.summary import table
from relvec._estimators.fitted import Given
from relvec._estimators.latent import LatentPredictor, likelihood_at
from relvec._fitting import pipeline
from relvec._fitting.data import TrainingData
from relvec._fitting.problem import FitConfig
from relvec._fitting.result import Queries
from relvec._numerics.checks import check_weights
from relvec._numerics.linalg import with_default_float_errors
from relvec._numerics.typing import Array
from relvec._runner.runner import Runner
from relvec.basis import Basis, Columns, Concatenate, Precomputed
from relvec.likelihoods import Gaussian, Likelihood

#: Columns of the table of the functions of the log variance.
SUMMARY = ("weight", "std", "weight_precision", "well_determined")


class NoisePredictor(LatentPredictor):
    """Fitted outputs, one a target, as predictors of a function and of the noise about it."""

    def _check_noise(self, data: TrainingData, likelihood: Likelihood) -> None:
        """Raise unless the noise can be learnt that is asked for."""
        if self.noise != "learnt" and not isinstance(self.noise, Basis):
            raise ValueError(
                f"noise={self.noise!r}, expected 'constant', 'learnt' or a relvec.basis object"
            )
        if likelihood != Gaussian():
            raise ValueError(
                f"noise={self.noise!r} with a likelihood, noise_variance, beta_prior or "
                "noise_variance_per_row of its own, expected noise='constant', or Gaussian noise "
                "with the defaults of these"
            )
        if self.augment:
            raise ValueError(f"augment=True, expected False with noise={self.noise!r}")
        no_columns = data.X.dtype == object or isinstance(self._dictionary(), Precomputed)
        if no_columns and not isinstance(self.noise, Basis):
            raise ValueError(
                f"noise={self.noise!r}, expected 'constant' or a relvec.basis object where X has "
                "no columns of numbers"
            )

    def _check_rows_not_kept(self, where: str) -> None:
        super()._check_rows_not_kept(where)
        if not (isinstance(self.noise, str) and self.noise == "constant"):
            raise ValueError(f"noise={self.noise!r}, expected 'constant' {where}")

    def _noise_candidates(
        self, data: TrainingData, likelihood: Likelihood, config: FitConfig, runner: Runner
    ) -> Callable[[Basis], Basis]:
        """Return what makes candidates of the log variance of those of the function.

        They are the inputs and the candidates of the function but for a remainder, or those of a
        basis.
        """
        self._check_noise(data, likelihood)
        given = isinstance(self.noise, Basis)
        basis = self._of_inputs(cast(Basis, clone(self.noise)) if given else Columns(), data)
        basis = pipeline.place(data, basis, config, runner)
        if basis.n_hyper:
            raise ValueError(f"noise={self.noise!r}, expected a basis whose scales are numbers")
        if given:
            return lambda _: basis
        return partial(_beside, basis, self.remainder is not None)

    def _log_evidence(self, X: ArrayLike, y: ArrayLike, given: Given) -> float:
        """Log evidence in other data, of noise that is learnt the bound of eq. R13."""
        evidence = super()._log_evidence(X, y, given)
        noises = [output.noise for output in self.fit_result_.outputs if output.noise is not None]
        if not noises or given.get("noise_variance_per_row") is not None:
            return evidence
        rows, _ = self._like_fitted(X, y)
        weights = check_weights(given.get("sample_weight"), len(rows))
        return evidence - sum(noise.cost(rows, weights) for noise in noises)

    @with_default_float_errors
    def predict_noise(self, X: ArrayLike, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Predict the standard deviation of the noise of new observations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries.
        return_std : bool, default=False
            Return the uncertainty of that, too; zero for one variance, which counts as known.

        Returns
        -------
        noise, std : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Root of the mean variance of the noise, in units of y: its square and that of the
            function's standard deviation add up to that of `predict`. If `return_std`, its own
            posterior standard deviation.

        Raises
        ------
        ValueError
            The noise is not Gaussian.

        See Also
        --------
        noise_summary : The functions that it is made of; :doc:`/guide/regression` has examples.
        """
        check_is_fitted(self)
        outputs = self.fit_result_.outputs
        if not all(isinstance(output.likelihood, Gaussian) for output in outputs):
            raise ValueError(
                f"predict_noise with likelihood={self._in_fit('likelihood')!r}, expected "
                "'gaussian': other distributions have no noise of their own"
            )
        both = np.swapaxes(self._at_rows(_noise, X, 2, len(outputs)), 0, 1)
        noise, std = both[:, :, 0] if self._single else both
        return (noise, std) if return_std else noise

    def noise_summary(self) -> Any:
        """Table of the functions of the log variance of the noise, one row each, like `summary`.

        It has no rows where the noise is constant.
        """
        check_is_fitted(self)
        names, features = list[str](), getattr(self, "feature_names_in_", None)
        found = []
        for target, output in enumerate(self.fit_result_.outputs):
            if (noise := output.noise) is not None:
                before = "" if self._single else f"target {target}: "
                names += [before + name for name in noise.basis.names(features)]
                std = np.linalg.norm(noise.posterior.root, axis=1)
                weight = noise.posterior.mean[:, 0]
                found.append(np.stack([weight, std, noise.alpha, noise.well_determined]))
        values = np.hstack([np.empty((len(SUMMARY), 0)), *found])
        return table(names, dict(zip(SUMMARY, values, strict=True)))


def _beside(columns: Basis, remainder: bool, functions: Basis) -> Basis:
    """Inputs beside the candidates of the function, all placed, without its `remainder`."""
    if remainder:
        assert isinstance(functions, Concatenate)
        functions = functions.parts_[0]
    return functions if isinstance(functions, Columns) else Concatenate.of([columns, functions])


def _noise(model: NoisePredictor, at: Queries) -> Array:
    """Standard deviation of the noise, and of that, shape (n_queries, 2, n_outputs)."""
    outputs = model.fit_result_.outputs
    found, nothing = np.zeros((len(at.Phi), 2, len(outputs))), np.zeros((len(at.Phi), 1))
    for number, output in enumerate(outputs):
        _, variance = likelihood_at(output, at.X).moments(nothing, nothing[:, :, None])
        found[:, 0, number] = np.sqrt(variance[:, 0])
        if output.noise is not None:
            found[:, 1, number] = found[:, 0, number] * output.noise.std_error(at.X)
    return found
