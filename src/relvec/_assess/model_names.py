"""Names of models by what differs between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relvec._assess.pipelines import prefix_of, unwrap


def names_by_difference(models: Sequence[Any]) -> list[str]:
    """Return a name for each model: the class of its estimator, with what others of it have else.

    Those are the parameters that differ, of the estimator and of all that is in it or around it.
    """
    classes = [type(unwrap(model).estimator).__name__ for model in models]
    parameters = [_parameters(model) for model in models]
    names = []
    for own, found in zip(classes, parameters, strict=True):
        alike = [other for name, other in zip(classes, parameters, strict=True) if name == own]
        differing = [key for key in found if len({_text(other.get(key)) for other in alike}) > 1]
        told = [key for key in differing if not _told_by_part(key, alike, differing)]
        listed = ", ".join(f"{key}={_text(found[key])}" for key in told)
        names.append(f"{own}({listed})" if listed else own)
    return names


def _parameters(model: Any) -> dict[str, Any]:
    """Return all parameters of a model by name; those of its estimator without the step's name."""
    found, prefix = model.get_params(), prefix_of(model)
    return {
        key.removeprefix(prefix): value
        for key, value in found.items()
        if key not in ("steps", "transformers") and f"{key}__" != prefix
    }


def _told_by_part(key: str, alike: Sequence[Mapping[str, Any]], differing: Sequence[str]) -> bool:
    """Return whether another of the differing parameters tells what this one does.

    Objects of one class are told apart by their own parameters, others by themselves.
    """
    if len({type(other.get(key)) for other in alike}) == 1:
        return any(other.startswith(f"{key}__") for other in differing)
    outer = [name for name in differing if key.startswith(f"{name}__")]
    return any(len({type(other.get(name)) for other in alike}) > 1 for name in outer)


def _text(value: Any) -> str:
    """Return what a value prints as, on one line."""
    return " ".join(repr(value).split())
