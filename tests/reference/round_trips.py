"""Every estimator, setting, family, kind of labels and of rows, saved and loaded: a matrix.

Settings come from grids, one for each estimator, which have to name every parameter and every value
that the library has a list of; whatever is added there and not here fails a test.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from math import prod
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

import suffice
from suffice.errors import SufficeError
from suffice.estimators.mixtures.settings import CRITERIA
from suffice.families import (
    Bernoulli,
    Binned,
    Common,
    GaussianColumns,
    LogNormal,
    PredictiveGaussian,
    TextBytes,
)
from suffice.learning.learners.logistic_settings import PATHS, SOLVERS
from suffice.learning.table_recipe import filled_table
from suffice.models.gaussian.family import DIAGONAL_FORMS, DIVISORS, FULL_FORMS, SHRINK_TARGETS
from suffice.models.gaussian.forms import LETTERS, SPOKEN, TIED_FORMS
from suffice.models.naive_bayes.families.registry import COMMON, NAMED
from suffice.models.pool.members import MEMBERS
from suffice.models.text.term_events import EVENTS
from suffice.rows import read_table
from suffice.storage.model_file import read_model, stored_posterior

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.random import Generator

SINGLE = [name for name in sorted(NAMED) if NAMED[name].is_single]
SMOOTHING = [1.0, 0.0, 0.3, "held-out"]
TEMPERATURE = [None, "held-out", 0.5, "left-out"]
GIVEN = "given"
"""Stands for priors of whatever the labels are, and for a start of the classes."""
PRIORS = [None, GIVEN]
FAMILIES: list[Any] = [
    "auto", "select", *sorted(NAMED),
    *(dict.fromkeys((0, 1, 2), COMMON + name) for name in SINGLE),
    Bernoulli(1.0), Binned(3), Binned(edges=(-1.0, 0.0, 2.0, 9.0)), LogNormal("shared"),
    PredictiveGaussian("shared", 2.0, 0.5), Common(PredictiveGaussian(strength=9.0)),
    Common(GaussianColumns("shared")), {0: "poisson", 1: "common poisson"},
    {(0, 1): "multinomial", 2: "binned"}, {0: "poisson", 1: Bernoulli(1.0), 2: "gaussian"},
    dict.fromkeys((0, 1, 2), Common(Binned(edges=(-1.0, 0.0, 2.0, 9.0)))),
    {0: TextBytes(2, None), 1: "words", 2: TextBytes(3, 7)},
]  # fmt: skip

CALIBRATION = [None, 8]
"""Rows that are kept for prediction sets, or none."""
UNLABELLED = ["ignore", 0.4, "auto"]
GRIDS: dict[str, dict[str, list[Any]]] = {
    "GaussianDiscriminant": {
        "covariance": [*FULL_FORMS, *DIAGONAL_FORMS, *TIED_FORMS, "auto"],
        "pool": [None, 0.0, 0.4],
        "shrink": [None, 0.0, 0.3],
        "shrink_target": list(SHRINK_TARGETS),
        "priors": PRIORS,
        "divisor": list(DIVISORS),
        "predictive": [None, 2.0, "auto"],
        "prior_rows": [0.0, 0.5],
        "temperature": [None, 0.7, "left-out"],
        "average": [False, True],
        "factors": [None, 0, 1, "auto"],
        "calibration_rows": CALIBRATION,
        "unlabelled": UNLABELLED,
    },
    "MixtureDiscriminant": {
        "components": [1, 2, "auto"],
        "covariance": [*LETTERS, "shared", ["EEE", "VVI"]],
        "factors": [None, 1, "auto"],
        "criterion": ["bic", "left-out"],
        "shared": [False, True],
        "priors": PRIORS,
        "prior": [False, True],
        "tol": [1e-8],
        "max_iter": [1000, 3],
        "random_state": [0, 7],
    },
    "GaussianMixture": {
        "components": [1, 2, range(1, 3), [3, 1], "auto"],
        "covariance": [*LETTERS, *SPOKEN.values(), ["EEE", "VVI"], "auto"],
        "factors": [None, 1, "auto"],
        "noise": [False, True, 40.0],
        "start": [None, GIVEN],
        "criterion": list(CRITERIA),
        "prior": [False, True],
        "tol": [1e-8],
        "max_iter": [1000, 3],
        "random_state": [None, 7],
    },
    "LatentClasses": {
        "components": [1, 2, range(1, 3), "auto"],
        "families": FAMILIES,
        "smoothing": [1.0, 0.0, 0.3],
        "start": [None, GIVEN],
        "criterion": list(CRITERIA),
        "starts": [2],
        "tol": [1e-8],
        "max_iter": [200, 3],
        "random_state": [None, 7],
    },
    "NaiveBayes": {
        "families": FAMILIES,
        "smoothing": SMOOTHING,
        "temperature": TEMPERATURE,
        "priors": PRIORS,
        "calibration_rows": CALIBRATION,
        "unlabelled": UNLABELLED,
    },
    "BernoulliNaiveBayes": {
        "threshold": [0.0, 1.0, -1.0],
        "smoothing": SMOOTHING,
        "temperature": TEMPERATURE,
        "priors": PRIORS,
        "calibration_rows": CALIBRATION,
        "unlabelled": UNLABELLED,
    },
    "MultinomialNaiveBayes": {
        "boolean": [False, True],
        "smoothing": SMOOTHING,
        "temperature": TEMPERATURE,
        "priors": PRIORS,
        "calibration_rows": CALIBRATION,
        "unlabelled": UNLABELLED,
    },
    "ComplementNaiveBayes": {
        "boolean": [False, True],
        "smoothing": SMOOTHING,
        "calibration_rows": CALIBRATION,
        "unlabelled": UNLABELLED,
    },
    "LogisticRegression": {
        "penalty": [0.0, 0.7, *PATHS],
        "l1_ratio": [0.0, 1.0, 0.5],
        "solver": list(SOLVERS),
        "correction": [None, "firth"],
        "intercept": [True, False],
        "missing": [None, "indicator"],
        "tolerance": [1e-8],
        "max_passes": [1000, 2],
        "standard_errors": [None, True, False],
        "warm_start": [False, True],
        "random_state": [0, 7],
    },
    "Perceptron": {
        "epochs": [100, 1],
        "average": [True, False],
        "shuffle": [True, False],
        "random_state": [0, 7],
    },
    "Pool": {
        "members": [
            "auto",
            *MEMBERS,
            ["logistic", "class shares"],
            ("GDA", "naive Bayes"),
            ["forest"],
        ],
        "texts": ["auto", [], [0], (2, 0, 2), ["colour"]],
    },
    "TextClassifier": {
        "event": [*EVENTS, "language", "both"],
        "ngrams": [(1, 2), (1, 1)],
        "lower": [True, False],
        "order": [5, 1, 3],
        "limit": [3000, None, 5],
        "smoothing": ["held-out", 0.5],
        "calibrated": [True, False],
        "priors": PRIORS,
        "unlabelled": UNLABELLED,
    },
}
LABELS: dict[str, list[Any]] = {
    "text": ["ham", "spam", "eggs\0"],
    "integers": [3, -1, 2**63],
    "small integers": list(np.array([3, 1, 2], dtype=np.int8)),
    "truths": [True, False],
    "floats": [1.0, -2.0, 5.0],
    "single floats": list(np.array([1, 2, 3], dtype=np.float32)),
    "tuples": [("a", 1), ("a", 2), ("b", 0)],
    "tuples of NumPy's": [(np.int64(1), "x"), (np.int64(2), "y"), (np.int64(2), "z")],
    "nested tuples": [((1, None), "x"), ((2, None), "x"), ((2, None), "y")],
    "bytes": [b"\x00", b"a", b"\xff"],
    "decimals": [Decimal(1), Decimal("2.00"), Decimal(30)],
    "dates": [date(2026, 1, 31), date(1, 1, 1), date(2027, 1, 1)],
    "datetimes": [datetime(2026, 1, 1, 3, 4, 5, 6), datetime(1999, 1, 1), datetime(2030, 1, 1)],  # noqa: DTZ001
    "datetimes with zones": [datetime(2026, 1, d, tzinfo=UTC) for d in (1, 2, 3)],
    "times": [time(1, 2), time(23, 59, 59, 999999), time(0)],
    "timedeltas": [timedelta(1, 2, 3), timedelta(-1), timedelta(0)],
    "UUIDs": [UUID(int=2**100), UUID(int=5), UUID(int=0)],
    "NumPy's days": list(np.array(["2026-01-01", "2020-05-05"], dtype="M8[D]")),
    "NumPy's nanoseconds": list(np.array(["2026-01-01", "2020-05-05"], dtype="M8[ns]")),
    "NumPy's spans": list(np.array([1, 5], dtype="m8[s]")),
    "NumPy's bytes": list(np.array([b"x", b"yy"])),
    "NumPy's text": list(np.array(["x", "yy"])),
    "one": ["only"],
}
TABLES = ["numbers", "gaps", "counts", "truths", "sparse", "frame", "phrases"]
STATES = ["fitted", "weighted", "in batches", "merged", "forgotten", "faded away"]


@dataclass(frozen=True)
class Cell:
    """One place of the matrix."""

    estimator: str
    settings: tuple[tuple[str, Any], ...]
    table: str
    labels: str
    state: str


def cells(rng: Generator, most: int) -> Iterator[Cell]:
    """Yield settings of every estimator, with rows, labels and states at random.

    All of them, or where there are more, `most` of an estimator: half of them at random, which fit
    refuses where settings do not belong together, and half with two in three settings as they are
    by themselves.
    """
    for estimator, grid in GRIDS.items():
        sizes = [len(values) for values in grid.values()]
        count = prod(sizes)
        places = np.arange(count)
        if count > most:
            far = rng.choice(count, most - most // 2, replace=False)
            near = [
                np.where(rng.random(most // 2) < 2.0 / 3.0, 0, rng.integers(size, size=most // 2))
                for size in sizes
            ]
            places = np.unique([*far, *np.ravel_multi_index(near, sizes)])
        for place in places:
            at = np.unravel_index(place, sizes)
            values = [held[i] for held, i in zip(grid.values(), at, strict=True)]
            tables = ["texts"] if estimator == "TextClassifier" else TABLES
            table, labels, state = (
                str(rng.choice(kinds)) for kinds in (tables, list(LABELS), STATES)
            )
            yield Cell(estimator, tuple(zip(grid, values, strict=True)), table, labels, state)


def rows_of(table: str, size: int, classes: int, rng: Generator) -> tuple[Any, Any]:
    """Return rows of a kind, and the places of their labels; every class has several."""
    codes = np.concatenate([np.arange(classes).repeat(4), rng.integers(classes, size=size)])
    if table == "texts":
        words = np.array(["free", "lunch", "at", "ONE", "ünï", "pills", "$$$", "see"])
        return [" ".join(rng.choice(words, size=rng.integers(5))) for _ in codes], codes
    if table == "phrases":
        words = np.array(["free", "lunch", "at", "see"])
        cells = [[" ".join(rng.choice(words, size=3)) for _ in range(3)] for _ in codes]
        return np.array(cells, dtype=object), codes
    if table in ("counts", "sparse"):
        x = rng.poisson(1.0 + codes[:, np.newaxis] * [0.5, 0.1, 1.0]).astype(float)
        return (csr_array(x) if table == "sparse" else x), codes
    if table == "truths":
        return (rng.random((len(codes), 3)) < 0.3 + 0.2 * (codes % 3)[:, np.newaxis]) * 1.0, codes
    if table == "frame":
        return pd.DataFrame(
            {
                "age": rng.normal(size=len(codes)) + codes,
                "colour": rng.choice(["red", "blue", "grün"], size=len(codes)),
                "calls": rng.poisson(1.0 + codes),
            }
        ), codes
    x = np.abs(rng.normal(size=(len(codes), 3))) + 0.5 * codes[:, np.newaxis]
    if table == "gaps":
        x[4 * classes :][rng.random((size, 3)) < 0.2] = np.nan
    return x, codes


def labelled(labels: str, codes: Any) -> Any:
    """Return labels of a kind: as an array where NumPy has a type for them, else as a list."""
    held = LABELS[labels]
    if isinstance(held[0], np.generic):
        return np.array(held)[codes]
    return [held[code] for code in codes]


def adds_up(model: Any) -> bool:
    """Whether models of its kind can be added."""
    kind = getattr(model, "learner_kind", None)
    return hasattr(model, "__add__") and (kind is None or kind.adds_up)


def learned(cell: Cell, rng: Generator) -> tuple[Any, Any, Any] | None:
    """Return an estimator in the state of a cell, with rows and labels; None where it refuses."""
    classes = len(LABELS[cell.labels])
    X, codes = rows_of(cell.table, 20, classes, rng)
    y = labelled(cell.labels, codes)
    settings = dict(cell.settings)
    if settings.get("priors") == GIVEN:
        kinds = list(dict.fromkeys(np.array(y).tolist() if isinstance(y, np.ndarray) else y))
        settings["priors"] = dict.fromkeys(kinds, 1.0 / classes)
    if settings.get("start") == GIVEN:
        settings["start"] = codes
    made = lambda: getattr(suffice, cell.estimator)(**settings)  # noqa: E731
    if settings.get("unlabelled", "ignore") != "ignore" and isinstance(y, list):
        y = [None if i % 5 == 4 and i > 4 * classes else label for i, label in enumerate(y)]
    half = len(codes) // 2
    first, second = _cut(X, y, slice(0, half)), _cut(X, y, slice(half, None))
    try:
        model = made()
        if cell.state == "weighted":
            model.fit(X, y, sample_weight=rng.integers(1, 4, size=len(codes)) / 2.0)
        elif cell.state == "in batches" and hasattr(model, "partial_fit"):
            model.partial_fit(*first).partial_fit(*second)
        elif cell.state == "merged" and adds_up(model):
            model = model.fit(*first) + made().partial_fit(*second)
        elif cell.state == "forgotten" and hasattr(model, "forget"):
            model.fit(X, y).forget(*_cut(X, y, slice(half, half + 5)))
        elif cell.state == "faded away" and hasattr(model, "forget"):
            model.fit(X, y).forget(*second).partial_fit(*second)
        else:
            model.fit(X, y)
    except SufficeError:
        return None  # these rows, labels or settings do not belong together
    return model, X, y


def _cut(X: Any, y: Any, rows: slice) -> tuple[Any, Any]:
    return (X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]), y[rows]


def settings_of(model: Any) -> dict[str, Any]:
    """Return the settings that a file keeps: of a mixture what was chosen, and not its start."""
    found: dict[str, Any] = model.get_params()
    if isinstance(model, suffice.GaussianMixture):
        del found["start"]
        chosen = {"components": model.components_, "covariance": model.covariance_form_}
        found |= {n: chosen[n] for n in chosen if not isinstance(found[n], str | int)}
        found |= {n: getattr(model, n) for n in ("history_", "trials_", "converged_")}
    if isinstance(model, suffice.LatentClasses):
        del found["start"]
        if not isinstance(found["components"], str | int):
            found["components"] = model.components_
        found |= {n: getattr(model, n) for n in ("history_", "converged_", "n_parameters_")}
    return found


QUESTIONS = (
    "predict", "predict_proba", "predict_log_proba", "decision_function", "log_joint",
    "log_density", "score_samples", "uncertainty", "bic", "icl", "mahalanobis", "typicality",
)  # fmt: skip


def answers(model: Any, X: Any, y: Any, *, rows: bool = True) -> dict[str, Any]:
    """Return everything that a model says about rows; what it refuses, by its refusal."""
    found: dict[str, Any] = {"classes": getattr(model, "classes_", None)}
    found |= settings_of(model)
    questions = QUESTIONS if rows else QUESTIONS[:-2]
    few = _cut(X, y, slice(0, 2))[0]  # typicality may be simulated, row by row
    asked = [(name, (few if name == "typicality" else X,)) for name in questions]
    asked += [("leave_one_out", (X, y))] if rows else []
    for name, given in asked:
        ask = getattr(model, name, None)
        if ask is None:
            continue
        try:
            found[name] = ask(*given)
        except SufficeError as error:
            found[name] = str(error)
    return found


def differences(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """Return which answers are not the same, bit for bit."""
    return [name for name, value in ours.items() if not _same(value, theirs.get(name))]


def _same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, np.ndarray):
        if ours.dtype == object:
            return isinstance(theirs, np.ndarray) and ours.tolist() == theirs.tolist()
        same = isinstance(theirs, np.ndarray) and ours.dtype == theirs.dtype
        return same and np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f")
    if hasattr(ours, "__dataclass_fields__"):
        return all(
            _same(getattr(ours, name), getattr(theirs, name, None))
            for name in ours.__dataclass_fields__
        )
    return bool(ours == theirs)


def round_trip(cell: Cell, place: Path, rng: Generator) -> str | None:
    """Return what went wrong with a cell of the matrix, nothing if all is well, None if refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = learned(cell, rng)
        if found is None:
            return None
        model, X, y = found
        try:
            return _compared(model, X, y, place)
        except Exception as error:  # noqa: BLE001  a file we wrote has to be read
            return f"{type(error).__name__}: {error}"


