"""How much a report measures."""

from dataclasses import dataclass

from joblib import Parallel

QUICK_REPETITIONS = 3


@dataclass(frozen=True)
class Settings:
    """`repetitions` of every draw (None: as many as each table usually has), and where to work."""

    parallel: Parallel
    repetitions: int | None = None
    quick: bool = False

    def count(self, usual: int) -> int:
        if self.repetitions is not None:
            return self.repetitions
        return QUICK_REPETITIONS if self.quick else usual
