"""Where every random draw of the paper's problems begins."""

import numpy as np

ENTROPY = 2001


def seeds(n_draws: int) -> list[int]:
    """Return the seeds of the first `n_draws` draws: the same ones however many are asked for."""
    return [int(seed) for seed in np.random.SeedSequence(ENTROPY).generate_state(n_draws)]
