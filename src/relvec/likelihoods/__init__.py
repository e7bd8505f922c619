"""Likelihoods: the distribution of a target given the latent function."""

from relvec.likelihoods.base import Likelihood
from relvec.likelihoods.gaussian import Gaussian

__all__ = ["Gaussian", "Likelihood"]
