"""Inference: what the data say of the weights, and the evidence of a model, by likelihood."""

from relvec.inference.base import Accepted, Inference, Model, Point, Scan
from relvec.inference.choice import infer

__all__ = ["Accepted", "Inference", "Model", "Point", "Scan", "infer"]
