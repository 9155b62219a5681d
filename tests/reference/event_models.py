"""What both studies of words share: the models, archives of texts, and words worth keeping."""

from __future__ import annotations

import tarfile
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

BERNOULLI, MULTINOMIAL, BOOLEAN = "Bernoulli", "multinomial", "Boolean multinomial"
COMPLEMENT = "complement"


def learner(name: str, smoothing: float = 1.0) -> Any:
    """Return our classifier of the event model `name`, not fitted; 1 is Laplace's smoothing."""
    from suffice import BernoulliNaiveBayes, ComplementNaiveBayes, MultinomialNaiveBayes

    if name == BERNOULLI:
        return BernoulliNaiveBayes(smoothing=smoothing)
    if name == COMPLEMENT:
        return ComplementNaiveBayes(smoothing=smoothing)
    return MultinomialNaiveBayes(boolean=name == BOOLEAN, smoothing=smoothing)


def peer(name: str, smoothing: float = 1.0) -> Any:
    """Return scikit-learn's classifier of the same model."""
    from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Binarizer

    if name == BERNOULLI:
        return BernoulliNB(alpha=smoothing)
    if name == COMPLEMENT:
        return ComplementNB(alpha=smoothing)
    model = MultinomialNB(alpha=smoothing)
    return model if name == MULTINOMIAL else make_pipeline(Binarizer(), model)


def texts(archive: Path) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the parts of each file's path in a tar archive, and its text; nothing is unpacked.

    Latin-1 gives every byte a letter: old messages are of many encodings and seldom say which.
    """
    with tarfile.open(archive) as opened:
        for member in opened:
            file = opened.extractfile(member) if member.isfile() else None
            if file is not None:
                yield tuple(member.name.split("/")), file.read().decode("latin-1")


def documents_with(
    counts: csr_array, labels: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how many documents of each class have each word, (k, V), and how many there are."""
    from scipy.sparse import csr_array

    classes, places = np.unique(labels, return_inverse=True)
    present = csr_array((np.ones(counts.nnz), counts.indices, counts.indptr), counts.shape)
    member = np.arange(len(classes))[:, np.newaxis] == places
    return member.astype(np.float64) @ present, member.sum(axis=1, dtype=np.float64)


def information(having: NDArray[np.float64], documents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mutual information, in bits, of the class and a word's being there, (V,).

    I = H(class) - H(class | word is there or not), from the classes' shares in `documents` and
    among those `having` the word: another name for the information gain of the word. Rounded,
    since equal counts must tie whatever the last digit of a logarithm.
    """
    total, lacking = documents.sum(), documents[:, np.newaxis] - having
    inside, outside = having.sum(axis=0), lacking.sum(axis=0)
    gain = (
        _each(having).sum(axis=0)
        - _each(inside)
        + _each(lacking).sum(axis=0)
        - _each(outside)
        - (_each(documents).sum() - _each(total))
    )
    return np.asarray(np.round(gain / (total * np.log(2.0)), 12))


def _each(counts: Any) -> Any:
    """Return n log n, 0 where n is 0."""
    return counts * np.log(np.maximum(counts, 1.0))
