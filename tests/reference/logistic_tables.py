"""Logistic regression on every table, and checks of what it says that share nothing with it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice import LogisticRegression
from suffice.errors import NotFinite, SufficeWarning
from tests.reference.data_sets import load

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from tests.reference.data_sets import Table

    Floats = NDArray[np.float64]

ERRORS = {
    ("vowel_esl", 0.0): (118, 237),
    ("pima_ripley", 0.0): (None, 66),
    ("synth_ripley", 0.0): (None, 114),
}
"""Errors on the training part (None: not published) and on the test part."""

SAHEART = {
    "(intercept)": (-4.1296, 0.9642),
    "sbp": (0.0058, 0.0056),
    "tobacco": (0.0795, 0.0262),
    "ldl": (0.1848, 0.0574),
    "famhist=Present": (0.9392, 0.2249),
    "obesity": (-0.0345, 0.0291),
    "alcohol": (0.0006, 0.0045),
    "age": (0.0425, 0.0102),
}
"""The Elements of Statistical Learning, table 4.2: coefficients and standard errors, as printed."""

SCORE = 1e-6
"""Standard errors by which the score of a fit that calls itself converged may be off zero."""

MOST_PROGRAM = 400_000
"""Cells of the largest linear program that is solved to check a separation."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one fit: "converged", "separated", "not known" or "not converged", and what
    is wrong."""

    name: str
    what: str
    refused_blanks: bool
    complaint: str


def counted(name: str, penalty: float) -> tuple[int, int]:
    """Return how many rows are wrong: of the training part, and of the test part."""
    table = load(name)
    model = LogisticRegression(penalty).fit(*table.part("train"))
    train, test = (
        int((model.predict(X) != y).sum()) for X, y in (table.part("train"), table.part("test"))
    )
    return train, test


def heart_disease() -> tuple[pd.DataFrame, NDArray[Any]]:
    """Return the columns of the book's table, famhist as text, and the labels."""
    table = load("saheart")
    return table.X[["sbp", "tobacco", "ldl", "famhist", "obesity", "alcohol", "age"]], table.y


def outcome(table: Table, penalty: float = 0.0) -> Outcome:
    """Return what becomes of one table, straight from its strings; blank numbers are filled.

    Numbers that are missing have to be refused first: only then are they filled, by medians.
    """
    X, refused = table.X, False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SufficeWarning)
        try:
            try:
                model = LogisticRegression(penalty).fit(X, table.y)
            except NotFinite:
                refused, X = True, filled(X)
                model = LogisticRegression(penalty).fit(X, table.y)
            answers = model.predict_proba(X)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
            return Outcome(table.name, "error", refused, f"{type(error).__name__}: {error}")
    if refused and not table.X.isna().to_numpy().any():
        return Outcome(table.name, "error", refused, "a table without blanks was refused")
    if not np.isfinite(answers).all() or np.abs(answers.sum(axis=1) - 1.0).max() > 1e-9:
        return Outcome(table.name, "error", refused, "probabilities are not finite or not one")
    separated = model.separated_
    if separated is not None:
        rows = coded(X, False)
        cells = rows.size * (len(model.classes_) - 1) ** 2
        found = is_separated(rows, table.y) if cells <= MOST_PROGRAM else True
        complaint = "" if found and penalty == 0.0 else "no plane parts the classes"
        return Outcome(table.name, f"separated ({separated.kind})", refused, complaint)
    if (
        model.learned_.statistics.found is not None
        and model.learned_.statistics.found.undecided is not None
    ):
        told = "" if penalty == 0.0 and not model.converged_ else "undecided with a penalty"
        return Outcome(table.name, "not known within the budget", refused, told)
    if not model.converged_:
        return Outcome(table.name, "not converged", refused, "neither converged nor separated")
    off = largest_score(model, X, table.y)
    complaint = f"a score is {off:.2g} standard errors off" if off > SCORE else ""
    return Outcome(table.name, "converged", refused, complaint)


def largest_score(model: LogisticRegression, X: pd.DataFrame, y: NDArray[Any]) -> float:
    """Return the largest |∂/∂β_cj| of the objective at the fit, over the root of its information.

    No more than the distance from the maximum in standard errors, if the fit is where it says:
    |g_j|/√H_jj ≤ √(gᵀH⁻¹g).
    """
    rows = coded(X, model.penalty > 0.0)
    rows = np.column_stack([np.ones(len(rows)), rows])
    posterior = model.predict_proba(X)
    residual = posterior - (y[:, np.newaxis] == model.classes_)
    slopes = rows.T @ residual
    bend = np.square(rows).T @ (posterior * (1.0 - posterior))
    if model.penalty > 0.0:
        by_hand = slopes_by_name(model, X)
        slopes[1:] += model.penalty * by_hand
        bend[1:] += model.penalty
    return float((np.abs(slopes) / np.sqrt(np.maximum(bend, 1e-6))).max())


def slopes_by_name(model: LogisticRegression, X: pd.DataFrame) -> Floats:
    """Return β_cj·s_j for every class (d, k), in the order of `coded`; of two classes 0 and β.

    With two classes the penalty is on their difference: its pull on the first is minus that on
    the second.
    """
    spread = _columns(X, every_level=True).std(axis=0)
    slopes = model.coef_ * spread
    return np.vstack([-slopes, slopes]).T if len(slopes) == 1 else slopes.T


def coded(X: pd.DataFrame, every_level: bool) -> Floats:
    """Return a frame as standardised numbers: one column a level, constant columns 0."""
    found = _columns(X, every_level)
    spread = found.std(axis=0)
    standard: Floats = (found - found.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    return standard


def _columns(X: pd.DataFrame, every_level: bool) -> Floats:
    import pandas as pd

    parts = []
    for name in X:
        column = X[name]
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            parts.append(column.to_numpy(np.float64)[:, np.newaxis])
            continue
        blank = bool(column.isna().any())  # a level like any other
        levels = pd.get_dummies(column, dummy_na=blank, dtype=np.float64).to_numpy()
        parts.append(levels if every_level else levels[:, 1:])
    return np.hstack(parts)


def filled(X: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose blank numbers are the medians of their columns."""
    X = X.copy()
    numbers = X.select_dtypes("number").columns
    X[numbers] = X[numbers].fillna(X[numbers].median()).fillna(0.0)
    return X


def is_separated(rows: Floats, y: NDArray[Any]) -> bool:
    """Return whether some direction has no negative margin and a positive one, by one program.

    Maximise the sum of margins z̃ᵀ(β_y - β_a) where none is negative and no β is beyond ±1.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    labels, codes = np.unique(y, return_inverse=True)
    rows = np.column_stack([np.ones(len(rows)), rows])
    d, k = rows.shape[1], len(labels)
    margins = []
    for c in range(k):
        own = rows[codes == c]
        for a in range(k):
            if a == c:
                continue
            block = np.zeros((len(own), k, d))
            block[:, c], block[:, a] = own, -own
            margins.append(block[:, 1:].reshape(len(own), (k - 1) * d))
    matrix = np.concatenate(margins)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    found = linprog(
        -matrix.sum(axis=0),
        A_ub=csr_array(-matrix),
        b_ub=np.zeros(len(matrix)),
        bounds=(-1.0, 1.0),
        method="highs",
    )
    assert found.status == 0, found.message
    return bool((matrix @ found.x).max() > 1e-6)
