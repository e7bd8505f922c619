"""scikit-learn's callbacks, which are told of the passes of a fit; there are none before 1.9."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as managed
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def managed(method: Callable[..., Any]) -> Callable[..., Any]:
        """Leave a method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "Listeners", "Task", "Tasks", "with_callbacks"]


Method = TypeVar("Method", bound=Callable[..., Any])


def with_callbacks(method: Method) -> Method:
    """Take leave of the callbacks that a method was met by, however it ends."""
    ending: Method = managed(method)
    return ending


@dataclass
class Task:
    """A task while it lasts.

    Attributes
    ----------
    attributes : callable or None
        Makes those that an estimator would have if the fit ended with it, for callbacks that ask.
    stops : bool
        Whether a callback said at its end that the tasks beside it shall end.
    """

    attributes: Callable[[], Mapping[str, Any]] | None = None
    stops: bool = False


@dataclass(frozen=True)
class Listeners:
    """Who is told of the tasks of a fit, and what.

    Attributes
    ----------
    estimator : object
        The estimator that fits.
    data : mapping of str to object
        What was given to it: X, y, and metadata by name.
    attributes : callable
        Makes attributes of an estimator of a fit result.
    """

    estimator: Any
    data: Mapping[str, Any]
    attributes: Callable[[Any], Mapping[str, Any]]


@dataclass
class _Level:
    """A task that may have others within it: its context, and how many of them there may be."""

    context: Any
    limit: int | None
    begun: int = 0


@dataclass
class Tasks:
    """The tasks of a fit within each other, of which the innermost has the others around it.

    Attributes
    ----------
    listeners : Listeners or None
        Without them nobody is told.
    preview : callable or None
        Makes a fit result of a solution, if that is all there is to be found.
    """

    listeners: Listeners | None = None
    preview: Callable[[Any], Any] | None = None
    _levels: list[_Level] = field(default_factory=list)

    @contextmanager
    def fit(self, n_parts: int | None) -> Iterator[Task]:
        """The task of the whole fit, with so many tasks within it at most."""
        task = Task()
        if self.listeners is None or not hasattr(self.listeners.estimator, "set_callbacks"):
            yield task
            return
        context = self.listeners.estimator._init_callback_context(max_subtasks=n_parts)
        with self._told(_Level(context, n_parts), task):
            yield task

    def conclude(self, task: Task, result: Any) -> None:
        """Have the task of the whole fit tell the attributes of its result."""
        if self.listeners is not None:
            task.attributes = partial(self.listeners.attributes, result)

    def made_of(self, solution: Callable[[], Any] | None) -> Callable[[], Mapping[str, Any]] | None:
        """Attributes of an estimator that a solution makes, as long as nobody asks not made."""
        listeners, preview = self.listeners, self.preview
        if solution is None or listeners is None or preview is None:
            return None
        return lambda: listeners.attributes(preview(solution()))

    @contextmanager
    def task(self, name: str, n_parts: int | None = 0) -> Iterator[Task]:
        """A task within the one that lasts, with so many within it at most."""
        task, around = Task(), self._levels[-1] if self._levels else None
        # A search that begins makes a pass even where max_iter leaves it none: no task of its own.
        if around is None or around.begun == around.limit:
            yield task
            return
        around.begun += 1
        context = around.context.subcontext(task_name=name, max_subtasks=n_parts)
        with self._told(_Level(context, n_parts), task):
            yield task

    @contextmanager
    def _told(self, level: _Level, task: Task) -> Iterator[None]:
        assert self.listeners is not None
        given = {"estimator": self.listeners.estimator, **self.listeners.data}
        level.context.call_on_fit_task_begin(**given)
        self._levels.append(level)
        try:
            yield
        finally:
            self._levels.pop()
        task.stops = level.context.call_on_fit_task_end(
            **given, reconstruction_attributes=task.attributes
        )
