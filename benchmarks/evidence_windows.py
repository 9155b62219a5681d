"""Windows that slide for ever: a row is learned, one is forgotten, a million times.

Rows are kept as statistics of single rows, so that a pair costs one merge and one subtraction, and
all kinds of rows stand side by side as columns of one table. The reference is exact: the rows that
are in the window at the end, summed as fractions.

    export SUFFICE_WINDOW_FOLDER=kept SUFFICE_WINDOW_PAIRS=20000
    python -m benchmarks.evidence --only windows

keeps each window in that folder as it slides, so that a later run with more pairs goes on from
there, also after it was stopped; a window that has slid further than asked is judged as it is.
"""

from __future__ import annotations

import os
import pickle
import warnings
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.evidence import Figure
from suffice.models.gaussian.forgetting import REFUSED_LOSS
from suffice.statistics import ByClass, DiagonalMoments, Moments, PooledMoments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suffice.rows import FloatArray

COMMAND = "python -m benchmarks.evidence --only windows"
PAIRS = int(os.environ.get("SUFFICE_WINDOW_PAIRS", "1000000"))
"""Learn/forget pairs of each window; fewer for a first look."""
THROUGH_ESTIMATORS = PAIRS // 50
FOLDER = os.environ.get("SUFFICE_WINDOW_FOLDER", "")
"""Where windows are kept while they slide; nowhere, if this is empty."""
KEPT_EVERY = 10_000
"""Pairs between two times that a window is written: at most a minute is lost."""
WINDOWS = (50, 500, 5_000)
ONE_FIT = "one fit"
BEGINNINGS = ("single rows", ONE_FIT)
PROCESSES = min(2, int(os.environ.get("SUFFICE_WINDOW_PROCESSES", "2")))
CYCLE = 20_011
"""Rows that are drawn; windows slide over them again and again."""


def rows_of(kind: str, rng: np.random.Generator) -> FloatArray:
    """Return the rows (CYCLE, 2) of one kind."""
    normal = rng.normal(size=(CYCLE, 2))
    if kind == "offset 1e8":
        return normal + 1e8
    if kind == "heavy-tailed":
        return np.column_stack([rng.standard_t(2, CYCLE), rng.lognormal(0.0, 2.0, CYCLE)])
    if kind == "rare 0/1":
        return (rng.random((CYCLE, 2)) < [0.02, 0.2]).astype(np.float64)
    return np.resize(normal[:7], (CYCLE, 2)) if kind == "cyclic" else normal


KINDS = ("normal", "offset 1e8", "heavy-tailed", "rare 0/1", "cyclic")


def summaries(form: str, rows: FloatArray) -> Any:
    """Return the function that summarizes rows of a table for a form; row i has class i mod 2."""
    codes = np.arange(len(rows), dtype=np.intp) % 2
    kinds = {"qda": Moments, "diagonal and naive Bayes": DiagonalMoments}

    def of(start: int, stop: int) -> Any:
        own = codes[start:stop]
        if form == "normal":
            return Moments.of(rows[start:stop])
        if form == "gda":
            return PooledMoments.of_classes(rows[start:stop], own, [0, 1])
        return ByClass.of(kinds[form], rows[start:stop], own, [0, 1])

    return of


FORMS = ("diagonal and naive Bayes", "gda", "qda", "normal")
"""The cheapest first, and the one that others are made of last."""


def exact(rows: FloatArray) -> list[Fraction]:
    """Return the scatter of each column, exactly."""
    found = []
    for column in rows.T.tolist():
        cells = [Fraction(cell) for cell in column]
        mean = sum(cells) / len(cells)
        found.append(sum(((cell - mean) ** 2 for cell in cells), Fraction(0)))
    return found


