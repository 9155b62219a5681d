"""New priors for new data, where columns are independent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadRows
from suffice.models.label_shift import LabelShift, influences, shifted_priors

if TYPE_CHECKING:
    from suffice.families.blocks import Blocks
    from suffice.models.naive_bayes import NaiveBayesModel
    from suffice.rows import FloatArray


def estimate_priors(model: NaiveBayesModel, rows: Blocks) -> LabelShift:
    """Return the priors that maximize the likelihood of unlabelled rows.

    A temperature enters as it does in posteriors: the likelihood that is compared is p(x | c)^β.
    """
    if len(rows) == 0:
        raise BadRows("there are no rows to estimate priors from", hint="give at least one row")
    size = len(model.labels)
    beta = model.temperature
    scores = model.comparable(rows, np.zeros(size))

    def estimation(priors: FloatArray, g: FloatArray, spread: FloatArray) -> FloatArray:
        variances = np.zeros(size)
        for m in range(size):
            omegas = np.stack([influences(priors, g, spread, m, c) for c in range(size)])
            for law, block in zip(model.laws, rows.parts, strict=True):
                variances[m] += beta**2 * law.estimation_variance(block, omegas)
        return variances

    return shifted_priors(model.labels, scores, estimation)
