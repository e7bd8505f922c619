"""Designs: how the numbers of the N x M design matrix are reached."""

from relvec.design.base import Design, Target, TargetFrame
from relvec.design.dense import DenseDesign

__all__ = ["DenseDesign", "Design", "Target", "TargetFrame"]
