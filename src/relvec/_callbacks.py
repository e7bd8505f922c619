"""scikit-learn's callbacks, which are told of the passes of a fit; there are none before 1.9."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Leave a method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "Listeners", "Task", "Tasks", "with_callbacks"]


@dataclass
class Task:
    """A task while it lasts.

    Attributes
    ----------
    result : callable or None
        What is found once it ends, for callbacks that ask.
    stops : bool
        Whether a callback said at its end that the tasks beside it shall end.
    """

    result: Callable[[], Any] | None = None
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
    fitted : callable or None
        Makes of a task's result the attributes that an estimator fitted so far would have.
    """

    estimator: Any
    data: Mapping[str, Any]
    fitted: Callable[[Any], Mapping[str, Any]] | None = None


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
    """

    listeners: Listeners | None = None
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
        fitted, result = self.listeners.fitted, task.result
        attributes = None if fitted is None or result is None else lambda: fitted(result())
        task.stops = level.context.call_on_fit_task_end(
            **given, reconstruction_attributes=attributes
        )
