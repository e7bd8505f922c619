"""Judging fitted models: comparison, diagnosis, calibration, scores."""
