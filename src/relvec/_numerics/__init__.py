"""Numerical foundations: linear algebra, float64 limits, argument checks."""
