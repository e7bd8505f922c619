"""The result of a fit: kept functions, fitted outputs, and how the search went."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from relvec._evidence.posterior import Posterior
from relvec._fitting.augmentation import Extra, Residuals, TrainingRows
from relvec._fitting.batches import Beside, by_batches
from relvec._fitting.correlated_rows import CorrelatedSolution, FittedCorrelation
from relvec._fitting.data import TrainingData
from relvec._fitting.noise_model import LearntNoise, NoisySolution
from relvec._fitting.problem import Problem
from relvec._numerics.compact import Compact
from relvec._numerics.linalg import solve_lower_vector, triangle
from relvec._numerics.typing import Array, Index
from relvec.basis import Basis
from relvec.basis.scale import standard_deviations
from relvec.exceptions import Advice, NoiseFloorWarning, NotConvergedWarning, RelvecWarning
from relvec.likelihoods import Gaussian, Likelihood
from relvec.solvers import Pass, Solution, Status

#: Passes of the history that are stored.
MOST_PASSES = 256
#: Mean of frequencies above which it is not one that was divided by itself and rounded.
ABOVE_ONE = 1 + 1e-9
#: Layout of stored passes.
PASS = np.dtype(
    [
        ("start", np.int32),
        ("log_evidence", np.float64),
        ("n_active", np.int32),
        ("noise_variance", np.float64),
        ("seconds", np.float64),
        ("machine", np.int32),
    ]
)


@dataclass(frozen=True)
class Queries:
    """Kept functions at rows to predict."""

    Phi: Array  # (n_queries, n_active), kept functions of the estimator
    extra: Extra | None  # functions centred on the rows themselves, if the estimator adds any
    X: Array  # (n_queries, n_features), the rows
    basis: Basis  # of the functions

    @classmethod
    def of(cls, X: Array, basis: Basis, rows: TrainingRows | None) -> Self:
        """Evaluate the kept functions, and those added beside the training rows, at the rows X."""
        return cls(basis.values(X), None if rows is None else rows.extra(X), X, basis)

    @cached_property
    def unspanned(self) -> dict[int, Array]:
        """Variance (n_queries,) that functions stand for but do not span, by their positions."""
        return self.basis.unspanned(self.X)


@dataclass(frozen=True)
class FittedOutput(Compact):
    """Posterior of one set of weights; several share the kept functions of an estimator."""

    columns: Index  # (n_columns,), those of the estimator's kept functions that it uses
    posterior: Posterior  # its weights
    likelihood: Likelihood  # distribution of the target given its linear predictor
    alpha: Array  # (n_columns,), prior precision of its weights
    well_determined: Array  # (n_columns,), γ of eq. 17
    #: its residuals at the training rows, where functions are added at the queries
    residuals: Residuals | None = None
    #: noise that varies with the inputs, in units of that of the likelihood; None if it does not
    noise: LearntNoise | None = None
    #: correlation of the noise between rows; None if there is none
    correlation: FittedCorrelation | None = None

    @classmethod
    def of(cls, solution: Solution, columns: Index) -> list[Self]:
        """Return the outputs of a solution: one, or one a target where several share functions."""
        posterior, likelihood = solution.posterior, solution.likelihood
        if isinstance(posterior, Posterior):
            own = cls(columns, posterior, likelihood, solution.alpha, solution.well_determined)
            noise = solution.noise if isinstance(solution, NoisySolution) else None
            if isinstance(solution, CorrelatedSolution):
                return [replace(own, correlation=solution.correlation)]
            return [replace(own, noise=noise)]
        assert isinstance(likelihood, Gaussian)
        parts = zip(posterior.parts, solution.alpha, solution.well_determined, strict=True)
        return [
            cls(columns, part, likelihood.of_target(target), alpha, well_determined)
            for target, (part, alpha, well_determined) in enumerate(parts)
        ]

    def with_residuals(self, rows: TrainingRows, t: Array, data: TrainingData) -> Self:
        """Return the output with the residuals of its target t (n_samples, d)."""
        weights = np.ones(len(t)) if data.weights is None else data.weights
        counts = weights if data.row_precision is None else weights * data.row_precision
        share = weights / weights.sum()
        sizes = rows.sizes(self.columns, self.posterior, share, center=data.intercept)
        own = rows.Phi[:, self.columns]
        mean, covariance = self.posterior.latent_mean(own), self.posterior.latent_covariance(own)
        _, slope, curvature = self.likelihood.surrogate(t, mean, covariance)
        residuals = Residuals(counts[:, None] * slope, counts[:, None, None] * curvature, sizes)
        return replace(self, residuals=residuals)

    def likelihood_at(self, X: Array) -> Likelihood:
        """Distribution of new targets at rows X (n_samples, n_features) given their predictors."""
        if self.noise is None:
            return self.likelihood
        assert isinstance(self.likelihood, Gaussian)
        return self.likelihood.times(self.noise.relative_variance(X)[:, None])

    def latent(self, at: Queries, *, spread: bool) -> tuple[Array, Array]:
        """Mean and covariance of the linear predictor at some rows, zero without `spread`.

        Shapes (n_queries, n_outputs) and (n_queries, n_outputs, n_outputs). What leaves the
        range of float64 is an error.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            mean, covariance = self._latent(at, spread=spread)
        check_range(mean, covariance)
        return mean, covariance

    def worth(self, own: NDArray[np.bool_]) -> float:
        """Nats of log evidence that deleting the functions `own` (n_columns,) would cost.

        With F their part of the root of Σ̂ and m that of μ̂, ½[log|FFᵀ| + mᵀ(FFᵀ)⁻¹m]; the triangle
        of Fᵀ = QR has all its digits.
        """
        mean, root = self.posterior.mean, self.posterior.root
        unit = np.sqrt(self.alpha[own])[:, None]
        roots = root.reshape(*mean.shape, len(root))[own] * unit[:, :, None]
        R = triangle(roots.reshape(-1, len(root)).T)
        white = solve_lower_vector(R.T, (mean[own] * unit).ravel())
        return float(np.log(np.abs(R.diagonal())).sum() + 0.5 * (white @ white))

    def unspanned_variance(self, at: Queries) -> Array:
        """Variance of each linear predictor that the functions do not span, shape (n_queries,)."""
        total = np.zeros(len(at.Phi))
        for position, variance in at.unspanned.items():
            for place in np.flatnonzero(self.columns == position):
                total = total + variance / self.alpha[place]
        return total

    def _latent(self, at: Queries, *, spread: bool) -> tuple[Array, Array]:
        every = len(self.columns) == at.Phi.shape[1]
        own = at.Phi if every else at.Phi[:, self.columns]
        mean = self.posterior.latent_mean(own)
        covariance = (
            self.posterior.latent_covariance(own)
            if spread
            else np.zeros((*mean.shape, mean.shape[1]))
        )
        if spread and at.unspanned:
            unspanned = self.unspanned_variance(at)
            covariance = covariance + unspanned[:, None, None] * np.eye(mean.shape[1])
        if self.residuals is None or at.extra is None:
            return mean, covariance
        beside = at.extra.of(self.columns)
        shift, more = self.residuals.correction(self.posterior, self.alpha, beside, own)
        return mean + shift, covariance + more if spread else covariance


