"""What holds inside linear models besides the form of their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.storage.checks.rules import ROUNDING, is_sum_of_squares

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.models.linear.averaged_form import AveragedForm
    from suffice.models.linear.form import LinearForm
    from suffice.models.linear.logistic.result import LogisticFit
    from suffice.models.linear.penalty_path.path import PenaltyPath

    Sizes = dict[str, int]


def _linear(value: LinearForm, sizes: Sizes) -> str:  # noqa: ARG001
    top = float(value.offsets.max(initial=-np.inf))
    return "" if np.isfinite(top) else "has no class with a finite offset"


def _logistic(value: LogisticFit, sizes: Sizes) -> str:
    if sizes["m"] != sizes["k"] - 1 or sizes["e"] != sizes["d"] + 1:
        return "has a θ of other classes or columns"
    if sizes.get("c", sizes["m"] * sizes["e"]) != sizes["m"] * sizes["e"]:
        return "has a covariance of another θ"
    if value.l1_ratio > 1.0:
        return "has more than its penalty on absolute values"
    covariance = value.covariance_
    if covariance is None or not np.isfinite(covariance).all():
        return ""
    return "" if is_sum_of_squares(covariance) else "has a covariance with a negative variance"


def _averaged(value: AveragedForm, sizes: Sizes) -> str:
    if not sizes["g"] or abs(value.shares.sum() - 1.0) > ROUNDING:
        return "has shares that do not add up to one"
    same = all(form.labels == value.labels for form in value.members)
    return "" if same else "has members of other classes"


def _path(value: PenaltyPath, sizes: Sizes) -> str:
    if not sizes["g"] or abs(value.shares.sum() - 1.0) > ROUNDING:
        return "has shares that do not add up to one"
    if (value.penalties[1:] >= value.penalties[:-1]).any():
        return "does not start at the strongest penalty"
    known = set(value.judged) <= {"left-out", "folds", "nothing"}
    return "" if known else "was judged in an unknown way"


def _separation(value: Any, sizes: Sizes) -> str:
    if any(j >= sizes["e"] - 1 for j in value.columns):
        return "uses columns that do not exist"
    if any(len(pair) != 2 or not sizes["m"] >= pair[0] > pair[1] for pair in value.pairs):
        return "separates classes that do not exist"
    return "" if value.kind in ("complete", "quasi-complete") else "is of an unknown kind"


def _stream(value: object, sizes: Sizes) -> str:  # noqa: ARG001
    rows = 1 if sizes["k"] <= 2 else sizes["k"]
    return "" if (sizes["r"], sizes["e"]) == (rows, sizes["d"] + 1) else "has another θ"


LINEAR_RULES: dict[str, Callable[[Any, Sizes], str]] = {
    "AveragedForm": _averaged,
    "LinearForm": _linear,
    "LogisticFit": _logistic,
    "OnlinePerceptron": _stream,
    "PenaltyPath": _path,
    "Separation": _separation,
    "Stochastic": _stream,
}
"""The rules of linear models and of what was found on the way to them, by class."""
