"""Input scales learnt from the evidence, against other ways to have some."""
