"""The solver on the page about solvers runs as it stands there, and is one like those shipped."""

from pathlib import Path

import numpy as np
import pytest

from relvec import RVC, RVR
from relvec._runner import Runner
from relvec.datasets import make_sinc
from relvec.likelihoods import Gaussian
from relvec.solvers import FixedPoint, Hyperparameters
from tests.support import problems
from tests.support.pages import python_blocks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "extend" / "solver.md"


@pytest.fixture(scope="module")
def names():
    """What the first block defines."""
    names = {"__name__": "page"}
    exec(compile(python_blocks(PAGE)[0][0], PAGE.name, "exec"), names)
    return names


def test_it_fits_numbers_and_classes(names):
    X, y = make_sinc(100, noise_scale=0.1, random_state=0)
    found, reference = (
        RVR(gamma=0.1, solver=solver).fit(X, y) for solver in (names["OneAtATime"](), "sequential")
    )
    # one function at a time ends in another local maximum
    assert found.log_evidence_ > reference.log_evidence_ - 2
    machine = RVC(gamma=0.1, solver=names["OneAtATime"]()).fit(X, y > 0)
    assert machine.score(X, y > 0) > 0.9


def test_no_pass_lowers_the_evidence(names):
    problem, solver = problems.smooth(True), names["OneAtATime"]()
    model = solver.evidence_model(Gaussian(), problem.design, problem.t[:, None])
    found = Runner().run(solver, model)
    trace = [row.log_evidence for row in found.history]
    assert found.status.code == "converged"
    assert len(trace) == found.n_iter > 2
    assert (np.diff(trace) >= -1e-9).all()
    assert np.isfinite([row.seconds for row in found.history]).all()
    assert found.log_evidence == pytest.approx(trace[-1], rel=1e-9)


def test_a_start_from_all_functions_is_that_of_the_solvers_of_the_paper(names):
    exec(compile(python_blocks(PAGE)[2][0], PAGE.name, "exec"), names)
    problem, solver = problems.smooth(True), FixedPoint()
    model = solver.evidence_model(Gaussian(), problem.design, problem.t[:, None])
    expected = solver.init(model).hyper
    found = names["everything"](model)
    np.testing.assert_array_equal(found.active, expected.active)
    np.testing.assert_array_equal(found.alpha, expected.alpha)
    np.testing.assert_array_equal(found.beta, expected.beta)


def test_precisions_that_are_no_numbers_are_refused_by_name(names):
    problem, solver = problems.smooth(True), names["OneAtATime"]()
    model = solver.evidence_model(Gaussian(), problem.design, problem.t[:, None])
    with pytest.raises(ValueError, match=r"beta=\[nan\], expected noise precisions > 0"):
        model.at(Hyperparameters(np.arange(2), np.ones(2), np.array([np.nan])))


def test_passes_are_counted_by_max_iter(names):
    problem, solver = problems.smooth(True), names["OneAtATime"](max_iter=2)
    model = solver.evidence_model(Gaussian(), problem.design, problem.t[:, None])
    found = Runner().run(solver, model)
    assert (found.n_iter, found.status.code) == (2, "max_iter")
    assert [warning.code for warning in found.warnings] == ["not_converged"]
