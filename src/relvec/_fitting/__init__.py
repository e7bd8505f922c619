"""Input scales of kernels learnt from the evidence (Tipping 2001, App. C)."""

from relvec._fitting.scales import learn_scales

__all__ = ["learn_scales"]
