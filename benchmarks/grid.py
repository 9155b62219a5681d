"""Every estimator that scikit-learn has too, fit and predict, at four sizes and in several kinds.

    python -m benchmarks.grid                     all cells (half an hour), the worst at the end
    python -m benchmarks.grid --only Logistic     cells whose name contains this text
    python -m benchmarks.grid --repeat 30         more turns of the cells that are below 1x
    python -m benchmarks.grid --keep grid.json    goes on where it was cut off
    python -m benchmarks.grid --warmed            the cells where `suffice warm` matters, after it

Ours and the peer take turns in one process, on one thread, of BLAS and of ours; CPU time counts.
A cell is the median ratio theirs / ours: more is better. Both have run once before, and agree about
the classes; logistic regressions have the same penalty and are searched to the same gradient.
Nothing is compiled beforehand; what a process compiles itself, it has compiled in that first run.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Make = Callable[[], Any]

SIZES = ((150, 4, 3), (1_000, 20, 3), (10_000, 20, 5), (100_000, 100, 5))
"""Rows, columns, classes."""
DOCUMENTS = (150, 1_000, 10_000)
"""Texts of a cell of vectorizers."""
WORDS = 60
"""Words of a text, about as many as a paragraph has."""
LEAST, FEWEST, MOST = 0.5, 5, 200
"""Seconds that the turns of a cell take together, and how many there are at least and at most."""
WORST = 10
"""Cells that are printed again at the end."""
LEVELS = 6
"""Categories of a column."""
LARGE = 1_000_000
"""Cells from which loops that `suffice warm` has compiled are used."""


@dataclass(frozen=True)
class Duel:
    """Two models for the same rows, and how much of what they say has to be the same."""

    ours: Make
    theirs: Make
    kinds: tuple[str, ...]
    """What the rows are: arrays of numbers, counts or codes; a frame of pandas in which a quarter
    of the columns are categories, or all (levels); a CSR matrix with one cell in ten."""
    same: float = 0.99
    classes: int | None = None
    """Other classes than the sizes say."""
    largest: int = 10**9
    """Cells of the largest table that is tried: some peers take minutes."""


class Cell(NamedTuple):
    """What was measured: the median of theirs / ours, and the least seconds of both."""

    ratio: float
    ours: float
    theirs: float


def duels() -> dict[str, Duel]:
    """Return the pairs by name."""
    from sklearn import discriminant_analysis as da
    from sklearn import linear_model as lm
    from sklearn import mixture
    from sklearn import naive_bayes as nb

    import suffice

    dense, tables = ("float64", "float32"), ("float64", "float32", "frame")
    counts = ("counts float64", "counts float32", "sparse")
    both = (*tables, "sparse")
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
        "NaiveBayes of categories, CategoricalNB": Duel(
            partial(suffice.NaiveBayes, "categorical"), nb.CategoricalNB, ("codes", "levels"), 0.95
        ),
        "Logistic, lbfgs": Duel(
            partial(suffice.LogisticRegression, 1.0),
            partial(lm.LogisticRegression, max_iter=10_000, tol=1e-8),
            both, 0.9, None, 2_000_000,
        ),
        "Logistic of two classes, lbfgs": Duel(
            partial(suffice.LogisticRegression, 1.0),
            partial(lm.LogisticRegression, max_iter=10_000, tol=1e-8),
            both, 0.9, 2, 2_000_000,
        ),
        "Perceptron": Duel(
            partial(suffice.Perceptron, epochs=5, average=False),
            partial(lm.Perceptron, max_iter=5, tol=None), dense, 0.0, None,
            2_000_000,
        ),
        "GaussianMixture(3, VVV)": Duel(
            partial(suffice.GaussianMixture, 3, covariance="VVV"),
            partial(mixture.GaussianMixture, 3, random_state=0), dense, 0.0, None, 200_000,
        ),
    }  # fmt: skip


def rows_of(kind: str, size: int, width: int, classes: int) -> tuple[Any, Any]:
    """Return rows and labels, the same at every call."""
    rng = np.random.default_rng(size + width)
    y = rng.integers(classes, size=size)
    centres = rng.normal(size=(classes, width))
    if kind in ("codes", "levels"):
        codes = _codes(rng, y, width)
        return (codes.astype(np.float64) if kind == "codes" else _framed(codes)), y
    if kind == "sparse" or kind.startswith("counts"):
        X = rng.poisson(0.3 * np.exp(0.5 * centres[y])).astype(np.float64)
        if kind == "sparse":
            from scipy.sparse import csr_array

            X[rng.random(X.shape) < 0.6] = 0.0
            return csr_array(X), y
    else:
        X = 1.2 * rng.normal(size=(size, width)) + 0.5 * centres[y]
    if kind != "frame":
        return X.astype(kind.rsplit(maxsplit=1)[-1]), y
    frame = _framed(_codes(rng, y, width // 4))
    for j in range(width // 4, width):
        frame[f"x{j}"] = X[:, j]
    return frame, y


def _codes(rng: np.random.Generator, y: Any, width: int) -> Any:
    """Return categories as numbers; they say something about the class in three rows of ten."""
    shape = len(y), width
    return (rng.integers(LEVELS, size=shape) + y[:, None] * (rng.random(shape) < 0.3)) % LEVELS


def _framed(codes: Any) -> Any:
    import pandas as pd

    names = np.array([f"level {k}" for k in range(LEVELS)], object)
    return pd.DataFrame({f"x{j}": names[column] for j, column in enumerate(codes.T)})


def peer_of(make: Make, kind: str, width: int) -> Any:
    """Return scikit-learn's model; categories are coded as its users do it."""
    if kind not in ("frame", "levels"):
        return make()
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

    if kind == "levels":
        return make_pipeline(OrdinalEncoder(), make())
    coded = OneHotEncoder(handle_unknown="ignore", sparse_output=False, drop="first")
    columns = [f"x{j}" for j in range(width // 4)]
    return make_pipeline(make_column_transformer((coded, columns), remainder="passthrough"), make())


def cells() -> Iterator[tuple[str, int, Callable[[int], Cell]]]:
    """Yield the name of each cell, how many cells its table has, and what measures it."""
    for name, duel in duels().items():
        for kind in duel.kinds:
            for size, width, few in SIZES:
                if size * width > duel.largest or (kind in ("frame", "levels") and width > 20):
                    continue
                shape = size, width, duel.classes or few
                for what in ("fit", "predict"):
                    told = f"{name}: {what} {size:,}x{width}x{shape[2]} {kind}"
                    yield told, size * width, partial(_model, duel, kind, shape, what)
    for name in ("counts", "shares", "hashes"):
        for size in DOCUMENTS:
            for what in ("fit_transform", "transform"):
                yield f"TextVectorizer, {name}: {what} {size:,} texts", 0, partial(
                    _vectorizer, name, size, what
                )  # fmt: skip


def _model(duel: Duel, kind: str, shape: tuple[int, int, int], what: str, fewest: int) -> Cell:
    X, y = rows_of(kind, *shape)
    ours, theirs = duel.ours(), peer_of(duel.theirs, kind, shape[1])
    mine, his = ours.fit(X, y).predict(X), theirs.fit(X, y).predict(X)
    agree = float(np.mean(mine == his))
    if agree < duel.same:
        raise AssertionError(f"{agree:.3f} of the answers are the same, not {duel.same}")
    asked = (X, y) if what == "fit" else (X,)
    return _in_turns(getattr(ours, what), getattr(theirs, what), asked, fewest)


def _vectorizer(name: str, size: int, what: str, fewest: int) -> Cell:
    from sklearn.feature_extraction import text as peers

    from suffice import TextVectorizer

    wide = 2**20
    ours, theirs = {
        "counts": (TextVectorizer(), peers.CountVectorizer()),
        "shares": (TextVectorizer(weighting="tf-idf"), peers.TfidfVectorizer()),
        "hashes": (TextVectorizer(hashing=wide), peers.HashingVectorizer(n_features=wide)),
    }[name]
    rng = np.random.default_rng(size)
    known = np.array(["".join(chr(97 + k) for k in rng.integers(26, size=n))
                      for n in rng.integers(2, 12, size=20_000)], object)  # fmt: skip
    drawn = np.minimum(rng.zipf(1.3, size=(size, WORDS)), len(known)) - 1
    texts = [" ".join(known[row]) for row in drawn]
    mine, his = ours.fit_transform(texts), theirs.fit_transform(texts)
    if name == "counts" and (mine.shape != his.shape or mine.sum() != his.sum()):
        raise AssertionError("the counts differ")
    return _in_turns(getattr(ours, what), getattr(theirs, what), (texts,), fewest)


def _in_turns(
    ours: Callable[..., object], theirs: Callable[..., object], asked: tuple[Any, ...], fewest: int
) -> Cell:
    mine: list[float] = []
    his: list[float] = []
    while len(mine) < fewest or (sum(mine) + sum(his) < LEAST and len(mine) < MOST):
        mine.append(_seconds(ours, asked))
        his.append(_seconds(theirs, asked))
    ratios = [other / own for own, other in zip(mine, his, strict=True)]
    return Cell(statistics.median(ratios), min(mine), min(his))


def _seconds(call: Callable[..., object], asked: tuple[Any, ...]) -> float:
    start = time.process_time_ns()
    call(*asked)
    return max(time.process_time_ns() - start, 1) / 1e9


def measure(only: str, repeat: int, keep: Path | None, *, warmed: bool) -> dict[str, Cell]:
    """Return what is known of each cell; those below 1 are measured again."""
    from threadpoolctl import threadpool_limits

    known = json.loads(keep.read_text("utf-8")) if keep is not None and keep.exists() else {}
    found = {name: Cell(*row) for name, row in known.items()}
    warnings.simplefilter("ignore")  # about columns of few rows, and searches cut short
    threadpool_limits(1)
    for plain, size, measured in cells():
        name = f"{plain}, warmed" if warmed else plain
        if only not in name or name in found or (warmed and size < LARGE):
            continue
        cell = measured(FEWEST)
        if cell.ratio < 1.0:
            cell = measured(repeat)
        found[name] = cell
        told = f"{cell.ours * 1e3:10.3f} ms, {cell.theirs * 1e3:10.3f} ms  {name}"
        print(f"{cell.ratio:8.2f}x {told}", file=sys.stderr, flush=True)
        if keep is not None:
            rows = {each: list(one) for each, one in found.items()}
            keep.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    return {name: cell for name, cell in found.items() if only in name}


def main() -> None:
    """Measure, and print the worst cells."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grid", description=__doc__)
    parser.add_argument("--only", default="", help="cells whose name contains this text")
    parser.add_argument("--repeat", type=int, default=30, help="turns of cells below 1x")
    parser.add_argument("--keep", type=Path, help="a file of what was measured: it goes on there")
    parser.add_argument(
        "--warmed", action="store_true", help="with compiled loops, where `suffice warm` matters"
    )
    options = parser.parse_args()
    os.environ.setdefault("SUFFICE_THREADS", "1")
    with tempfile.TemporaryDirectory() as nothing:
        if options.warmed:
            os.environ["SUFFICE_COMPILE"] = "always"
        else:
            os.environ["NUMBA_CACHE_DIR"] = nothing
        found = measure(options.only, options.repeat, options.keep, warmed=options.warmed)
    ratios = {name: cell.ratio for name, cell in found.items()}
    below = sum(ratio < 1.0 for ratio in ratios.values())
    print(f"{len(found)} cells, {below} below 1x, median {statistics.median(ratios.values()):.1f}x")
    print("\n| the worst cells | ours | scikit-learn | ratio |\n|---|---|---|---|")
    for name in sorted(ratios, key=ratios.__getitem__)[: max(WORST, below)]:
        one = found[name]
        print(
            f"| {name} | {one.ours * 1e3:.3g} ms | {one.theirs * 1e3:.3g} ms | {one.ratio:.2f}x |"
        )


if __name__ == "__main__":
    main()
