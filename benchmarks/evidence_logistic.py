"""Logistic regression: published tables, statsmodels and scikit-learn, every table at length."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.evidence import Figure
from suffice import LogisticRegression
from tests.reference import data_sets
from tests.reference.categorical_tables import categorical_table
from tests.reference.logistic_peers import scikit_learn_apart, statsmodels_apart
from tests.reference.logistic_tables import ERRORS, SAHEART, counted, heart_disease, outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.reference.logistic_tables import Outcome

COMMAND = "python -m benchmarks.evidence --only logistic"
SHORT = {"kddcup99": 5_000, "phoneme_esl": 500}
"""Rows taken of tables on which one fit takes many minutes: half a million rows in 23 classes, and
a linear program of a thousand coefficients over dense rows."""
PENALTIES = (0.1, 1.0, 100.0)
MOST_WIDTH = 100
MOST_CELLS = 20_000_000
"""n·p² for statsmodels and scikit-learn: their Newton steps take minutes above."""


def measure() -> Iterator[Figure]:
    """Yield published figures, then every table, then the peers where there is a maximum."""
    yield from published()
    yield from budgets()
    without = outcomes(0.0)
    yield told(without, 0.0)
    yield told(outcomes(1.0), 1.0)
    yield from peers({o.name for o in without if o.what == "converged"})


def published() -> Iterator[Figure]:
    """Yield what books and R print."""
    for (name, penalty), (train, test) in ERRORS.items():
        found = counted(name, penalty)
        yield Figure(
            f"{name}, no penalty: wrong in training and test",
            f"{found[0]}, {found[1]}",
            f"{'any' if train is None else train}, {test}",
            found[1] == test and train in (None, found[0]),
            COMMAND,
        )
    held = counted("vowel_esl", 1.0)
    claim = "vowel_esl, penalty=1, told for comparison: wrong in training and test"
    yield Figure(claim, f"{held[0]}, {held[1]}", "not 118, 237", held != (118, 237), COMMAND)
    summary = LogisticRegression().fit(*heart_disease()).summary()
    printed = np.array(list(SAHEART.values()))
    found_here = np.column_stack([summary.estimates[0], summary.standard_errors[0]])
    off = float(np.abs(found_here - printed).max())
    claim = "South African heart disease, coefficients and standard errors as printed"
    yield Figure(claim, f"off by {off:.6f} at most", "0.00005", off <= 5e-5, COMMAND)
    known = data_sets.r_reference()["pima_tr_glm"]
    pima = LogisticRegression().fit(*data_sets.load("pima_ripley").part("train")).summary()
    apart = float(np.abs((pima.estimates[0] - known["coef"]) / known["se"]).max())
    spread = float(np.abs(pima.standard_errors[0] / known["se"] - 1.0).max())
    yield Figure(
        "Pima.tr against R's glm: θ in standard errors, and these relatively",
        f"{apart:.1e}, {spread:.1e}",
        "1e-8, 1e-6",
        apart <= 1e-8 and spread <= 1e-6,
        COMMAND,
    )


def budgets() -> Iterator[Figure]:
    """Yield the CPU that small tables of many categories and classes take, start included."""
    limits = {"logistic": 3.0, "auto": 15.0}
    worst = dict.fromkeys(limits, 0.0)
    with TemporaryDirectory() as folder:
        for seed in range(3):
            X, y = categorical_table(seed)
            place = Path(folder, "table.csv")
            X.assign(label=y).to_csv(place, index=False)
            for model in limits:
                command = [sys.executable, "-m", "suffice.cli", "fit", str(place), "-t", "label"]
                begun = os.times()
                subprocess.run(
                    [*command, "--model", model, "-o", str(Path(folder, "m.suffice"))],
                    check=True,
                    capture_output=True,
                )
                done = os.times()
                spent = done.children_user + done.children_system
                spent -= begun.children_user + begun.children_system
                worst[model] = max(worst[model], spent)
    for model, limit in limits.items():
        yield Figure(
            f"suffice fit --model {model}: 683 rows, 35 columns of 2 to 7 levels with blanks, 19 "
            "unequal classes, most of them separated: CPU, slowest of 3 tables",
            f"{worst[model]:.1f} s",
            f"{limit:g} s",
            worst[model] <= limit,
            COMMAND,
        )


def outcomes(penalty: float) -> list[Outcome]:
    """Return what becomes of every table."""
    return [
        outcome(data_sets.load(name).taken(SHORT.get(name, 10**9)), penalty)
        for name in data_sets.names()
    ]


def told(found: list[Outcome], penalty: float) -> Figure:
    """Return all of it in one line."""
    cut = "".join(f", {most:,} rows of {name}" for name, most in SHORT.items())
    counts = Counter(o.what for o in found)
    wrong = [f"{o.name}: {o.complaint}" for o in found if o.complaint]
    separated = [o.name for o in found if o.what.startswith("separated")]
    blank = sum(o.refused_blanks for o in found)
    return Figure(
        f"every table{cut}, penalty={penalty:g}: a fit converges with a certificate (and its "
        "score, computed apart, is 0) or classes are separated (where small: by a program of its "
        f"own); {blank} tables were refused for blank numbers before these were filled"
        + (f"; separated: {', '.join(separated)}" if separated else ""),
        ", ".join(f"{many} {what}" for what, many in sorted(counts.items()))
        + (f"; {'; '.join(wrong)}" if wrong else ""),
        "no other outcome",
        not wrong,
        COMMAND,
    )


def peers(converged: set[str]) -> Iterator[Figure]:
    """Yield the largest distance from statsmodels and scikit-learn, over tables of numbers."""
    found: dict[str, tuple[float, float]] = {}
    held: dict[float, dict[str, float]] = {penalty: {} for penalty in (0.0, *PENALTIES)}
    for name in data_sets.numeric_names(MOST_WIDTH):
        table = data_sets.load(name)
        X, y = table.X.to_numpy(np.float64), table.y
        p = X.shape[1] * (len(np.unique(y)) - 1)
        if name not in converged or len(y) * p**2 > MOST_CELLS or np.isnan(X).any():
            continue
        if (X.std(axis=0) == 0.0).any() or np.linalg.matrix_rank(X - X.mean(axis=0)) < X.shape[1]:
            continue  # they have no rule for coefficients that are not unique
        found[name] = statsmodels_apart(X, y)
        for penalty, apart in held.items():
            apart[name] = scikit_learn_apart(X, y, penalty)
    far, off = (max(pair[i] for pair in found.values()) for i in (0, 1))
    yield Figure(
        f"against statsmodels on {len(found)} tables of numbers: θ in standard errors, and these "
        "relatively, at most",
        f"{far:.1e}, {off:.1e}",
        "1e-8, 1e-6",
        far <= 1e-8 and off <= 1e-6,
        COMMAND,
    )
    for penalty, apart in held.items():
        name = max(apart, key=lambda name: apart[name])
        yield Figure(
            f"against scikit-learn's newton-cholesky on {len(apart)} tables of numbers, "
            f"penalty={penalty:g}: slopes in standard errors, at most (on {name})",
            f"{apart[name]:.1e}",
            "1e-8",
            apart[name] <= 1e-8,
            COMMAND,
        )
