"""Rows without a label: what they are worth, on posts of twenty groups and on tables.

python -m benchmarks.unlabelled texts             Nigam et al. 2000: some labels a group; minutes
python -m benchmarks.unlabelled tables            20 tables, 6 labels a class, 10 draws; minutes
python -m benchmarks.unlabelled tables iris wine  these

Texts: 20 Newsgroups as its authors split it by date. A line has the accuracy on the test part of
multinomial naive Bayes (words of at least 3 posts, α = .1) that ignores posts without a label, that
counts each fully (8 steps of EM) and that chooses ("auto"), on counts of words and on posts scaled
to 100 words, mean of the draws.
Tables: six rows of each class have a label, half of the others (at most 1,000) have none, and the
rest (at most 2,000) are predicted: error and log-loss (probabilities from 1e-6 on).
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.corpora import posts
from benchmarks.small_tables.tables import table
from suffice import MultinomialNaiveBayes, NaiveBayes, TextVectorizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

TABLES = (
    "balance_scale", "banana", "breast_cancer", "bupa", "car", "crabs", "credit_a", "dermatology",
    "iris", "mfeat_morph", "penguins", "pima", "saheart", "segment", "synth_ripley", "twonorm",
    "vote", "waveform_esl", "wdbc", "wine",
)  # fmt: skip
"""Tables with enough rows of every class, numbers and categories among them."""
LABELS = 6
"""Labelled rows of each class of a table."""
DRAWS = 10
"""How often labelled rows of a table are drawn."""
MOST, JUDGED = 1000, 2000
"""Rows of a table without a label, and rows that are predicted, at most."""
EACH = (5, 15, 50, None)
"""Labelled posts of each group; None: all have a label, and there are none without."""
POSTS = 2
"""How often labelled posts are drawn."""
ALPHA = 0.1
"""Smoothing of words. At 1 EM collapses: classes of few words have flat laws, and lose them all."""
CLIP = 1e-6
"""The least probability, for log-losses."""


class Judged(NamedTuple):
    """How wrong a model is about rows that it has not seen."""

    error: float
    loss: float


def judged(model: Any, X: Any, y: NDArray[Any]) -> Judged:
    """Return the share of wrong answers, and the log-loss."""
    found = model.predict_proba(X)
    codes = np.searchsorted(model.classes_.astype(str), y.astype(str))
    own = found[np.arange(len(codes)), codes]
    wrong = float((found.argmax(axis=1) != codes).mean())
    return Judged(wrong, float(-np.log(np.maximum(own, CLIP)).mean()))


def some_labels(y: NDArray[Any], each: int | None, seed: int) -> NDArray[np.intp]:
    """Return places of labelled rows, so many of each class."""
    order = np.random.default_rng(seed).permutation(len(y))
    return np.concatenate([order[y[order] == label][:each] for label in np.unique(y)])


def texts() -> None:
    """Print a line for each number of labels, counts and scaled posts."""
    held = posts()
    y, test = np.array(held.groups, dtype=object), np.array(held.test_groups, dtype=object)
    for length in (100, None):
        vectorizer = TextVectorizer(length=length, min_count=3)
        rows, late = vectorizer.fit_transform(held.training), vectorizer.transform(held.test)
        for each in EACH:
            found: dict[str, list[float]] = {}
            chosen, begun = [], time.process_time()
            for seed in range(1 if each is None else POSTS):
                labelled = some_labels(y, each, seed)
                blank = np.full(len(y), None, dtype=object)
                blank[labelled] = y[labelled]
                for setting in ("ignore", 1.0, "auto"):
                    model = MultinomialNaiveBayes(smoothing=ALPHA, unlabelled=setting)  # type: ignore[arg-type]
                    model.fit(rows, blank)
                    right = 1.0 - judged(model, late, test).error
                    found.setdefault(str(setting), []).append(right)
                    if setting == "auto" and model.unlabelled_ is not None:
                        chosen.append(f"{model.unlabelled_.weight:g}x{model.unlabelled_.steps}")
            shown = "  ".join(f"{name} {np.mean(each_):.3f}" for name, each_ in found.items())
            seconds = time.process_time() - begun
            print(f"length {length}  labels {each}  {shown}  {chosen}  {seconds:.0f} s", flush=True)


def one_table(name: str) -> tuple[Judged, Judged, list[str]]:
    """Return what is found by ignoring rows without a label and by "auto", mean of the draws."""
    X, labels = table(name)
    y = np.asarray(labels).astype(str).astype(object)
    found: dict[str, list[Judged]] = {"ignore": [], "auto": []}
    chosen = []
    for seed in range(DRAWS):
        own = some_labels(y, LABELS, seed)
        rest = np.setdiff1d(np.arange(len(y)), own)
        np.random.default_rng(seed).shuffle(rest)
        half = len(rest) // 2
        late, without = rest[:half][:JUDGED], rest[half:][:MOST]
        blank = y.copy()
        blank[without] = None
        learned = np.concatenate([own, without])
        for setting, results in found.items():
            model = NaiveBayes(unlabelled=setting).fit(X.iloc[learned], blank[learned])
            results.append(judged(model, X.iloc[late], y[late]))
        assert model.unlabelled_ is not None
        chosen.append(f"{model.unlabelled_.weight:g}x{model.unlabelled_.steps}")
    means = [Judged(*np.mean(results, axis=0)) for results in found.values()]
    return means[0], means[1], chosen


def tables(names: Sequence[str]) -> None:
    """Print a line for each table, and how many are better and worse."""
    worse = better = 0
    largest = -1.0
    for name in names:
        begun = time.process_time()
        without, auto, chosen = one_table(name)
        largest = max(largest, auto.error - without.error)
        worse += auto.error > without.error + 0.01
        better += auto.loss < without.loss
        print(
            f"{name:14} error {without.error:.3f} -> {auto.error:.3f}  log-loss "
            f"{without.loss:.3f} -> {auto.loss:.3f}  {' '.join(chosen)}  "
            f"{(time.process_time() - begun) / DRAWS:.1f} s a draw",
            flush=True,
        )
    print(
        f"{len(names)} tables: log-loss lower on {better}, error higher by more than .01 on "
        f"{worse}, at most by {largest:+.3f}"
    )


def main(arguments: Sequence[str]) -> None:
    """Measure what is asked for."""
    warnings.simplefilter("ignore")  # small tables are degenerate in every way
    if "texts" in arguments or not arguments:
        texts()
    if "tables" in arguments or not arguments:
        tables([name for name in arguments if name not in ("texts", "tables")] or TABLES)


if __name__ == "__main__":
    main(sys.argv[1:])
