"""The settings of logistic regression, and which of them have a meaning."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from suffice.columns.design import Design
from suffice.errors import BadSetting
from suffice.learning.learners.linear import LinearLearner, R

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.columns.filled import FilledColumns

SOLVERS = ("auto", "sgd")
"""What `solver` may be."""
PATHS = ("auto", "average")
"""Penalties that the rows decide about: the one of least left-out loss, or all, averaged."""


@dataclass(frozen=True)
class LogisticSettings(LinearLearner[R]):
    """What the user may choose."""

    penalty: float | str = 0.0
    l1_ratio: float = 0.0
    solver: str = "auto"
    correction: str | None = None
    intercept: bool = True
    tolerance: float = 1e-8
    max_passes: int = 1000
    standard_errors: bool | None = None
    warm_start: bool = False
    random_state: Any = None
    missing: str | None = None
    later_settings: ClassVar[Mapping[str, object]] = {"missing": None}

    def check(self) -> None:
        """Refuse settings that have no meaning, before any row is read."""
        self._check_numbers()
        for name, more in (("warm_start", ""), ("intercept", ""), ("standard_errors", " or None")):
            value = getattr(self, name)
            if not (isinstance(value, bool | np.bool_) or (more and value is None)):
                raise BadSetting(f"{name}={value!r:.50} is not known", hint=f"True, False{more}")
        solver: object = self.solver
        if not (isinstance(solver, str) and solver in SOLVERS):
            raise BadSetting(
                f"solver={self.solver!r:.50} is not known",
                hint='use "auto", which chooses the quickest exact method, or "sgd", which takes '
                "one step per row",
            )
        missing: object = self.missing
        if missing is not None and not (isinstance(missing, str) and missing == "indicator"):
            raise BadSetting(
                f"missing={missing!r:.50} is not known",
                hint='use None, which refuses blank cells, or "indicator", which fills them with '
                "the mean and adds a column that says where they were",
            )
        if self.is_path:
            self._check_path()
        firth = isinstance(self.correction, str) and self.correction == "firth"
        if self.correction is not None and not firth:
            raise BadSetting(
                f"correction={self.correction!r:.50} is not known", hint='use None or "firth"'
            )
        if firth and (self.is_penalised or self.solver == "sgd"):
            raise BadSetting(
                f"correction={self.correction!r} cannot be combined with "
                f"penalty={self.penalty!r} and "
                f"solver={self.solver!r}",
                hint="Firth's correction is itself a penalty, and needs all rows at once",
            )
        self._check_l1_ratio()
        if not self.intercept and self.solver == "sgd":
            raise BadSetting(
                f'intercept={self.intercept!r} cannot be combined with solver="sgd"',
                hint='single-row steps also learn an intercept; leave solver as it is, "auto"',
            )
        if self.warm_start and self.solver == "sgd":
            raise BadSetting(
                'warm_start=True cannot be combined with solver="sgd"',
                hint="partial_fit continues where the last call ended",
            )

    def filled(self, X: object, weights: object) -> FilledColumns | None:
        """Return what stands for blank cells, where that is asked for."""
        if self.missing is None:
            return None
        from suffice.columns.filled import FilledColumns
        from suffice.rows import read_table, read_weights
        from suffice.rows.sparse import is_sparse

        if is_sparse(X):
            return None
        table = read_table(X)
        return FilledColumns.of(table, read_weights(weights, table.size))

    @property
    def is_path(self) -> bool:
        """Whether the rows decide about the penalty."""
        return isinstance(self.penalty, str)

    @property
    def is_penalised(self) -> bool:
        """Whether large coefficients cost anything: then every level has a column."""
        return self.is_path or float(self.penalty) > 0.0

    def design(self, table: object) -> Design:
        """Return how the columns of a table are coded."""
        return Design.infer(table, self.is_penalised, bool(self.intercept))

    def _check_path(self) -> None:
        """Refuse what a path of penalties has no use for."""
        if self.solver == "sgd":
            raise BadSetting(
                f'penalty={self.penalty!r} cannot be combined with solver="sgd"',
                hint="penalties are judged by exact fits: leave solver as it is, or give a number",
            )
        if self.warm_start:
            raise BadSetting(
                f"penalty={self.penalty!r} cannot be combined with warm_start=True",
                hint="the search begins at the strongest penalty, whatever was fitted before",
            )

    def _check_l1_ratio(self) -> None:
        ratio: Any = self.l1_ratio
        number = isinstance(ratio, Real) and not isinstance(ratio, bool)
        if not number or not 0.0 <= _as_float(ratio) <= 1.0:
            raise BadSetting(
                f"l1_ratio={ratio!r:.50} is not a number from 0 to 1",
                hint="use 0 for a penalty on squares (L2), 1 for one on absolute values (L1), or "
                "a value between",
            )
        if ratio > 0.0 and self.is_path:
            raise BadSetting(
                f"l1_ratio={ratio!r} cannot be combined with penalty={self.penalty!r}",
                hint="penalties are chosen among those on squares (L2) only: give a number as "
                "penalty, or leave l1_ratio at 0",
            )
        if ratio > 0.0 and self.solver == "sgd":
            raise BadSetting(
                f'l1_ratio={ratio!r} cannot be combined with solver="sgd"',
                hint='single-row steps make no coefficient zero; leave solver as it is, "auto"',
            )
        if ratio > 0.0 and self.is_penalised and self.standard_errors:
            raise BadSetting(
                f"l1_ratio={ratio!r} cannot be combined with "
                f"standard_errors={self.standard_errors!r}",
                hint="estimates that may be exactly zero are not normally distributed; use "
                "l1_ratio=0",
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
                    hint='penalty=0.0 is maximum likelihood; "auto", "average": chosen by rows'
                    if name == "penalty"
                    else f"leave {name} out to use the default",
                )


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer of hundreds of digits
        return float("inf")
