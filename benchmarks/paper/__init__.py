"""Tipping (2001) measured again: ``python -m benchmarks.paper``, then a table or figure."""
