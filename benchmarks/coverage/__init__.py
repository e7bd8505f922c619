"""How often intervals hold what they are to hold."""
