"""The setting `families`: what it asks for, and what the first rows decide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting, listed
from suffice.models.naive_bayes.families.binned import Binned
from suffice.models.naive_bayes.families.same_in_all_classes import Common
from suffice.models.naive_bayes.families.registry import NAMED, family_named
from suffice.models.naive_bayes.families_by_likelihood import candidates, select_families
from suffice.models.naive_bayes.families_by_looks import AUTO, SELECT, family_like

if TYPE_CHECKING:
    from suffice.estimators.batches import Batch
    from suffice.models.naive_bayes.families.protocol import ColumnFamily


def check_families(asked: Any) -> None:
    """Refuse a setting that no table could satisfy, before any row is read."""
    if isinstance(asked, str):
        if asked not in (AUTO, SELECT, *NAMED):
            raise BadSetting(
                f"families={asked!r} is not known",
                hint=f"choose one of {listed((AUTO, SELECT, *NAMED))}, or {{column: family}}",
            )
        return
    if not isinstance(asked, Mapping):
        family_named(asked, "all columns")
        return
    for column, family in asked.items():
        family_named(family, f"column {column!r}")


def chosen_families(asked: Any, batch: Batch, alpha: float) -> tuple[list[ColumnFamily], list[int]]:
    """Return the family of every column of a first batch, and which columns share one law."""
    table, codes, weights = batch.rows, batch.codes, batch.weights
    names = batch.columns.names
    width = table.width
    named: dict[int, ColumnFamily] = {}
    tied = [-1] * width
    if isinstance(asked, Mapping):
        for number, (key, family) in enumerate(asked.items()):
            columns = [_place(part, names) for part in (key if isinstance(key, tuple) else (key,))]
            for j in columns:
                if j in named:
                    raise BadSetting(
                        f"families names {names[j]!r} twice", hint="give each column one family"
                    )
                named[j] = family_named(family, f"column {names[j]!r}")
                if isinstance(key, tuple):
                    tied[j] = number
    elif not (isinstance(asked, str) and asked in (AUTO, SELECT)):
        named = {j: family_named(asked, "all columns") for j in range(width)}
    if isinstance(asked, str) and asked == SELECT:
        options = [candidates(table, j, codes, weights) for j in range(width)]
        found = select_families(table, codes, batch.labels, weights, options, alpha)
    else:
        found = [
            named[j] if j in named else family_like(table, j, codes, weights) for j in range(width)
        ]
    return [_cut(family, table, j, weights) for j, family in enumerate(found)], tied


def _place(key: Any, names: tuple[str, ...]) -> int:
    """Return the position of a column that is named, or given by its position."""
    if isinstance(key, str) and key in names:
        return names.index(key)
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool) and 0 <= key < len(names):
        return int(key)
    raise BadSetting(
        f"families names {key!r}, which is no column", hint=f"the columns are {listed(names)}"
    )


def _cut(family: ColumnFamily, table: Any, column: int, weights: Any) -> ColumnFamily:
    """Return the family with its edges, where it needs some."""
    if isinstance(family, Common):
        return Common(_cut(family.family, table, column, weights))
    if not isinstance(family, Binned) or family.edges is not None:
        return family
    cells = family.read(table, [column])[:, 0]
    return family.cut(cells, weights)
