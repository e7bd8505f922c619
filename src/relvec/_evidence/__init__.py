"""Inference: what the data say of the weights, and the evidence of a model, by likelihood."""

from relvec._evidence.base import CandidateScores, EvidenceModel, EvidenceState, SparseModel
from relvec._evidence.choice import evidence_model
from relvec._evidence.hyperparameters import Hyperparameters

__all__ = [
    "CandidateScores",
    "EvidenceModel",
    "EvidenceState",
    "Hyperparameters",
    "SparseModel",
    "evidence_model",
]