def check_range(*predicted: Array) -> None:
    """Refuse predictions that exceed the range of float64."""
    if not all(np.isfinite(values).all() for values in predicted):
        raise OverflowError(
            "predictions at these rows of X, or their variances, exceed the range of float64; "
            "rescale X or y"
        )


@dataclass(frozen=True)
class FitResult(Compact):
    """Everything that a fit leaves."""

    basis: Basis  # the kept functions
    relevance: Index  # (n_active,), their numbers among the candidates, ascending
    outputs: list[FittedOutput]
    single: bool  # whether there is one output, whose attributes have no axis of outputs
    log_evidence: float  # sum over the outputs
    history: list[Pass]  # passes of the searches that ended in the outputs
    n_iter: int  # passes of all starts and outputs together
    status: str  # how the fit ended, in words
    searches: list[Status]  # how the search for each target did; none of release 0.1.0
    warnings: list[RelvecWarning]  # worst first
    #: (n_features,), standard deviation of each input in widths of the functions
    feature_relevance: Array | None
    noise_by_row: bool  # whether the variance of the noise was given for each row
    #: (n_samples, n_features), the rows themselves, where functions are added at the queries
    training_rows: Array | None
    #: parameters of the estimator in the fit that it goes on to read; None of earlier releases
    parameters: dict[str, Any] | None = None
    exposed: bool = False  # whether targets were counts with an exposure

    @classmethod
    def of(
        cls,
        problem: Problem,
        basis: Basis,
        solutions: list[Solution],
        stopped: RelvecWarning | None,
    ) -> Self:
        """Return the result of the solutions of all outputs, of candidates in a basis.

        A fit that was `stopped` early warns of that.
        """
        data, config, names = problem.data, problem.config, problem.data.targets
        relevance = np.unique(np.concatenate([solution.active for solution in solutions]))
        kept = basis.restrict(relevance)
        outputs = [
            output
            for solution in solutions
            for output in FittedOutput.of(solution, np.searchsorted(relevance, solution.active))
        ]
        if config.augment:
            outputs = _with_residuals(outputs, kept, data, solutions)
        if config.order is not None:
            outputs = [outputs[number] for number in config.order]
        early = [] if stopped is None else [stopped]
        notes = [[_explained(note, data, kept) for note in one.warnings] for one in solutions]
        told = [
            name + "; ".join([*map(str, own), solution.status.text])
            for name, own, solution in zip(names, notes, solutions, strict=True)
        ]
        return cls(
            basis=kept,
            relevance=relevance,
            outputs=outputs,
            single=config.single,
            log_evidence=sum(solution.log_evidence for solution in solutions),
            history=[
                row._replace(machine=number)
                for number, solution in enumerate(solutions)
                for row in solution.history
            ],
            n_iter=sum(solution.n_iter for solution in solutions),
            status="; ".join([*map(str, early), " | ".join(told)]),
            searches=[solution.status for solution in solutions],
            warnings=early
            + [note.of(name) for name, own in zip(names, notes, strict=True) for note in own],
            feature_relevance=_relevance(kept, data),
            noise_by_row=data.row_precision is not None,
            training_rows=data.X.copy() if config.augment else None,  # users may write to theirs
            parameters=dict(config.parameters),
            exposed=data.exposed,
        )

    def by_output(self, name: str, missing: float) -> Array:
        """Attribute `name` of every function, `missing` where an output does not use it.

        Shape (n_active,) with a `single` output, otherwise (n_outputs, n_active).
        """
        rows = np.full((len(self.outputs), len(self.relevance)), missing)
        for row, output in zip(rows, self.outputs, strict=True):
            row[output.columns] = getattr(output, name)
        return rows[0] if self.single else rows

    def at_rows(
        self,
        function: Callable[..., Array],
        X: Any,
        *shape: int,
        beside: Sequence[Beside] = (),
    ) -> Any:
        """Apply a function of the kept functions at rows X, which maps one row to that shape.

        Rows are evaluated in batches; those out of core where they are, those in Dask later. The
        function is given what is `beside` the rows, too.
        """
        numbers = len(self.relevance) * max(len(o.posterior.level) for o in self.outputs) ** 2
        rows = None
        if self.training_rows is not None:
            rows = TrainingRows(self.training_rows, self.basis)
            numbers += rows.numbers(max(len(o.posterior.level) for o in self.outputs))
        return by_batches(
            partial(_evaluated, function, self.basis, rows), X, numbers, shape, beside
        )

    def __getstate__(self) -> dict[str, Any]:
        """Store few passes of a long history, and warnings by their codes."""
        state = super().__getstate__()
        history = np.array(self.history, dtype=PASS)
        if len(history) > MOST_PASSES:  # evenly spaced to the last
            places = np.linspace(0, len(history) - 1, MOST_PASSES)
            history = history[places.round().astype(np.intp)]
        return state | {
            "history": history,
            "searches": [astuple(search) for search in self.searches],
            "warnings": [
                (warning.code, warning.fact, *map(tuple, warning.advice))
                for warning in self.warnings
            ],
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        history = [Pass(*row) for row in state["history"].tolist()]
        warnings = [_warning(*fields) for fields in state["warnings"]]
        searches = [Status(*fields) for fields in state["searches"]]
        super().__setstate__(
            state | {"history": history, "warnings": warnings, "searches": searches}
        )

    @staticmethod
    def upgraded(state: dict[str, Any]) -> dict[str, Any]:
        """Return the state of an estimator that release 0.1.0 stored as the present one has it."""
        state = dict(state)
        relevance = state.pop("relevance_").astype(np.intp)
        history, status = state.pop("history_"), state.pop("status_")
        result = FitResult(
            basis=state.pop("basis_"),
            relevance=relevance,
            outputs=state.pop("machines_"),
            single=state.pop("single"),
            log_evidence=state.pop("log_evidence_"),
            history=[Pass(*row) for row in history.tolist()],
            n_iter=state.pop("n_iter_"),
            status=status,
            searches=[],  # which it did not store
            warnings=[_warning(*pair) for pair in state.pop("_notes", [])],
            feature_relevance=state.pop("feature_relevance_", None),
            noise_by_row=state.pop("_noise_by_row", False),
            training_rows=state.pop("training_rows_", None),
        )
        state.pop("gamma_", None)
        return state | {"fit_result_": result}


def _relevance(basis: Basis, data: TrainingData) -> Array | None:
    """Return the standard deviation of each input in widths of the functions; None without any."""
    if data.X.dtype == object or basis.inputs is not None:
        return None
    return basis.relevance(standard_deviations(data.X, data.weights))


def _warning(code: str, fact: str, *advice: tuple[Any, ...]) -> RelvecWarning:
    """Return the warning with a code; release 0.1.0 stored its class's name and all in one text."""
    kinds = {kind.code: kind for kind in RelvecWarning.__subclasses__()}
    kinds |= {kind.__name__: kind for kind in RelvecWarning.__subclasses__()}
    kinds["ConvergenceWarning"] = NotConvergedWarning
    return kinds.get(code, RelvecWarning)(fact, *(Advice(*each) for each in advice))


def _explained(note: RelvecWarning, data: TrainingData, basis: Basis) -> RelvecWarning:
    """Return the warning with what data and functions say of its cause and of what can be done.

    A width can be changed that functions have and that was not learnt. Copies of rows leave no
    noise to be seen.
    """
    if basis.hyper or not basis.centred:
        note = note.without("gamma")
    if note.code != NoiseFloorWarning.code or not data.mean_weight > ABOVE_ONE:
        return note
    return note.because(
        f"sample_weight has a mean of {data.mean_weight:.3g}, and a weight of k says that the row "
        "was seen k times with the same target, as if there were no noise",
        Advice("divide {} by its mean, unless rows were seen so often", "sample_weight"),
    )


def _with_residuals(
    outputs: list[FittedOutput], basis: Basis, data: TrainingData, solutions: list[Solution]
) -> list[FittedOutput]:
    """Outputs with their residuals at the training rows."""
    rows = TrainingRows(data.X, basis)
    targets = [
        part
        for t, solution in zip(data.targets.values(), solutions, strict=True)
        for part in np.split(t, len(np.atleast_2d(solution.alpha)), axis=1)
    ]
    return [one.with_residuals(rows, t, data) for one, t in zip(outputs, targets, strict=True)]


def _evaluated(
    function: Callable[..., Array],
    basis: Basis,
    rows: TrainingRows | None,
    X: Array,
    *beside: Array,
) -> Array:
    return function(Queries.of(X, basis, rows), *beside)
