"""Pictures of fitted machines; they need matplotlib, the ``plot`` extra."""

from relvec.display.classification import ClassificationDisplay, Map
from relvec.display.parts import BLUE, INK, MIST, STEEL
from relvec.display.regression import Curve, RegressionDisplay
from relvec.display.relevance import RelevanceDisplay
from relvec.display.reliability import Bins, ReliabilityDisplay

__all__ = [
    "BLUE",
    "INK",
    "MIST",
    "STEEL",
    "Bins",
    "ClassificationDisplay",
    "Curve",
    "Map",
    "RegressionDisplay",
    "RelevanceDisplay",
    "ReliabilityDisplay",
]
