"""Inference: what the data say of the weights, and the evidence of a model, by likelihood."""

from relvec._evidence.base import CandidateScores, EvidenceModel, EvidenceState, SparseModel
from relvec._evidence.choice import evidence_model

__all__ = [
    "CandidateScores",
    "EvidenceModel",
    "EvidenceState",
    "SparseModel",
    "evidence_model",
]