def _compared(model: Any, X: Any, y: Any, place: Path) -> str:
    model.save(place)
    back = suffice.load(place)
    wrong = differences(answers(model, X, y), answers(back, X, y))
    if wrong:
        return f"other answers: {wrong}"
    stored = read_model(place)
    noisy = getattr(model, "noise", False)  # rows of no class: the stored model has no posterior
    if hasattr(model, "predict_proba") and not hasattr(X, "indptr") and not noisy:
        table = X if isinstance(X, list) else read_table(X)
        notes = getattr(getattr(back, "learned_", None), "notes", None)
        if notes is not None and notes.filled is not None:  # blanks are filled before it is asked
            table = filled_table(notes.filled, table)
        if not isinstance(table, list):
            said = stored_posterior(stored, table)
            if not np.array_equal(said, back.predict_proba(X), equal_nan=True):
                return "the stored model has other posteriors"
    if isinstance(model, suffice.GaussianMixture):  # its file has no statistics
        return ""
    if isinstance(model, suffice.Pool):  # it answers from its rows
        return _changed(model, back, X, y)
    model.save(place, statistics=False)
    alone = suffice.load(place)
    ours, theirs = (answers(one, X, y, rows=False) for one in (model, alone))
    wrong = differences(ours, theirs)
    if wrong:
        return f"other answers without statistics: {wrong}"
    return _changed(model, back, X, y)


def _changed(model: Any, back: Any, X: Any, y: Any) -> str:
    """Return where a model and what came back differ after learning, forgetting and merging."""
    more = _cut(X, y, slice(3, 9))
    for what in ("partial_fit", "forget", "+"):
        if not (adds_up(model) if what == "+" else hasattr(model, what)):
            continue
        told = []
        for one in (model, back):
            try:
                done = one + one if what == "+" else getattr(one, what)(*more)
                told.append(answers(done, X, y, rows=False))
            except SufficeError as error:
                told.append({"refused": str(error)})
        wrong = differences(*told)
        if wrong:
            return f"other answers after {what}: {wrong}"
    return ""
