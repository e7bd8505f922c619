"""Likelihoods: the distribution of a target given the latent function."""

from relvec.likelihoods.base import ClassLikelihood, Likelihood, RegressionLikelihood
from relvec.likelihoods.bernoulli import Bernoulli
from relvec.likelihoods.categorical import Categorical
from relvec.likelihoods.gaussian import Gaussian
from relvec.likelihoods.poisson import Poisson
from relvec.likelihoods.student_t import StudentT

__all__ = [
    "Bernoulli",
    "Categorical",
    "ClassLikelihood",
    "Gaussian",
    "Likelihood",
    "Poisson",
    "RegressionLikelihood",
    "StudentT",
]