def judged(form: str, state: Any, rows: FloatArray, codes: Any) -> tuple[FloatArray, FloatArray]:
    """Return, for each column, error over S, and bound over max(error, ½εS)."""
    apart = [exact(rows[codes == c]) for c in (0, 1)]
    if form == "normal":
        groups: list[tuple[Any, list[Fraction]]] = [(state, exact(rows))]
    elif form == "gda":
        groups = [(state, [a + b for a, b in zip(*apart, strict=True)])]
    else:
        groups = [(state.groups[c], apart[c]) for c in (0, 1)]
    worst, ratio = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    for group, true in groups:
        scatter = group.scatter
        variances = np.diagonal(scatter) if scatter.ndim == 2 else scatter
        for j, right in enumerate(true):
            error, bound = abs(float(Fraction(float(variances[j])) - right)), float(group.bound[j])
            if error > bound or group.lost[j] > REFUSED_LOSS:
                worst[j] = ratio[j] = np.inf
            elif right:
                worst[j] = max(worst[j], error / float(right))
                ratio[j] = max(ratio[j], bound / max(error, 1.1e-16 * float(right)))
    return worst, ratio


def slid(form: str, window: int, pairs: int, begun: str) -> tuple[int, FloatArray, FloatArray]:
    """Return pairs, error and ratio, by column, of a window begun with one fit or single rows."""
    rng = np.random.default_rng(window)
    rows = np.column_stack([rows_of(kind, rng) for kind in KINDS])
    of = summaries(form, rows)
    place = Path(FOLDER) / f"{form}, {window}, {begun}.pickle" if FOLDER else None
    done, state = 0, None
    if place is not None and place.exists():
        done, state = pickle.loads(place.read_bytes())
    if done < pairs:
        singles = [of(i, i + 1) for i in range(CYCLE)]
        if state is None:
            state = of(0, window) if begun == ONE_FIT else singles[0]
            for single in () if begun == ONE_FIT else singles[1:window]:
                state = state + single
        for i in range(done, pairs):
            state = (state + singles[(i + window) % CYCLE]) - singles[i % CYCLE]
            done = i + 1
            if place is not None and (done % KEPT_EVERY == 0 or done == pairs):
                fresh = place.with_suffix(".new")
                fresh.write_bytes(pickle.dumps((done, state)))
                fresh.replace(place)
    places = np.arange(done, done + window) % CYCLE
    return done, *judged(form, state, rows[places], places % 2)


def estimators() -> Iterator[Figure]:
    """Slide estimators by their own `partial_fit` and `forget`."""
    from suffice import GaussianDiscriminant, NaiveBayes

    made = {
        "gda": lambda: GaussianDiscriminant("shared"),
        "qda": lambda: GaussianDiscriminant("per-class"),
        "diagonal": lambda: GaussianDiscriminant("diagonal"),
        "naive Bayes": lambda: NaiveBayes("gaussian"),
    }
    for name, make in made.items():
        for kind in KINDS:
            rows = rows_of(kind, np.random.default_rng(1))
            y, window = np.arange(CYCLE) % 2, 50
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = make().fit(rows[:window], y[:window])
            for i in range(THROUGH_ESTIMATORS):
                new, old = (i + window) % CYCLE, i % CYCLE
                model.partial_fit(rows[new : new + 1], y[new : new + 1])
                model.forget(rows[old : old + 1], y[old : old + 1])
            yield Figure(
                f"{name}, {kind} rows, window {window}: {THROUGH_ESTIMATORS:,} pairs of "
                "partial_fit and forget without a refusal",
                "none refused",
                "no refusal, no warning",
                True,
                COMMAND,
            )


def figures(given: tuple[str, int, str]) -> list[Figure]:
    """Return the figures of one form and window, for every kind of rows."""
    form, window, begun = given
    pairs, errors, ratios = slid(form, window, PAIRS, begun)
    return [
        Figure(
            f"{form}, {kind} rows, window {window:,} begun with {begun}, {pairs:,} pairs: error of "
            "the variances, and bound over max(error, ½εS)",
            f"{error:.1e}, {ratio:.1f}",
            "1e-9, 1e3; nothing lost",
            bool(error < 1e-9 and ratio < 1e3),
            COMMAND,
        )
        for kind, error, ratio in zip(
            KINDS, errors.reshape(-1, 2).max(axis=1), ratios.reshape(-1, 2).max(axis=1), strict=True
        )
    ]


def measure() -> Iterator[Figure]:
    """Yield error and bound of every form, window and kind of rows, from two processes at most."""
    runs = [(form, window, begun) for window, begun, form in product(WINDOWS, BEGINNINGS, FORMS)]
    runs.sort(key=lambda run: run[0] == FORMS[-1])
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        for found in pool.map(figures, runs):
            yield from found
    yield from estimators()
