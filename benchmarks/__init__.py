"""Measurements against the paper and against other packages; see README.md in this folder."""
