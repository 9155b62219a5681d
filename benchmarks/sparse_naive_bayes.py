"""Naive Bayes of sparse word counts against scikit-learn's MultinomialNB and BernoulliNB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.preprocessing import LabelBinarizer

from benchmarks.contest import Contest
from suffice import BernoulliNaiveBayes, MultinomialNaiveBayes
from suffice.engines.uneven_blocks import collect_class_sums, read_sparse_rows, score_rows
from suffice.kernels.sparse.sums import score_table

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENTS, CLASSES = 200_000, 5
TOKENS = {"5e4": (50_000, 83), "1e6": (1_000_000, 78)}
"""Words in the vocabulary, and in a document: about 14 million different ones in all."""


def drawn(width: int, tokens: int) -> tuple[Any, Any]:
    """Return documents as word counts, and their classes.

    Words are as frequent as Zipf's law has it, each somewhat more so in some classes, and numbered
    in no order of frequency, as an alphabet would. Documents differ in length.
    """
    rng = np.random.default_rng(20)
    labels = rng.integers(0, CLASSES, DOCUMENTS)
    words = np.arange(width)
    rng.shuffle(words)
    lengths = rng.poisson(tokens * rng.gamma(4.0, 0.25, DOCUMENTS))
    numbers = np.repeat(np.arange(DOCUMENTS), lengths)
    drawn_words = np.empty(len(numbers), np.int64)
    for c in range(CLASSES):
        steps = np.cumsum(rng.gamma(2.0, 0.5, width) / (np.arange(width) + 2.7))
        here = labels[numbers] == c
        places = np.searchsorted(steps, steps[-1] * rng.uniform(size=int(here.sum())))
        drawn_words[here] = words[np.minimum(places, width - 1)]
    keys = np.sort(numbers * width + drawn_words)
    firsts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    counts = np.diff(firsts, append=len(keys)).astype(float)
    kept = keys[firsts]
    indptr = np.searchsorted(kept, np.arange(DOCUMENTS + 1) * width).astype(np.int32)
    columns = (kept % width).astype(np.int32)
    return sparse.csr_matrix((counts, columns, indptr), shape=(DOCUMENTS, width)), labels


def _same_array(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def _same_codes(ours: Any, theirs: Any) -> None:
    assert (ours == theirs).all()


def loops(size: str, X: Any, y: Any) -> Iterator[Contest]:
    """The two sums everything is made of, as scikit-learn has SciPy do them."""
    weights = np.log(np.random.default_rng(1).uniform(size=(CLASSES, X.shape[1])))
    offsets = np.zeros(CLASSES)

    def their_sums() -> Any:
        return LabelBinarizer().fit_transform(y).astype(float).T @ X

    yield Contest(
        f"sparse sums by class 2e5x{size}",
        lambda: collect_class_sums(read_sparse_rows(X), y, CLASSES)[1],
        {"default": their_sums},
        _same_array,
        repeats=7,
    )
    table = score_table(weights)
    yield Contest(
        f"sparse scores 2e5x{size}",
        lambda: score_rows(read_sparse_rows(X), table, offsets)[0],
        {"default": lambda: X @ weights.T + offsets},
        _same_array,
        repeats=7,
    )


def models(size: str, X: Any, y: Any) -> Iterator[Contest]:
    """Fit, predict and predict_proba of both event models."""
    goals = {
        ("multinomial", "fit"): 3.0,
        ("multinomial", "predict"): 1.5,
        ("Bernoulli", "fit"): 4.0,
        ("Bernoulli", "predict"): 3.4,
    }
    pairs = {
        "multinomial": (MultinomialNaiveBayes, MultinomialNB),
        "Bernoulli": (BernoulliNaiveBayes, BernoulliNB),
    }
    some = X[:1000]
    for name, (own, peer) in pairs.items():
        ours, theirs = own().fit(X, y), peer().fit(X, y)
        _same_array(ours.predict_proba(some), theirs.predict_proba(some))
        few = "under a tenth of its extra memory asked" if name == "Bernoulli" else ""
        yield Contest(
            f"sparse {name} fit 2e5x{size}",
            lambda own=own: own().fit(X, y).predict_proba(some),
            {"default": lambda peer=peer: peer().fit(X, y).predict_proba(some)},
            _same_array,
            None,
            goals[name, "fit"] if size == "5e4" else 1.0,
            repeats=7,
            note=few,
        )
        for method in ("predict", "predict_proba"):
            yield Contest(
                f"sparse {name} {method} 2e5x{size}",
                lambda m=ours, method=method: getattr(m, method)(X),
                {"default": lambda m=theirs, method=method: getattr(m, method)(X)},
                _same_codes if method == "predict" else _same_array,
                None,
                goals.get((name, method)) if size == "5e4" else 1.0,
                repeats=7,
                note=few,
            )


def contests() -> Iterator[Contest]:
    """Yield every row of the table, at fifty thousand words and at a million."""
    for size, (width, tokens) in TOKENS.items():
        X, y = drawn(width, tokens)
        yield from loops(size, X, y)
        yield from models(size, X, y)
