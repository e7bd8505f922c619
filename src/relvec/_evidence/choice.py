"""Evidence model of a likelihood."""

from __future__ import annotations

from functools import singledispatch

from relvec._design.base import Design
from relvec._evidence.base import EvidenceModel
from relvec._evidence.exact import ExactEvidence
from relvec._evidence.gaussian_posterior import NearestEvidence
from relvec._evidence.laplace import LaplaceEvidence
from relvec._evidence.scale_mixture import ScaleMixtureEvidence
from relvec._evidence.variational import BoundEvidence
from relvec._numerics.typing import RowVector
from relvec.likelihoods.base import Likelihood
from relvec.likelihoods.bernoulli import Bernoulli, ExpectedLogistic, LogisticBound
from relvec.likelihoods.gaussian import Gaussian
from relvec.likelihoods.student_t import StudentT


@singledispatch
def evidence_model(likelihood: Likelihood, design: Design, t: RowVector) -> EvidenceModel:
    """Evidence of a target (n_samples, d) on a design: Laplace's method, unless more is known.

    A likelihood with a better method registers it: ``@evidence_model.register``.
    """
    return LaplaceEvidence(design, t, likelihood)


@evidence_model.register
def _(likelihood: Gaussian, design: Design, t: RowVector) -> EvidenceModel:
    """Gaussian noise needs no approximation."""
    return ExactEvidence(design, t, likelihood)


@evidence_model.register
def _(likelihood: StudentT, design: Design, t: RowVector) -> EvidenceModel:
    """Exact given the scales of the rows, which a bound is maximised over."""
    return ScaleMixtureEvidence(design, t, likelihood)


@evidence_model.register
def _(_: LogisticBound, design: Design, t: RowVector) -> EvidenceModel:
    """Exact given the bounds of the rows."""
    return BoundEvidence(design, t, Bernoulli())


@evidence_model.register
def _(likelihood: ExpectedLogistic, design: Design, t: RowVector) -> EvidenceModel:
    """The Gaussian posterior of the highest lower bound."""
    return NearestEvidence(design, t, Bernoulli(), likelihood)
