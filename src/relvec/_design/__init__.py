"""Designs: how the numbers of the N x M design matrix are reached."""

from relvec._design.base import Design, Target, TargetFrame
from relvec._design.blocked import BlockedDesign
from relvec._design.blocks import ArrayBlocks, RowBlocks
from relvec._design.dense import DenseDesign

__all__ = [
    "ArrayBlocks",
    "BlockedDesign",
    "DenseDesign",
    "Design",
    "RowBlocks",
    "Target",
    "TargetFrame",
]
