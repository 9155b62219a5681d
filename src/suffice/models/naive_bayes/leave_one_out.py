"""Leave-one-out of naive Bayes: every row judged by the counts of all the others."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.linear_algebra import normalized
from suffice.models.left_out import LeaveOneOut
from suffice.models.naive_bayes.families.protocol import Scores, SeesAllRows
from suffice.models.naive_bayes.model import combined, summed
from suffice.statistics.row_sample import MOST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.naive_bayes.column_blocks import Blocks
    from suffice.models.naive_bayes.families.protocol import ColumnLaws
    from suffice.models.naive_bayes.learner import NaiveBayesFit
    from suffice.models.naive_bayes.model import NaiveBayesModel
    from suffice.models.naive_bayes.product import Product
    from suffice.rows import FloatArray, IntArray

CELLS = 4_000_000
"""Cells that are judged at once (32 MB); more are judged in parts. A choice."""


def left_out(
    fit: NaiveBayesFit,
    rows: Blocks,
    codes: IntArray,
    weights: FloatArray | None,
    log_priors: FloatArray | None,
    *,
    complete: bool = True,
) -> LeaveOneOut:
    """Return what each row would get from a model of all the others.

    `rows` are all rows of the fit, or some of them if not `complete`. `log_priors` None means that
    they are re-estimated too. Smoothing and temperature are those of the whole: they are settings,
    also where they were chosen. Where temperatures are averaged, the row's own loss is taken out
    of their shares.
    """
    model = fit.model
    held = np.ones(len(codes)) if weights is None else weights
    priors, vanished = left_out_priors(model.weights, codes, held, log_priors)
    found = left_out_scores(
        model.product, fit.groups, fit.alphas, rows, codes, held, complete=complete,
        laws=model.laws,
    )  # fmt: skip
    if model.shares is not None:
        joint = _averaged(model, found, priors, codes, held, vanished)
    else:
        joint = combined(found, priors, model.temperature)
    # Without the row no class of positive prior may be left: then all others are alike.
    lost = np.isneginf(joint).all(axis=1)
    joint[lost] = 0.0
    joint[lost, codes[lost]] = -np.inf if len(model.labels) > 1 else 0.0
    return LeaveOneOut(normalized(joint), codes, held, vanished)


def _averaged(
    model: NaiveBayesModel,
    found: Scores,
    priors: FloatArray,
    codes: IntArray,
    weights: FloatArray,
    vanished: NDArray[np.bool_],
) -> FloatArray:
    """Return log posteriors averaged over temperatures, by shares without each row's own loss."""
    from suffice.models.gaussian.averages.shares import (  # who averages nothing needs it not
        LeftOutScores,
        averaged_without_themselves,
    )

    assert model.temperatures is not None
    assert model.shares is not None
    judged = LeftOutScores((possible_scores(found),), priors, codes, weights, ~vanished)
    # Of more rows than are sampled, most have no say in the shares.
    worth = weights if len(codes) <= MOST else np.zeros(len(codes))
    shares = model.shares[np.newaxis]
    return averaged_without_themselves(judged, model.temperatures, shares, worth)


def possible_scores(scores: Scores) -> FloatArray:
    """Return scores with -inf for classes of more impossible events than the best."""
    if scores.orders is None:
        return scores.logs
    least = scores.orders.min(axis=1, keepdims=True)
    found: FloatArray = np.where(scores.orders > least, -np.inf, scores.logs)
    return found


def left_out_scores(
    product: Product,
    groups: Sequence[Sequence[object]],
    alphas: Sequence[float],
    rows: Blocks,
    codes: IntArray,
    weights: FloatArray,
    *,
    complete: bool,
    budget: float = 1e11,
    laws: Sequence[ColumnLaws] | None = None,
) -> Scores:
    """Return log p(x | c) of rows that were in the fit, each as if it never had been.

    `weights` is what is taken out of each row. `complete` says that the rows are all there were:
    where a downdate has no digits, they can then be summed again. `budget` is how much may be
    spent on floors, which otherwise are held fixed. How far texts are believed is known to the
    `laws`: a setting, as smoothing is.
    """
    found = []
    known = [None] * len(groups) if laws is None else list(laws)
    step = max(1, CELLS * max(1, len(rows)) // max(1, rows.cells * len(groups[0])))
    parts = [slice(start, start + step) for start in range(0, len(codes), step)]
    for family, held, alpha, block, law in zip(
        product.families, groups, alphas, rows.parts, known, strict=True
    ):
        if isinstance(family, SeesAllRows):
            whole = family.left_out_rows(
                held, block, codes, weights, complete=complete, budget=budget
            )
            found.append(whole)
            continue
        judge: Any = partial(family.left_out, held, alpha)
        if family.cells_are_texts and law is not None:
            judge = law.left_out  # type: ignore[attr-defined]
        judged = [judge(block[part], codes[part], weights[part]) for part in parts]
        orders = None
        if judged[0].orders is not None:
            orders = np.concatenate([scores.orders for scores in judged])
        found.append(Scores(np.concatenate([scores.logs for scores in judged]), orders))
    return summed(found)


def left_out_priors(
    held: FloatArray, codes: IntArray, weights: FloatArray, given: FloatArray | None
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the log priors of each row's own model, and which rows were all their class had."""
    n, rows = len(codes), np.arange(len(codes))
    left = np.broadcast_to(held, (n, len(held))).copy()
    left[rows, codes] -= weights
    vanished = left[rows, codes] <= 1e-12 * held[codes]
    left[rows[vanished], codes[vanished]] = 0.0
    if given is None:
        total = left.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            priors = np.log(left / np.where(total > 0.0, total, 1.0))
        return priors, vanished
    priors = np.broadcast_to(given, (n, len(held))).copy()
    priors[rows[vanished], codes[vanished]] = -np.inf
    return priors, vanished
