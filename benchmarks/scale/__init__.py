"""Fits of a million rows, and what they have to hold."""
