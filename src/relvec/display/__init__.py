"""Pictures of fitted estimators; they need matplotlib, the ``plot`` extra."""

from relvec.display.base import BLUE, INK, MIST, STEEL
from relvec.display.boundary import BoundaryDisplay, Map
from relvec.display.calibration import Bins, CalibrationDisplay
from relvec.display.coverage import CoverageDisplay
from relvec.display.effect_shares import EffectSharesDisplay
from relvec.display.effects import EffectCurve, EffectMap, EffectsDisplay
from relvec.display.evidence import EvidenceDisplay
from relvec.display.regression import Curve, RegressionDisplay
from relvec.display.relevance import RelevanceDisplay

__all__ = [
    "BLUE",
    "INK",
    "MIST",
    "STEEL",
    "Bins",
    "BoundaryDisplay",
    "CalibrationDisplay",
    "CoverageDisplay",
    "Curve",
    "EffectCurve",
    "EffectMap",
    "EffectSharesDisplay",
    "EffectsDisplay",
    "EvidenceDisplay",
    "Map",
    "RegressionDisplay",
    "RelevanceDisplay",
]
