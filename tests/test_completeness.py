"""Every basis, likelihood and solver of the package goes through the contract tests."""

import pytest

from relvec.basis import KERNELS, Basis
from relvec.likelihoods import Likelihood
from relvec.solvers import SOLVERS, Solver
from tests.support import rows
from tests.support.rows import concrete


@pytest.mark.parametrize(
    ("base", "tested"),
    [(Basis, rows.BASES), (Likelihood, rows.LIKELIHOODS), (Solver, rows.SOLVERS)],
    ids=["bases", "likelihoods", "solvers"],
)
def test_every_class_has_a_row(base, tested):
    found = set(concrete(base))
    assert found
    assert found <= {type(row) for row in tested}, "add a row to tests/support/rows.py"


@pytest.mark.parametrize(("registry", "base"), [(KERNELS, Basis), (SOLVERS, Solver)])
def test_registries_name_concrete_classes(registry, base):
    assert set(registry.values()) <= set(concrete(base))
