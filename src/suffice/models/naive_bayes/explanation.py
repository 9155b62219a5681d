"""Why this class, column by column: log odds of independent columns simply add up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting
from suffice.models.gaussian.explanation import MOST_CELLS, LogOdds
from suffice.models.naive_bayes.families.linear_laws import LinearLaws
from suffice.places import Phrase, RowAt
from suffice.rows.sparse import SparseRows

if TYPE_CHECKING:
    from suffice.models.naive_bayes.column_blocks import Blocks
    from suffice.models.naive_bayes.model import NaiveBayesModel
    from suffice.rows import FloatArray, IntArray


def explain_columns(
    model: NaiveBayesModel, rows: Blocks, of: IntArray, against: IntArray
) -> LogOdds:
    """Split the log odds between two classes of every row by column.

    log p(of | x)/p(against | x) = log π_of/π_against + β Σ_j log p(x_j | of)/p(x_j | against).
    A column that is missing adds nothing. Where an event is impossible without smoothing, its
    column adds ±inf; a row that holds both kinds has no sum and is refused.
    """
    size, width = len(rows), model.product.width
    if size * width > MOST_CELLS:
        raise BadSetting(
            f"{size} rows of {width} columns have {size * width:.2g} cells to explain",
            hint="explain fewer rows at a time",
        )
    logs, orders = np.zeros((size, width)), np.zeros((size, width))
    for law, block, group in zip(model.laws, rows.parts, model.product.columns, strict=True):
        places = list(group)
        if isinstance(law, LinearLaws):
            logs[:, places], found = _linear(law, block, of, against)
            if found is not None:
                orders[:, places] = found
            continue
        for j, column in enumerate(places):
            scores = law.column_scores(block, j)
            logs[:, column] = _difference(scores.logs, of, against)
            if scores.orders is not None:
                orders[:, column] = _difference(scores.orders, of, against)
    parts = model.temperature * logs
    parts = np.where(orders > 0.0, -np.inf, np.where(orders < 0.0, np.inf, parts))
    priors = model.log_priors
    same = priors[of] == priors[against]
    with np.errstate(invalid="ignore"):
        baseline = np.where(same, 0.0, priors[of] - priors[against])
    if model.shares is not None:
        # What averaging probabilities adds to the average of log odds.
        logs, here = model.posterior(rows, log=True), np.arange(size)
        with np.errstate(invalid="ignore"):
            rest = logs[here, of] - logs[here, against] - parts.sum(axis=1)
        baseline = np.where(np.isfinite(rest), rest, baseline)
    every = np.column_stack([parts, baseline])
    torn = np.isposinf(every).any(axis=1) & np.isneginf(every).any(axis=1)
    if torn.any():
        raise BadSetting(
            Phrase(
                "{row} is impossible in each of the two classes, for different reasons: its log "
                "odds are not a sum over columns",
                row=RowAt(int(np.argmax(torn))),
            ),
            hint="smoothing=1 makes every event possible; priors above 0 every class",
        )
    return LogOdds(of, against, baseline, parts, None)


def words_of_columns(
    model: NaiveBayesModel, rows: Blocks, of: IntArray, against: IntArray
) -> dict[int, list[dict[str, float]]]:
    """Return, by columns of texts, what each word adds to the log odds of every row."""
    found: dict[int, list[dict[str, float]]] = {}
    pairs = zip(model.product.families, model.laws, rows.parts, model.product.columns, strict=True)
    for family, law, block, group in pairs:
        if not family.cells_are_texts:
            continue
        texts: Any = law
        for j, column in enumerate(group):
            said = texts.words(block, j, of, against)
            beta = model.temperature
            found[column] = [{word: beta * odds for word, odds in row.items()} for row in said]
    return found


def _difference(scores: FloatArray, of: IntArray, against: IntArray) -> FloatArray:
    rows = np.arange(len(scores))
    one, other = scores[rows, of], scores[rows, against]
    with np.errstate(invalid="ignore"):
        found: FloatArray = np.where(one == other, 0.0, one - other)
    return found


def _linear(
    law: LinearLaws, block: Any, of: IntArray, against: IntArray
) -> tuple[FloatArray, FloatArray | None]:
    """Return x_j·(difference of slopes) + (difference of offsets), and the same for orders."""
    cells = law.cells(block.toarray() if isinstance(block, SparseRows) else block)
    blank = np.isnan(cells)
    cells = np.where(blank, 0.0, cells)

    def split(slopes: FloatArray, offsets: FloatArray | None) -> FloatArray:
        found = cells * (slopes[of] - slopes[against])
        if offsets is not None:
            found += offsets[of] - offsets[against]
        found[blank] = 0.0
        return found

    logs = split(law.slopes, law.offsets)
    if law.order_slopes is None:
        return logs, None
    return logs, split(law.order_slopes, law.order_offsets)
