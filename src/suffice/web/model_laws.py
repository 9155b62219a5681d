"""Laws of classes as plain data, for the engine in JavaScript."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting
from suffice.models.gaussian.diagonal_normals import DiagonalNormals
from suffice.models.gaussian.full_normals import FullNormals, written_out
from suffice.models.gaussian.predictive.averaged_laws import AveragedLaws
from suffice.models.gaussian.predictive.diagonal_students import DiagonalStudents
from suffice.models.gaussian.predictive.full_students import FullStudents
from suffice.models.mixture.laws import MixtureLaws
from suffice.models.naive_bayes.asked_of_families import (
    BinsCell,
    LevelsCell,
    LinearCell,
    NormalCell,
    StudentCell,
)
from suffice.rows.cells import CATEGORY

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from suffice.models.naive_bayes.model import NaiveBayesModel
    from suffice.storage.model_file import StoredModel

LARGEST = 1e300
"""What stands for infinity in a table of logarithms: JSON has none, and sums stay finite."""
STEEP = 1e2
"""Entries of a whitening above which the page gets it as it is, and does not solve for it: near a
singular covariance, another order of the same sums has other digits."""


def numbers(values: object) -> Any:
    """Return an array as lists of numbers that JSON can hold.

    >>> numbers(np.array([[1.0, -np.inf]]))
    [[1.0, -1e+300]]
    """
    array = np.asarray(values)
    if array.dtype == bool:
        return array.tolist()
    held = np.clip(np.nan_to_num(array.astype(np.float64), nan=0.0), -LARGEST, LARGEST)
    return held.tolist()


def log_shares(values: Any) -> list[float | None]:
    """Return logarithms of shares; None for a share of nothing."""
    return [None if value == -np.inf else float(value) for value in values]


def _frame(law: Any) -> dict[str, object]:
    return {
        "origin": numbers(law.origin),
        "originLow": numbers(law.origin_low),
        "scale": numbers(law.scale),
        "active": numbers(law.active),
        "means": numbers(law.means),
    }


def _triangles(factors: Any) -> list[list[list[float]]]:
    """Return lower triangles, row by row: the engine fills in the zeros."""
    return [[row[: i + 1].tolist() for i, row in enumerate(factor)] for factor in factors]


def normal_law(law: object) -> dict[str, object]:
    """Return the law of normal classes, or of Student's t, or of several that are averaged."""
    law = written_out(law)
    if isinstance(law, MixtureLaws):
        if law.silent:
            raise BadSetting(
                "in some direction no row of this mixture varies, which pages cannot show",
                hint="fit it without columns that others determine",
            )
        return {
            "type": "mixtures",
            "components": normal_law(law.components),
            "mixing": numbers(law.mixing),
        }
    if isinstance(law, FullNormals):
        found = {"type": "full", "factors": _triangles(law.factors), "rank": law.rank}
        if law.is_shared:
            weights, offsets = law.linear
            found["linear"] = {"weights": numbers(weights), "offsets": numbers(offsets)}
        if float(np.abs(law.whitenings).max(initial=0.0)) > STEEP:
            found["whitenings"] = _triangles(law.whitenings)
    elif isinstance(law, DiagonalNormals):
        found = {"type": "diagonal", "deviations": numbers(law.deviations)}
    elif isinstance(law, FullStudents):
        found = {
            "type": "full-students",
            "factors": _triangles(law.factors),
            "freedom": numbers(law.freedom),
            "stretches": numbers(law.stretches),
        }
    elif isinstance(law, DiagonalStudents):
        found = {
            "type": "diagonal-students",
            "spreads": numbers(np.broadcast_to(law.spreads, law.means.shape)),
            "freedom": numbers(np.broadcast_to(law.freedom, law.means.shape)),
            "joint": bool(law.joint),
        }
    elif isinstance(law, AveragedLaws):
        return {
            "type": "averaged",
            "laws": [normal_law(one) for one in law.laws],
            "temperatures": numbers(law.temperatures),
            "shares": numbers(law.shares),
        }
    else:
        raise BadSetting(
            f"a {type(law).__name__} cannot be shown on a page",
            hint="fit another model, such as gda",
        )
    return found | _frame(law)


