"""What fitted regressors know of the noise."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._estimators.base import RelevanceEstimator
from relvec._fitting.result import FittedOutput
from relvec._numerics.typing import Array
from relvec.likelihoods import Gaussian


class LearntNoise(RelevanceEstimator):
    """Fitted machines, one a target, each with noise of its own."""

    likelihood: str

    @property
    def _single(self) -> bool:
        """Whether y had no columns."""
        return self.dual_coef_.ndim == 1

    @property
    def noise_variance_(self) -> float | Array:
        """Variance of the noise, in squared units of y; one for each of several targets."""
        return self._of_noise("noise_variance", "noise_variance_")

    @property
    def noise_scale_(self) -> float | Array:
        """Scale σ of Student-t noise, in units of y."""
        return np.sqrt(self._of_noise("scale2", "noise_scale_"))

    @property
    def degrees_of_freedom_(self) -> float | Array:
        """Degrees of freedom ν of Student-t noise."""
        return self._of_noise("degrees_of_freedom", "degrees_of_freedom_")

    def _of_noise(self, name: str, public: str) -> float | Array:
        """What every machine's likelihood knows of its noise, under the name it has there."""
        check_is_fitted(self)
        if not hasattr(self.machines_[0].likelihood, name):
            raise AttributeError(
                f"{public} is not available with likelihood={self.likelihood!r}, whose noise has "
                "none"
            )
        found = [getattr(machine.likelihood, name) for machine in self.machines_]
        return float(found[0]) if self._single else np.array(found)

    def _noise_variance(self, machine: FittedOutput) -> float:
        """Noise variance that a machine learnt, or was given."""
        self._check_gaussian()
        assert isinstance(machine.likelihood, Gaussian)
        variance = machine.likelihood.noise_variance
        assert isinstance(variance, float)
        return variance

    def _check_gaussian(self) -> None:
        """Raise unless rows can have noise variances of their own."""
        if not isinstance(self.machines_[0].likelihood, Gaussian):
            raise ValueError(
                f"noise_variance_per_row is given, expected None with likelihood="
                f"{self.likelihood!r}, whose noise is not Gaussian"
            )
