"""Public splits of UCI data sets: this package, other libraries, and what was published."""
