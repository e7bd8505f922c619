"""Designs: how the numbers of the N x M design matrix are reached."""

from relvec.design.base import Design, RowVector, Target, TargetFrame
from relvec.design.blocked import BlockedDesign
from relvec.design.blocks import ArrayBlocks, RowBlocks
from relvec.design.dense import DenseDesign

__all__ = [
    "ArrayBlocks",
    "BlockedDesign",
    "DenseDesign",
    "Design",
    "RowBlocks",
    "RowVector",
    "Target",
    "TargetFrame",
]
