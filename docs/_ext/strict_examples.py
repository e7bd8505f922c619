"""The examples of the gallery run with warnings as errors, as the tests do."""

import warnings
from contextlib import ExitStack

#: Holds the usual treatment of warnings while an example runs.
running = ExitStack()


def warnings_are_errors(conf: dict[str, object], example: str, when: str) -> None:
    """Raise on warnings while an example runs, and only then."""
    del conf, example
    running.close()
    if when == "before":
        running.enter_context(warnings.catch_warnings())
        warnings.simplefilter("error")
