"""Published tables, and what is counted here."""

from __future__ import annotations

import numpy as np

from suffice import GaussianDiscriminant
from tests.reference.data_sets import load

# table, form, divisor: errors on the training part (None: not published) and on the test part.
ERRORS = {
    ("vowel_esl", "shared", "mle"): (167, 257),
    ("vowel_esl", "per-class", "unbiased"): (6, 244),
    ("pima_ripley", "shared", "unbiased"): (None, 67),
    ("pima_ripley", "per-class", "unbiased"): (None, 76),
    ("pima_ripley", "per-class", "mle"): (None, 78),
    ("synth_ripley", "shared", "unbiased"): (None, 108),
    ("synth_ripley", "per-class", "unbiased"): (None, 102),
}
# Elements of Statistical Learning, figure 4.10: errors of 462 by the number of coordinates.
REDUCED_RANK = (0.6991, 0.4913, 0.4957, 0.5108, 0.5152, 0.5541, 0.5541, 0.5563, 0.5519, 0.5563)


def counted(name: str, form: str, divisor: str) -> tuple[int, int]:
    """Return how many rows are wrong: of the training part, and of the test part."""
    table = load(name)
    model = GaussianDiscriminant(form, divisor=divisor).fit(*table.part("train"))
    train, test = (
        int((model.predict(X) != y).sum()) for X, y in (table.part("train"), table.part("test"))
    )
    return train, test


def reduced_rank_errors() -> list[float]:
    """Return test errors of the nearest centroid in the first 1, 2, … coordinates."""
    table = load("vowel_esl")
    X, y = table.part("train")
    new_rows, new_labels = table.part("test")
    model = GaussianDiscriminant().fit(X, y)
    known, new = model.transform(X), model.transform(new_rows)
    centres = np.stack([known[y == label].mean(axis=0) for label in model.classes_])
    errors = []
    for rank in range(1, known.shape[1] + 1):
        gaps = new[:, np.newaxis, :rank] - centres[np.newaxis, :, :rank]
        nearest = np.square(gaps).sum(axis=2).argmin(axis=1)
        errors.append(float(np.mean(model.classes_[nearest] != new_labels)))
    return errors
