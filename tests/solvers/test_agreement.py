"""The sequential solver against those that begin with all functions, on thirty problems."""

import itertools

import numpy as np
import pytest

from benchmarks.solvers import FAMILIES, SOLVERS, fit_draw


@pytest.mark.slow
def test_three_starts_have_no_half_nat_less_evidence_than_the_best_of_all_others():
    """Evidence at each one's α and β, which for classes is Laplace's."""
    short = []
    for family, seed in itertools.product(FAMILIES.values(), range(5)):
        evidence = {
            name: fit_draw(solver, family, seed).log_evidence for name, solver in SOLVERS.items()
        }
        best = max(evidence[name] for name in ("fixed point", "EM", "variational"))
        short.append(best - evidence["three starts"])
    assert len(short) == 30
    assert max(short) < 0.5
    assert np.mean(short) < 0
