"""Likelihoods: the distribution of a target given its linear predictor."""

from relvec.likelihoods.ar1 import AR1
from relvec.likelihoods.base import ClassLikelihood, Likelihood, RegressionLikelihood, Surrogate
from relvec.likelihoods.bernoulli import Bernoulli
from relvec.likelihoods.categorical import Categorical
from relvec.likelihoods.gaussian import Gaussian
from relvec.likelihoods.negative_binomial import NegativeBinomial
from relvec.likelihoods.poisson import Poisson
from relvec.likelihoods.student_t import StudentT
from relvec.likelihoods.support import Interval

__all__ = [
    "AR1",
    "Bernoulli",
    "Categorical",
    "ClassLikelihood",
    "Gaussian",
    "Interval",
    "Likelihood",
    "NegativeBinomial",
    "Poisson",
    "RegressionLikelihood",
    "StudentT",
    "Surrogate",
]
