"""Libraries that come with an extra of the package."""

from importlib import import_module
from typing import Any


def need(module: str, user: str, extra: str) -> Any:
    """Import an optional library for `user`, or raise an error that names the extra it is in."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = module.partition(".")[0]
        raise ModuleNotFoundError(
            f"{user} needs {library}: install relvec with its extra relvec[{extra}]"
        ) from error
