"""scikit-learn's callbacks, which are told of the tasks of a fit; there are none before 1.9."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
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


__all__ = ["CallbackSupportMixin", "Callbacks", "Task", "with_callbacks"]

Method = TypeVar("Method", bound=Callable[..., Any])
Attributes = Callable[[], Mapping[str, Any]]


def with_callbacks(method: Method) -> Method:
    """Tear callbacks down when a method ends, however it does."""
    ending: Method = managed(method)
    return ending


@dataclass
class Task:
    """A task while it lasts."""

    limit: int | None  # tasks within it at most, if that is known
    context: Any = None  # its callback context of scikit-learn
    begun: int = 0  # tasks within it so far
    #: makes those that an estimator would have if the fit ended with the task
    attributes: Attributes | None = None
    stops: bool = False  # whether a callback said at its end that the tasks beside it shall end


@dataclass
class Callbacks:
    """The callbacks of an estimator, told of tasks within tasks."""

    estimator: Any  # the estimator that fits
    data: Mapping[str, Any]  # what was given to it: X, y, and metadata by name
    #: makes attributes of an estimator of a fit result
    attributes: Callable[[Any], Mapping[str, Any]]
    _open: list[Task] = field(default_factory=list)

    @contextmanager
    def task(self, name: str, limit: int | None = 0) -> Iterator[Task]:
        """Tell of a task within the one that lasts; the first is the fit itself."""
        task, around = Task(limit), self._open[-1] if self._open else None
        if around is None:
            task.context = self.estimator._init_callback_context(max_subtasks=limit)
        elif around.begun == around.limit:
            # A search that begins makes a pass even where max_iter leaves it none: no task.
            yield task
            return
        else:
            around.begun += 1
            task.context = around.context.subcontext(task_name=name, max_subtasks=limit)
        given = {"estimator": self.estimator, **self.data}
        task.context.call_on_fit_task_begin(**given)
        self._open.append(task)
        try:
            yield task
        finally:
            self._open.pop()
        task.stops = task.context.call_on_fit_task_end(
            **given, reconstruction_attributes=task.attributes
        )
