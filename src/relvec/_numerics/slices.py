"""Slices of rows that are looked at one after the other."""

from collections.abc import Iterator


def slices(n_rows: int, size: int) -> Iterator[slice]:
    """Yield slices of `size` rows each, the last of what is left."""
    for begin in range(0, n_rows, size):
        yield slice(begin, min(begin + size, n_rows))
