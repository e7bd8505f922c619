"""The examples of the gallery run with warnings as errors, as the tests do."""

import warnings


def warnings_are_errors(conf: dict[str, object], example: str, when: str) -> None:
    """Raise on warnings while an example runs, and only then."""
    if when == "before":
        warnings.simplefilter("error")
    else:
        warnings.resetwarnings()
