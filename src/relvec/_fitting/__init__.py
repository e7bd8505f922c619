"""The fit as one pipeline of values, and the result that predictions come from."""
