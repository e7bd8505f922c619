"""How a fit goes on: told while it lasts, kept for another process, and ended early."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from relvec._runner import Checkpoint
from relvec._runner.callbacks import Tasks
from relvec.exceptions import InterruptedWarning, RelvecWarning

if TYPE_CHECKING:
    from relvec.solvers.base import Solution

T = TypeVar("T")


class State(Protocol):
    """Where a search is between two passes; nothing in it changes.

    Attributes
    ----------
    ended : bool
        Whether the next pass has nothing to do.
    """

    @property
    def ended(self) -> bool:
        """See above."""


S = TypeVar("S", bound=State)


class Runner:
    """What goes on beside a fit.

    Parameters
    ----------
    record : Record
        What was found so far, maybe by another process.
    tasks : Tasks
        Told of the passes.

    Attributes
    ----------
    note : Warning or None
        Why the fit ends early, if it does.
    """

    def __init__(self, record: Checkpoint | None = None, tasks: Tasks | None = None) -> None:
        self._record = Checkpoint() if record is None else record
        self._tasks = Tasks() if tasks is None else tasks
        self.note: RelvecWarning | None = None

    @property
    def stopped(self) -> bool:
        """Whether the fit is to end with what it has."""
        return self.note is not None

    def seconds(self) -> float:
        """Time since the fit began."""
        return self._record.seconds()

    def once(self, compute: Callable[[], T]) -> T:
        """Result of a part of the fit, which is not computed again in another process."""
        return self._record.once(compute)

    def passes(
        self, first: S, step: Callable[[S], S], solution: Callable[[S], Solution] | None = None
    ) -> S:
        """Make passes until one ends the search or the fit is stopped.

        Parameters
        ----------
        first : State
            Where the search is before the first of them.
        step : callable
            Makes a pass: where the search is after it.
        solution : callable
            What is found so far, for callbacks that ask.
        """
        place = self._record.place()
        state = self._record.get(place, first)
        while not state.ended:
            with self._tasks.task("pass") as task:
                state = step(state)
                self._record.put(place, state)
                now = None if solution is None else partial(solution, state)
                task.attributes = self._tasks.made_of(now)
            if task.stops:
                self._stop("ended by a callback: the model is the best so far")
            if self.stopped:
                break
        return state

    @contextmanager
    def fitting(
        self, n_parts: int | None, preview: Callable[[Solution], Any] | None
    ) -> Iterator[Callable[[Any], None]]:
        """Tell callbacks of a fit with so many parts, which removes its checkpoint at its end.

        They may ask for the result that `preview` makes of the solution so far. Yields a function
        that is told the result of the fit.
        """
        self._tasks.preview = preview
        with self._tasks.fit(n_parts) as task:
            yield partial(self._tasks.conclude, task)
            self._record.finish()

    @contextmanager
    def part(self, name: str, n_parts: int | None) -> Iterator[None]:
        """A part of the fit that callbacks are told of, with parts or passes of its own."""
        with self._tasks.task(name, n_parts):
            yield

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
            self._stop("interrupted: the model is the best so far")

    def __reduce__(self) -> tuple[type[Runner], tuple[()]]:
        """In another process nobody is told, and nothing is kept."""
        return type(self), ()

    def _stop(self, why: str) -> None:
        self._record.close()
        if self.note is None:
            self.note = InterruptedWarning(why)
