"""Inference: what the data say of the weights, and the evidence of a model, by likelihood."""

from relvec.inference.base import Accepted, Inference, Model, Point, Scan

__all__ = ["Accepted", "Inference", "Model", "Point", "Scan"]
