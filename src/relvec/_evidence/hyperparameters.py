"""Active functions and precisions: the coordinates in which the evidence is maximised."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from relvec._design.base import Design, in_units
from relvec._numerics.groups import Groups
from relvec._numerics.typing import Array, Index

Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True)
class Hyperparameters:
    """Active functions, their precisions, and those of the noise.

    Attributes
    ----------
    active : ndarray of int, shape (n_active,)
        Candidates in the model.
    alpha : ndarray of shape (n_groups,)
        Prior precision of the weights of each group of functions, for candidates of unit norm.
    beta : ndarray of shape (n_noises,)
        Noise precision of each target, for targets of unit norm; a number is taken as the only one.
        Likelihoods without noise are raised to this power, which is 1 but where the search leaves a
        maximum behind.
    group : ndarray of int, shape (n_active,)
        Position in `alpha` of each function's group. Without it each is a group of its own.
    single : bool
        Whether every function is a group of its own.
    each : ndarray of shape (n_active,)
        Precision of every active function.
    """

    active: Index
    alpha: Array
    beta: Array = field(default_factory=lambda: np.ones(1))
    group: Index = None  # type: ignore[assignment]
    single: bool = field(init=False, repr=False)
    each: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        given, own = vars(self), np.arange(len(self.active))  # past the guard of a frozen dataclass
        given["beta"] = np.atleast_1d(self.beta)
        if self.group is None:
            given.update(group=own, single=True, each=self.alpha)
            if len(self.alpha) == len(own):
                return
        if len(self.group) != len(own) or self.group.max(initial=-1) != len(self.alpha) - 1:
            raise ValueError(
                f"{len(own)} functions have {len(self.alpha)} precisions and {len(self.group)} "
                "positions of theirs, expected a position each"
            )
        given["single"] = len(self.alpha) == len(own)
        if self.single and (self.group != own).any():
            given["alpha"], given["group"] = self.alpha[self.group], own
        given["each"] = self.alpha if self.single else self.alpha[self.group]

    def at(self, alpha: Array, beta: Array) -> Self:
        """Return the same functions at other precisions."""
        moved = object.__new__(type(self))  # what was checked stays as it is
        each = alpha if self.single else alpha[self.group]
        vars(moved).update(vars(self), alpha=alpha, beta=beta, each=each)
        return moved

    @classmethod
    def empty(cls, beta: Array) -> Self:
        """No functions."""
        return cls(np.empty(0, dtype=np.intp), np.empty(0), beta)

    @classmethod
    def of_functions(cls, design: Design, active: Index, alpha: Array, beta: Array) -> Self:
        """Candidates of a design in its groups, given the precision of each, shape (n_active,)."""
        if design.groups.single:
            return cls(active, alpha, beta)
        groups = design.groups.restrict(active)
        return cls(active, alpha[groups.first], beta, groups.label)

    @cached_property
    def groups(self) -> Groups:
        """Groups of the active functions."""
        return Groups(self.group)

    def functions(self, which: Index) -> Index:
        """Positions in `active` of the functions of some groups, group by group."""
        return which if self.single else self.groups.members(which)[0]

    def total(self, values: Array) -> Array:
        """Sum values of the functions, along the first axis, over those of each group."""
        return values if self.single else self.groups.total(values)

    def keep(self, which: Index) -> Self:
        """Return the hyperparameters of the groups at some positions only, in that order."""
        if self.single:
            return type(self)(self.active[which], self.alpha[which], self.beta)
        functions, group = self.groups.members(which)
        return type(self)(self.active[functions], self.alpha[which], self.beta, group)

    def without(self, which: int) -> tuple[Self, Index, Index]:
        """Return the same without a group, and positions in `active` of its and other functions."""
        others = np.flatnonzero(np.arange(len(self.alpha)) != which)
        return self.keep(others), self.functions(np.array([which])), self.functions(others)

    def add(self, index: Index, alpha: Array, group: Index | None = None) -> Self:
        """Return the hyperparameters with more functions, and their groups, at the end."""
        group = np.arange(len(index)) if group is None else group
        return replace(
            self,
            active=np.append(self.active, index),
            alpha=np.append(self.alpha, alpha),
            group=np.append(self.group, len(self.alpha) + group),
        )

    def sorted(self, design: Design) -> Self:
        """Return the same with the candidates in ascending order.

        Without those that are constant and came with others of their group: their weights are zero.
        """
        order = np.argsort(self.active)
        if not self.single:
            varies = np.isfinite(design.scale[self.active])
            some = self.total(varies.astype(np.float64))[self.group] > 0
            order = order[(varies | ~some)[order]]
        return replace(self, active=self.active[order], group=self.group[order])

    def in_units(self, unit: Array) -> Self:
        """Return the same for weights measured in other units, shape (n_active,).

        The functions of one group have one unit.
        """
        return replace(self, alpha=in_units(self.alpha, self.of_groups(unit)))

    def of_groups(self, values: NDArray[Number]) -> NDArray[Number]:
        """Values (n_active,) that are one for all functions of a group, shape (n_groups,)."""
        return values if self.single else values[self.groups.first]
