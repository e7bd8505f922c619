"""The loop around every search: history, verbose, callbacks, checkpoints, Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from math import isnan
from typing import Any, TypeVar

from relvec._evidence import EvidenceModel
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._runner.callbacks import Attributes, Callbacks, Task
from relvec._runner.checkpoint import Checkpoint, Part
from relvec.exceptions import InterruptedWarning
from relvec.solvers.base import Pass, Solution, Solver

T = TypeVar("T")

#: Why a fit ended early, by the code of its status.
STOPPED = {"interrupted": "interrupted", "callback": "ended by a callback"}


class Runner:
    """Makes the passes of searches, and does what goes on beside them.

    The checkpoint has what another process found of the same fit, and keeps what this one finds;
    callbacks are told of the passes; `verbose` prints a row a pass. `stopped` says why the fit is
    to end with what it has: ``"interrupted"``, ``"callback"``, or None if it is not.
    """

    def __init__(
        self,
        checkpoint: Checkpoint | None = None,
        callbacks: Callbacks | None = None,
        *,
        verbose: int = 0,
    ) -> None:
        self.verbose = verbose
        self.stopped: str | None = None
        self._checkpoint, self._callbacks = checkpoint, callbacks
        self._preview: Callable[[Solution], Any] | None = None
        self._began = time.perf_counter() - (0.0 if checkpoint is None else checkpoint.earlier)

    @property
    def warning(self) -> InterruptedWarning | None:
        """Warning of a fit that ended early."""
        if self.stopped is None:
            return None
        return InterruptedWarning(f"{STOPPED[self.stopped]}: the model is the best so far")

    def run(
        self, solver: Solver, model: EvidenceModel, start: Hyperparameters | None = None
    ) -> Solution:
        """Make the passes of a search, from a `start` if there is one, and return its solution.

        Where the fit is to end, a search that has not begun makes one pass: it needs a model.
        """
        with self._part() as part:
            if part.finished:
                return part.result  # type: ignore[no-any-return]
            state: Any = None if self._checkpoint is None else self._checkpoint.state()
            if state is None:
                state = solver.init(model, start)
            else:  # another process came to it
                solver.restore(model, state)
            with self.interruptible(lambda: state.n_iter > 0):
                while not solver.done(state) and not (self.stopped and state.n_iter):
                    with self._task("pass") as task:
                        state = self._timed(solver.step(model, state))
                        self._keep(state)
                        task.attributes = self._attributes(solver, model, state)
                    if task.stops:
                        self._stop("callback")
            part.result = solver.result(model, state)
            if self.stopped and not solver.done(state):
                status = replace(part.result.status, code=self.stopped)
                part.result = replace(part.result, status=status)
        return part.result  # type: ignore[no-any-return]

    def once(self, compute: Callable[[], T]) -> T:
        """Result of a part of the fit, which is not computed again in another process."""
        with self._part() as part:
            if not part.finished:
                part.result = compute()
        return part.result  # type: ignore[no-any-return]

    @contextmanager
    def fitting(
        self, n_parts: int | None, preview: Callable[[Solution], Any] | None
    ) -> Iterator[Callable[[Any], None]]:
        """Tell callbacks of a fit with so many parts, which removes its checkpoint at its end.

        They may ask for the result that `preview` makes of the solution so far. Yields a function
        that is told the result of the fit.
        """
        self._preview = preview
        with self._task("fit", n_parts) as task:
            yield partial(self._conclude, task)
            if self._checkpoint is not None:
                self._checkpoint.finish()

    def _conclude(self, task: Task, result: Any) -> None:
        if self._callbacks is not None:
            task.attributes = partial(self._callbacks.attributes, result)

    @contextmanager
    def part(self, name: str, n_parts: int | None) -> Iterator[None]:
        """A part of the fit that callbacks are told of, with parts or passes of its own."""
        with self._task(name, n_parts):
            yield

    def resuming(self) -> AbstractContextManager[None]:
        """Name the checkpoint in errors that what another process kept may have caused."""
        return nullcontext() if self._checkpoint is None else self._checkpoint.resuming()

    @contextmanager
    def interruptible(self, ready: Callable[[], bool] = lambda: True) -> Iterator[None]:
        """Let Ctrl-C end what is done within, if the fit is `ready` to end with what it has.

        A second one ends everything.
        """
        try:
            yield
        except KeyboardInterrupt:
            if self.stopped or not ready():
                raise
            self._stop("interrupted")

    def alone(self) -> Runner:
        """Runner of a part beside others: nobody is told of it, and nothing is kept."""
        return Runner(verbose=self.verbose)

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process a runner is alone."""
        return partial(Runner, verbose=self.verbose), ()

    def _part(self) -> AbstractContextManager[Part]:
        return nullcontext(Part()) if self._checkpoint is None else self._checkpoint.part()

    def _task(self, name: str, n_parts: int | None = 0) -> AbstractContextManager[Task]:
        if self._callbacks is None:
            return nullcontext(Task(n_parts))
        return self._callbacks.task(name, n_parts)

    def _attributes(self, solver: Solver, model: EvidenceModel, state: Any) -> Attributes | None:
        """Attributes of an estimator that a pass leads to, not made as long as nobody asks."""
        callbacks, preview = self._callbacks, self._preview
        if callbacks is None or preview is None:
            return None
        return lambda: callbacks.attributes(preview(solver.result(model, state)))

    def _timed(self, state: Any) -> Any:
        """State whose last row of history has the time, printed if it is new."""
        if not state.history or not isnan(state.history[-1].seconds):
            return state
        row = state.history[-1]._replace(seconds=time.perf_counter() - self._began)
        if self.verbose:
            _print_row(state.n_iter, row)
        return replace(state, history=(*state.history[:-1], row))

    def _keep(self, state: Any) -> None:
        """Keep the state of a search for another process."""
        if self._checkpoint is not None:
            self._checkpoint.put_state(state)

    def _stop(self, why: str) -> None:
        if self._checkpoint is not None:
            self._checkpoint.close()
        self.stopped = self.stopped or why


def _print_row(number: int, row: Pass) -> None:
    if number == 1:
        print(" pass  start  log evidence  functions     noise sd   seconds")
    print(
        f"{number:5d}  {row.start:5d}  {row.log_evidence:12.3f}  {row.n_active:9d}"
        f"  {row.noise_variance**0.5:11.5g}  {row.seconds:8.2f}"
    )