def sampling(stored: StoredModel) -> dict[str, object] | None:
    """Return what p-values of full normal classes are made of; None: the law is taken as known.

    ν and the divisors of the scatters, as `suffice.models.typicality` has them.
    """
    model, settings = stored.state["model"], stored.settings
    law = model.densities
    form, pool = settings.get("covariance"), settings.get("pool") or 0.0
    plain = isinstance(law, FullNormals) and form in ("shared", "per-class")
    if stored.estimator != "GaussianDiscriminant" or not plain or not isinstance(pool, float | int):
        return None
    weights, size = model.weights, len(model.labels)
    if not (weights > 0.0).all():
        return None
    less = 0.0 if settings.get("divisor", "mle") == "mle" else 1.0
    share = 1.0 if form == "shared" else float(pool)
    pooled = weights.sum() - size
    return {
        "freedom": numbers((1.0 - share) * (weights - 1.0) + share * pooled),
        "divisors": numbers(
            (1.0 - share) * (weights - less) + share * (weights.sum() - less * size)
        ),
        "weights": numbers(weights),
    }


def column_laws(
    model: NaiveBayesModel, kinds: Sequence[str], names: Sequence[str], chosen: Collection[int]
) -> list[dict[str, object]]:
    """Return what each column adds to the scores; `chosen` are those whose family nobody named."""
    found: list[dict[str, Any]] = []
    groups = zip(model.laws, model.product.columns, model.product.families, strict=True)
    for law, group, family in groups:
        for place, j in enumerate(group):
            held = {"type": "common"}
            if not law.is_common:
                cell = law.cell(place)
                if family.cells_are_texts:
                    raise BadSetting(
                        f"{names[j]} holds texts beside other columns: pages cannot use these",
                        hint="fit without that column, or that column alone with TextClassifier",
                    )
                if cell is None:
                    raise BadSetting(
                        f"{names[j]}: {type(law).__name__} cannot be shown on a page",
                        hint="its family has no `cell`",
                    )
                held = _cell(cell, text=kinds[j] == CATEGORY)
            about = {"column": int(j), "chosen": j in chosen, "family": type(family).__name__}
            found.append(held | about)
    return sorted(found, key=lambda law: law["column"])


def _cell(cell: object, *, text: bool) -> dict[str, Any]:
    if isinstance(cell, LinearCell):
        return {
            "type": "linear",
            "slopes": numbers(cell.slopes),
            "offsets": _or_none(cell.offsets),
            "orderSlopes": _or_none(cell.order_slopes),
            "orderOffsets": _or_none(cell.order_offsets),
            "threshold": cell.threshold,
            "allowed": cell.allowed,
            "blank": cell.blank,
        }
    if isinstance(cell, NormalCell):
        law = cell.normals
        return {
            "type": "normal",
            "origin": float(law.origin[0]),
            "originLow": float(law.origin_low[0]),
            "scale": float(law.scale[0]),
            "active": bool(law.active[0]),
            "means": numbers(law.means[:, 0]),
            "deviations": numbers(law.deviations[:, 0]),
            "logarithm": cell.logarithm,
        }
    if isinstance(cell, StudentCell):
        return {
            "type": "student",
            "origin": cell.origin,
            "originLow": cell.origin_low,
            "scale": cell.scale,
            "locations": numbers(cell.locations),
            "spreads": numbers(cell.spreads),
            "degrees": numbers(cell.degrees),
            "levels": numbers(cell.levels),
        }
    if isinstance(cell, LevelsCell):
        return {
            "type": "levels",
            "levels": [plain_level(level) for level in cell.levels],
            "table": numbers(cell.table),
            "orders": _or_none(cell.orders),
            "text": text,
        }
    assert isinstance(cell, BinsCell)
    return {
        "type": "bins",
        "edges": numbers(cell.edges),
        "table": numbers(cell.table),
        "orders": _or_none(cell.orders),
    }


def _or_none(values: object) -> object:
    return None if values is None else numbers(values)


def plain_level(level: object) -> object:
    """Return a level as what JSON can hold."""
    plain = level.item() if isinstance(level, np.generic) else level
    return plain if plain is None or isinstance(plain, str | bool | int | float) else str(plain)
