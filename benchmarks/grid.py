"""Every estimator that scikit-learn has too, fit and predict, at four sizes and in four kinds.

    python -m benchmarks.grid                     all cells (some minutes), the worst ten at the end
    python -m benchmarks.grid --only logistic     cells whose name contains this text
    python -m benchmarks.grid --repeat 30         more turns of the cells that are below 1x

Ours and the peer take turns in one process, on one BLAS thread; CPU time counts. A cell is the
median ratio theirs / ours: more is better. Both have run once before, and agree about the classes.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Make = Callable[[], Any]

SIZES = ((150, 4, 3), (1_000, 20, 3), (10_000, 20, 5), (100_000, 100, 5))
"""Rows, columns, classes."""
KINDS = ("float64", "float32", "frame", "sparse")
"""What the rows are: arrays, a frame of pandas in which a quarter of the columns are categories, a
CSR matrix in which one cell in ten is there."""
LEAST, FEWEST, MOST = 0.5, 5, 200
"""Seconds that the turns of a cell take together, and how many there are at least and at most."""
WORST = 10
"""Cells that are printed again at the end."""
LEVELS = 6
"""Categories of a column."""


@dataclass(frozen=True)
class Duel:
    """Two models for the same rows, and how much of what they say has to be the same."""

    ours: Make
    theirs: Make
    kinds: tuple[str, ...]
    same: float = 0.99
    largest: int = 10**9
    """Cells of the largest table that is tried: some peers take minutes."""


def duels() -> dict[str, Duel]:
    """Return the pairs by name."""
    from sklearn import discriminant_analysis as da
    from sklearn import linear_model as lm
    from sklearn import mixture
    from sklearn import naive_bayes as nb

    import suffice

    dense, tables = ("float64", "float32"), ("float64", "float32", "frame")
    counts = ("float64", "float32", "sparse")
    return {
        "GDA shared, LDA lsqr": Duel(
            suffice.GaussianDiscriminant,
            partial(da.LinearDiscriminantAnalysis, solver="lsqr"), tables,
        ),
        "GDA shared, LDA svd": Duel(
            suffice.GaussianDiscriminant, da.LinearDiscriminantAnalysis, dense
        ),
        "GDA per-class, QDA": Duel(
            partial(suffice.GaussianDiscriminant, "per-class"),
            da.QuadraticDiscriminantAnalysis, dense, 0.95,
        ),
        "GDA diagonal, GaussianNB": Duel(
            partial(suffice.GaussianDiscriminant, "diagonal"), nb.GaussianNB, dense
        ),
        "NaiveBayes, GaussianNB": Duel(suffice.NaiveBayes, nb.GaussianNB, tables, 0.7),
        "MultinomialNB": Duel(suffice.MultinomialNaiveBayes, nb.MultinomialNB, counts),
        "ComplementNB": Duel(suffice.ComplementNaiveBayes, nb.ComplementNB, counts),
        "BernoulliNB": Duel(
            partial(suffice.BernoulliNaiveBayes, threshold=0.0), nb.BernoulliNB, counts
        ),
        "Logistic, lbfgs": Duel(
            suffice.LogisticRegression, partial(lm.LogisticRegression, max_iter=1000),
            ("float64", "float32", "frame", "sparse"), 0.95, 2_000_000,
        ),
        "Perceptron": Duel(
            suffice.Perceptron, partial(lm.Perceptron, max_iter=5, tol=None), dense, 0.0, 2_000_000
        ),
        "GaussianMixture(3, VVV)": Duel(
            partial(suffice.GaussianMixture, 3, covariance="VVV"),
            partial(mixture.GaussianMixture, 3, random_state=0), dense, 0.0, 200_000,
        ),
    }  # fmt: skip


def rows_of(kind: str, size: int, width: int, classes: int, *, counts: bool) -> tuple[Any, Any]:
    """Return rows and labels, the same at every call."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(size + width)
    y = rng.integers(classes, size=size)
    centres = rng.normal(size=(classes, width))
    if counts or kind == "sparse":
        X = rng.poisson(0.3 * np.exp(0.5 * centres[y])).astype(np.float64)
        if kind == "sparse":
            X[rng.random(X.shape) < 0.6] = 0.0
            return csr_array(X), y
    else:
        X = 1.2 * rng.normal(size=(size, width)) + 0.5 * centres[y]
    if kind != "frame":
        return X.astype(kind), y
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(width)])
    for j in range(width // 4):
        codes = (rng.integers(LEVELS, size=size) + y * (rng.random(size) < 0.3)) % LEVELS
        frame[f"x{j}"] = np.array([f"level {k}" for k in range(LEVELS)], object)[codes]
    return frame, y


def peer_of(make: Make, kind: str, width: int) -> Any:
    """Return scikit-learn's model; categories are coded as its users do it."""
    if kind != "frame":
        return make()
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    coded = OneHotEncoder(handle_unknown="ignore", sparse_output=False, drop="first")
    columns = [f"x{j}" for j in range(width // 4)]
    return make_pipeline(make_column_transformer((coded, columns), remainder="passthrough"), make())


def cells() -> Iterator[tuple[str, Callable[[int], float]]]:
    """Yield the name of each cell, and what measures it."""
    for name, duel in duels().items():
        for kind in duel.kinds:
            for size, width, classes in SIZES:
                if size * width > duel.largest or (kind == "frame" and width > 20):
                    continue
                for what in ("fit", "predict"):
                    told = f"{name}: {what} {size:,}x{width}x{classes} {kind}"
                    yield told, partial(_measured, duel, kind, (size, width, classes), what)


def _measured(duel: Duel, kind: str, size: tuple[int, int, int], what: str, fewest: int) -> float:
    counts = duel.kinds[-1] == "sparse" and "frame" not in duel.kinds
    X, y = rows_of(kind, *size, counts=counts)
    ours, theirs = duel.ours(), peer_of(duel.theirs, kind, size[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about columns of few rows, and searches cut short
        mine, his = ours.fit(X, y).predict(X), theirs.fit(X, y).predict(X)
        agree = float(np.mean(mine == his))
        if agree < duel.same:
            raise AssertionError(f"{agree:.3f} of the answers are the same, not {duel.same}")
        asked = (X, y) if what == "fit" else (X,)
        one, other = getattr(ours, what), getattr(theirs, what)
        ratios, start = [], time.process_time()
        while len(ratios) < fewest or (time.process_time() - start < LEAST and len(ratios) < MOST):
            first = _seconds(one, asked)
            ratios.append(_seconds(other, asked) / first)
    return statistics.median(ratios)


def _seconds(call: Callable[..., object], asked: tuple[Any, ...]) -> float:
    start = time.process_time_ns()
    call(*asked)
    return max(time.process_time_ns() - start, 1) / 1e9


def measure(only: str, repeat: int) -> dict[str, float]:
    """Return the ratio of each cell; those below 1 are measured again."""
    from threadpoolctl import threadpool_limits

    found: dict[str, float] = {}
    threadpool_limits(1)
    for name, measured in cells():
        if only in name:
            found[name] = measured(FEWEST)
            if found[name] < 1.0:
                found[name] = measured(repeat)
            print(f"{found[name]:8.2f}x  {name}", file=sys.stderr, flush=True)
    return found


def main() -> None:
    """Measure, and print the worst cells."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grid", description=__doc__)
    parser.add_argument("--only", default="", help="cells whose name contains this text")
    parser.add_argument("--repeat", type=int, default=30, help="turns of cells below 1x")
    options = parser.parse_args()
    found = measure(options.only, options.repeat)
    below = sum(ratio < 1.0 for ratio in found.values())
    print(f"{len(found)} cells, {below} below 1x, median {statistics.median(found.values()):.1f}x")
    print("\n| the worst cells | scikit-learn / ours |\n|---|---|")
    for name in sorted(found, key=found.__getitem__)[:WORST]:
        print(f"| {name} | {found[name]:.2f}x |")


if __name__ == "__main__":
    main()
