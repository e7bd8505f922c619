"""What an estimator does beside a long fit: callbacks, and the checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from relvec._estimators.fitted import FitData, Fitted
from relvec._fitting.problem import Problem
from relvec._numerics.typing import Array
from relvec._runner import Checkpoint, fingerprints
from relvec._runner.callbacks import CallbackSupportMixin, Listeners, Tasks
from relvec._runner.runner import Runner
from relvec.basis import Basis
from relvec.solvers import Solution

SoFar = Callable[[Solution], Mapping[str, Any]]

#: Parameters that may change before a fit goes on: they say nothing of its result.
FREE = ("checkpoint", "n_jobs", "verbose")


class LongFit(CallbackSupportMixin, Fitted):  # type: ignore[misc]
    """An estimator that tells of its fits, and goes on with those that were ended."""

    checkpoint: str | PathLike[str] | None = None

    def _record(self, given: FitData, targets: Mapping[str, Array]) -> Checkpoint:
        """What another process found of the same fit, if there is anything."""
        if self.checkpoint is None:
            return Checkpoint()
        if not isinstance(self.checkpoint, str | PathLike):
            raise TypeError(f"checkpoint={self.checkpoint!r}, expected None or the path of a file")
        path = Path(self.checkpoint)
        if path.is_dir() or not path.parent.is_dir():
            raise ValueError(
                f"checkpoint={self.checkpoint!r}, expected a file in a folder that exists"
            )
        y = np.hstack(list(targets.values()))
        data = {"X": given.X, "y": y, "sample_weight": given.sample_weight}
        data["noise_variance_per_row"] = given.noise_variance_per_row
        own = self.get_params(deep=False)
        fixed = {name: value for name, value in own.items() if name not in FREE}
        made_by = {"the estimator": type(self).__name__, "relvec's version": version("relvec")}
        return Checkpoint(path, fingerprints(data, made_by | fixed))

    @contextmanager
    def _progress(
        self, record: Checkpoint, given: FitData, n_parts: int | None, so_far: SoFar | None
    ) -> Iterator[Runner]:
        """The progress of a fit, of which callbacks are told from its beginning to its end.

        They are told of the estimator that it would make `so_far`, too.
        """
        weight = given.sample_weight
        metadata = None if weight is None else {"sample_weight": weight}
        data = {"X": given.X, "y": given.y, "metadata": metadata}
        tasks = Tasks(Listeners(self, data, so_far))
        with tasks.fit(n_parts):
            yield Runner(record, tasks)
            record.finish()

    def _so_far(
        self, problem: Problem, basis: Basis, single: bool, solution: Solution
    ) -> dict[str, Any]:
        """Attributes that the estimator would have if its only search ended with a solution."""
        ended = copy(self)
        ended._conclude(problem, basis, [solution], single=single)
        own = vars(self)
        return {name: value for name, value in vars(ended).items() if own.get(name) is not value}
