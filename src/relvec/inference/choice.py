"""How the weights are inferred under a likelihood."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from relvec.design.base import Array, Design
from relvec.inference.base import Inference
from relvec.inference.exact import Exact
from relvec.inference.laplace import Laplace
from relvec.inference.mixture import Mixture, Scales
from relvec.likelihoods.base import Likelihood
from relvec.likelihoods.gaussian import Gaussian
from relvec.likelihoods.student_t import StudentT


@singledispatch
def infer(likelihood: Likelihood, design: Design, t: Array) -> Inference:
    """Inference for a target (n_samples, d) on a design: Laplace's method, unless more is known.

    A likelihood with something better registers it: ``@infer.register``.
    """
    return Laplace(design, t, likelihood)


@infer.register
def _(likelihood: Gaussian, design: Design, t: Array) -> Inference:
    """Gaussian noise needs no approximation."""
    return Exact(design, t, likelihood)


@infer.register
def _(likelihood: StudentT, design: Design, t: Array) -> Inference:
    """Exact given the scales of the rows, which a bound is maximised over."""
    return Mixture(design, t, Scales(likelihood, np.ones(len(t))))
