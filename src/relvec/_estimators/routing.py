"""Docstrings of one line for the methods of scikit-learn's metadata routing."""

from __future__ import annotations

from typing import Any


class WithRouting:
    """An estimator whose `set_fit_request` and the like have a docstring of one line.

    scikit-learn's are 50 lines for each of them, the same in all.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Shorten the docstrings of the methods that scikit-learn adds."""
        super().__init_subclass__(**kwargs)
        for name, request in list(vars(cls).items()):
            if name.startswith("set_") and name.endswith("_request"):
                setattr(cls, name, _brief(request))


def _brief(request: Any) -> Any:
    """Return a descriptor of scikit-learn's that makes methods with a docstring of one line."""
    kind = type(request)

    def made(self: Any, instance: Any, owner: type) -> Any:
        method = kind.__get__(self, instance, owner)
        method.__doc__ = f"Set what meta-estimators pass to `{self.name}` (scikit-learn's routing)."
        return method

    own = type(kind.__name__, (kind,), {"__get__": made, "__doc__": kind.__doc__})
    return own(request.name, request.keys, request.validate_keys)
