"""Whether sampled rows can be among those that a model was learned from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadFile
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER
from suffice.statistics.algebra import exceeds
from suffice.statistics.row_sample import END, MOST
from suffice.storage.checks.form_checks import refusal
from suffice.storage.known_classes import name_of
from suffice.storage.stored_labels import are_labels, are_levels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.models.pool.model import PoolModel
    from suffice.statistics.row_sample import RowSample

SAMPLE = "statistics.sample"
"""Where in a file the rows are that were kept, as refusals call the place."""


def check_hashes(sample: RowSample, place: str) -> None:
    """Refuse more rows than are kept, or rows beyond the limit."""
    if len(sample.rows) > MOST or not 0 < sample.limit <= END:
        raise refusal(place, "holds more rows than are kept")
    if any(h >= sample.limit for h in sample.rows):
        raise refusal(place, "holds rows beyond its limit")


def check_pool(state: Mapping[str, Any]) -> None:
    """Refuse a pool of other members than there are, or whose rows are not those it learned."""
    from suffice.models.pool.members import FALLBACK, MEMBERS  # no other model has such members
    from suffice.models.pool.model import RECIPE

    model, columns, statistics = state["model"], state["columns"], state["statistics"]
    if model.recipe != RECIPE:
        raise BadFile(
            f"the pool is of recipe {model.recipe}, and this program uses {RECIPE}: the same "
            "rows would give other answers",
            hint="fit it again with this version, or load it with the version that wrote it",
        )
    known = set(model.members) <= set(MEMBERS) and FALLBACK in model.members
    if not known or len(set(model.members)) < len(model.members):
        raise refusal("model.members", "are not members of a pool, each once")
    plain = name_of(columns) == "Columns"
    if not plain or tuple(column.kind for column in columns.columns) != model.kinds:
        raise refusal("columns", "are not those of the model")
    if any(column.levels for column in columns.columns) or state["chosen"] is not None:
        raise refusal("columns", "hold more than a pool stores")
    _check_texts(model)
    _check_statistics(statistics, model)
    _check_rows(statistics, model)


def _check_texts(model: PoolModel) -> None:
    """Refuse columns of texts that are none, or numbers of other columns than these."""
    if model.texts is None:
        return
    from suffice.models.pool.text_readings import READINGS

    places = model.texts.places
    known = all(place < len(model.kinds) and model.kinds[place] == CATEGORY for place in places)
    if not places or not known or len(set(places)) < len(places):
        raise refusal("model.texts", "are not columns that may hold texts, each once")
    if len(model.texts.alphas) != len(places) or len(model.texts.read_by) != len(places):
        raise refusal("model.texts", "do not match the columns of texts")
    if not set(model.texts.read_by) <= set(READINGS):
        raise refusal("model.texts", "are read in a way that is not known")


def _check_statistics(statistics: Any, model: PoolModel) -> None:
    """Refuse class weights that are not those of the model."""
    if name_of(statistics) != "WithRows" or name_of(statistics.held) != "ByClass":
        raise refusal("statistics", f"are {type(statistics).__name__}")
    groups = statistics.held.groups
    if tuple(statistics.labels) != model.labels or set(groups) != set(model.labels):
        raise refusal("statistics", "are of other classes than the model")
    for label, weight in zip(model.labels, model.weights.tolist(), strict=True):
        group = groups[label]
        if name_of(group) != "Totals" or group.width or group.missing is not None:
            raise refusal("statistics", "hold more than the weights of the classes")
        if group.weight != weight:
            raise refusal("statistics", f"weigh {group.weight:g}, the model {weight:g}")


def _check_rows(statistics: Any, model: PoolModel) -> None:
    """Refuse rows of other cells or classes, and rows that were never learned."""
    sample = statistics.sample
    check_hashes(sample, SAMPLE)
    held = dict.fromkeys(model.labels, 0.0)
    for row in sample.rows.values():
        weighs = type(row.weight) is float and 0.0 < row.weight < np.inf
        if not weighs or not are_labels([row.label]) or row.label not in held:
            raise refusal(SAMPLE, "holds a row that does not belong to this model")
        if not _are_cells(row.cells, model.kinds):
            raise refusal(SAMPLE, "holds a row with other columns")
        if any(not isinstance(row.cells[j], str | None) for j in model.text_places):
            raise refusal(SAMPLE, "holds a row without a valid text")
        held[row.label] += row.weight
    groups = statistics.held.groups
    if any(exceeds(held[label], group.weight) for label, group in groups.items()):
        raise refusal(SAMPLE, "holds more rows than were learned")
    if not sample.rows or (sample.limit == END and not all(held.values())):
        raise refusal(SAMPLE, "lacks rows that were learned")


def _are_cells(cells: object, kinds: tuple[str, ...]) -> bool:
    """Whether there is one cell a column: finite or NaN in numbers, 0 or 1, or levels."""
    if type(cells) is not tuple or len(cells) != len(kinds):
        return False
    for cell, kind in zip(cells, kinds, strict=True):
        if kind == NUMBER:
            right = type(cell) is float and not math.isinf(cell)
        elif kind == BOOLEAN:
            right = cell is None or (type(cell) in (bool, int) and cell in (0, 1))
        else:
            right = are_levels([cell]) and cell == cell  # noqa: PLR0124  not NaN
        if not right:
            return False
    return True
