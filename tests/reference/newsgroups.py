"""McCallum and Nigam (1998) on 20 Newsgroups: event models as the vocabulary grows.

The property, defined before any curve was seen. Words are ordered by their average mutual
information with the class, I(class; word is there), on the training part; sizes are `SIZES` and
the whole vocabulary of the training part. With a(V) the accuracy on the test part:

1. Bernoulli's falls: max over V of a(V), minus a(all), is more than two standard errors.
2. The multinomial's does not: the same difference is at most two standard errors.

On one split the standard error is that of a paired difference, over test documents. Over several
random splits the maximum is that of the mean curve, and the standard error is that of the mean of
the splits' differences. Taking a maximum makes 1 easier and 2 harder. Two weaker statements were
set down as well: that the multinomial falls by less than Bernoulli (by more than two standard
errors of the difference), and what share of the errors it saves, on average over all sizes.

Measured: 1 and the weaker ones hold; 2 does not, for the last step, from 50,000 words to all
of them. Most of what is added there are words that the training part has once. Without those
(`least=2`, tried after that was seen) both hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.reference.data_sets import FOLDER
from tests.reference.event_models import (
    BERNOULLI,
    COMPLEMENT,
    MULTINOMIAL,
    documents_with,
    information,
    learner,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    BoolArray = NDArray[np.bool_]

ARCHIVE = FOLDER / "data" / "text" / "20news_bydate" / "20news_bydate.tar.xz"
SIZES = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
MODELS = (BERNOULLI, MULTINOMIAL)
WHOLE_VOCABULARY = {BERNOULLI: 0.6306, MULTINOMIAL: 0.7727, COMPLEMENT: 0.8267}
"""Accuracy of scikit-learn with all words, official split."""

TEST_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Posts:
    """Word counts of all posts, columns in the order of the words, and the official split."""

    counts: csr_array
    groups: NDArray[np.str_]
    training: BoolArray


@dataclass(frozen=True, slots=True)
class Curve:
    """Which test documents were put right, by model: one row for each size of vocabulary."""

    sizes: tuple[int, ...]
    right: dict[str, BoolArray]

    def accuracy(self, name: str) -> NDArray[np.float64]:
        """Return the share put right at each size."""
        return np.asarray(self.right[name].mean(axis=1))

    def fallen(self, name: str) -> NDArray[np.float64]:
        """Return for each test document: right at the best size, minus right with all words."""
        rows = self.right[name].astype(np.float64)
        return np.asarray(rows[self.right[name].sum(axis=1).argmax()] - rows[-1])


@cache
def posts() -> Posts:
    """Return all posts, headers included, as counts of lower-cased words of two letters or more."""
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import CountVectorizer

    found = sorted(texts(ARCHIVE))
    counts = csr_array(CountVectorizer().fit_transform([text for _, text in found]))
    counts.sort_indices()  # once, rather than in every fit
    return Posts(
        counts,
        np.array([path[1] for path, _ in found]),
        np.array([path[0].endswith("train") for path, _ in found]),
    )


def random_split(seed: int) -> BoolArray:
    """Return which posts are learned from, four fifths of all, drawn without regard to groups."""
    n = len(posts().groups)
    training = np.ones(n, dtype=np.bool_)
    training[np.random.default_rng(seed).permutation(n)[: round(TEST_SHARE * n)]] = False
    return training


def curve(
    training: BoolArray,
    sizes: Sequence[int] = SIZES,
    *,
    models: Sequence[str] = MODELS,
    least: int = 1,
    make: Callable[[str], Any] = learner,
) -> Curve:
    """Return what each model gets right with the most informative words, and with all of them.

    Words that occur fewer than `least` times in the training part are no words at all; those that
    are equally informative come in alphabetical order.
    """
    counts, groups = posts().counts, posts().groups
    having, documents = documents_with(counts[training], groups[training])
    order = np.argsort(-information(having, documents), kind="stable")
    order = order[counts[training].sum(axis=0)[order] >= least]
    every = (*(size for size in sizes if size < len(order)), len(order))
    right: dict[str, list[BoolArray]] = {name: [] for name in models}
    for size in every:
        kept = counts[:, np.sort(order[:size])].astype(np.float64)
        for name in models:
            model = make(name).fit(kept[training], groups[training])
            right[name].append(model.predict(kept[~training]) == groups[~training])
    return Curve(every, {name: np.array(rows) for name, rows in right.items()})


def mean_and_error(differences: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean of independent differences and its standard error."""
    spread = differences.std(ddof=1) / np.sqrt(len(differences))
    return float(differences.mean()), float(spread)


def fallen_over_splits(curves: Sequence[Curve], name: str) -> NDArray[np.float64]:
    """Return for each split: accuracy at the size that is best on average, minus with all words."""
    accuracies = np.array([found.accuracy(name) for found in curves])
    best = accuracies.mean(axis=0).argmax()
    return np.asarray(accuracies[:, best] - accuracies[:, -1])
