"""Every covariance form on every table, straight from strings and blanks."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from suffice import GaussianDiscriminant
from suffice.errors import SufficeWarning
from tests.reference.data_sets import manifest

if TYPE_CHECKING:
    import pandas as pd

    from tests.reference.data_sets import Table

FORMS = ("shared", "per-class", "diagonal", "shared-diagonal", "spherical", "auto")
MOST_ANSWERED = 2000


def complaint(table: Table, form: str) -> str:
    """Return what goes wrong with one form on one table; nothing should."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SufficeWarning)
        try:
            model = GaussianDiscriminant(form).fit(table.X, table.y)
            rows = table.X.iloc[:MOST_ANSWERED]
            answers = {
                "predict_proba": model.predict_proba(rows),
                "predict_log_proba": model.predict_log_proba(rows),
                "log_density": model.log_density(rows),
            }
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
            return f"{table.name}, {form}: {type(error).__name__}: {error}"
    for question, answer in answers.items():
        if not np.isfinite(answer).all():
            return f"{table.name}, {form}: {question} is not finite"
    off = float(np.abs(answers["predict_proba"].sum(axis=1) - 1.0).max())
    return f"{table.name}, {form}: probabilities add up to 1 ± {off:.1g}" if off > 1e-9 else ""


def scikit_learn_fails(table: Table) -> bool:
    """Return whether scikit-learn's QDA() fails on a table, although helped to numbers.

    Blanks are filled by the median, categories become one-hot columns, and both are given to
    it standardized: it is only asked to fit, and to predict finite probabilities.
    """
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    numbers = coded(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = QuadraticDiscriminantAnalysis().fit(numbers, table.y)
            found = model.predict_proba(numbers.iloc[:MOST_ANSWERED])
        except Exception:  # noqa: BLE001 - whatever it is, it is a failure
            return True
    return not np.isfinite(found).all()


def coded(table: Table) -> pd.DataFrame:
    """Return a table as numbers: medians for blanks, one-hot categories, standardized."""
    import pandas as pd

    named = [c for c in manifest()[table.name]["cat_cols"].split("|") if c in table.X]
    rest = table.X.drop(columns=named).astype(np.float64)
    rest = rest.fillna(rest.median()).fillna(0.0)
    spread = rest.std(ddof=0)
    rest = (rest - rest.mean()) / spread.where(spread > 0.0, 1.0)
    parts = [rest]
    if named:
        parts.append(pd.get_dummies(table.X[named].astype(str), dtype=np.float64))
    numbers = pd.concat(parts, axis=1)
    numbers.columns = [f"x{j}" for j in range(numbers.shape[1])]
    return numbers
