"""The settings of logistic regression, and which of them have a meaning."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from suffice.errors import BadSetting

SOLVERS = ("auto", "sgd")
"""What `solver` may be."""
PATHS = ("auto", "average")
"""Penalties that the rows decide about: the one of least left-out loss, or all, averaged."""


class LogisticSettings:
    """What the user may choose."""

    penalty: float | str
    solver: str
    correction: str | None
    intercept: bool
    tolerance: float
    max_passes: int
    standard_errors: bool | None
    warm_start: bool
    random_state: Any

    def _check_settings(self) -> None:
        """Refuse settings that have no meaning, before any row is read."""
        self._check_numbers()
        for name, more in (("warm_start", ""), ("intercept", ""), ("standard_errors", " or None")):
            value = getattr(self, name)
            if not (isinstance(value, bool | np.bool_) or (more and value is None)):
                raise BadSetting(f"{name}={value!r:.50} is not known", hint=f"True, False{more}")
        solver: Any = self.solver
        if not (isinstance(solver, str) and solver in SOLVERS):
            raise BadSetting(
                f"solver={self.solver!r:.50} is not known",
                hint='"auto" finds the quickest exact way itself; "sgd" takes a step for each row',
            )
        if self._is_path:
            self._check_path()
        firth = isinstance(self.correction, str) and self.correction == "firth"
        if self.correction is not None and not firth:
            raise BadSetting(
                f"correction={self.correction!r:.50} is not known", hint='None, or "firth"'
            )
        if firth and (self._is_penalised or self.solver == "sgd"):
            raise BadSetting(
                f"correction={self.correction!r} does not go with penalty={self.penalty!r} and "
                f"solver={self.solver!r}",
                hint="Firth's correction is a penalty by itself, and needs all rows at once",
            )
        if not self.intercept and self.solver == "sgd":
            raise BadSetting(
                f'intercept={self.intercept!r} does not go with solver="sgd"',
                hint='steps of single rows learn an intercept too; leave solver as it is, "auto"',
            )
        if self.warm_start and self.solver == "sgd":
            raise BadSetting(
                'warm_start=True does not go with solver="sgd"',
                hint="partial_fit goes on where the last call ended",
            )

    @property
    def _is_path(self) -> bool:
        """Whether the rows decide about the penalty."""
        return isinstance(self.penalty, str)

    @property
    def _is_penalised(self) -> bool:
        """Whether large coefficients cost anything: then every level has a column."""
        return self._is_path or float(self.penalty) > 0.0

    def _check_path(self) -> None:
        """Refuse what a path of penalties has no use for."""
        if self.solver == "sgd":
            raise BadSetting(
                f'penalty={self.penalty!r} does not go with solver="sgd"',
                hint="penalties are judged by exact fits: leave solver as it is, or give a number",
            )
        if self.warm_start:
            raise BadSetting(
                f"penalty={self.penalty!r} does not go with warm_start=True",
                hint="a path begins at its strongest penalty, whatever was fitted before",
            )

    def _check_numbers(self) -> None:
        for name, kind, least in (
            ("penalty", Real, 0),
            ("tolerance", Real, 0),
            ("max_passes", Integral, 1),
        ):
            value = getattr(self, name)
            if name == "penalty" and isinstance(value, str) and value in PATHS:
                continue
            number = isinstance(value, kind) and not isinstance(value, bool)
            if not number or not least <= _as_float(value) < np.inf:
                what = "whole" if kind is Integral else "finite"
                raise BadSetting(
                    f"{name}={value!r:.50} is not a {what} number of at least {least}",
                    hint='penalty=0.0 is maximum likelihood; "auto", "average": the rows decide'
                    if name == "penalty"
                    else f"leave {name} out to use the default",
                )


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer of hundreds of digits
        return float("inf")
