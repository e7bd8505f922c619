"""Examples of the gallery run with warnings as errors, as the tests do, and label their axes."""

import warnings
from contextlib import ExitStack

from matplotlib import pyplot
from matplotlib.axes import Axes

#: Holds the usual treatment of warnings while an example runs.
running = ExitStack()


def warnings_are_errors(conf: dict[str, object], example: str, when: str) -> None:
    """Raise on warnings while an example runs, and only then."""
    del conf, example
    running.close()
    if when == "before":
        running.enter_context(warnings.catch_warnings())
        warnings.simplefilter("error")


def labels_are_given(block: object, variables: dict[str, str], conf: dict[str, object]) -> str:
    """Raise where a figure that a block of an example drew does not say what it shows."""
    del block, conf
    for figure in map(pyplot.figure, pyplot.get_fignums()):
        if not any(map(says_what_it_shows, figure.axes)):
            raise ValueError(f"{variables['src_file']} draws axes without labels")
    return ""


def says_what_it_shows(ax: Axes) -> bool:
    """Images, or both axes with a label; bars have names instead."""
    return bool(ax.images or (ax.get_xlabel() and (ax.get_ylabel() or ax.containers)))
