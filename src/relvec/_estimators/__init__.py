"""Estimators: what users construct; all user input is checked here."""
