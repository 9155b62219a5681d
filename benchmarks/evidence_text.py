"""Event models of words: 20 Newsgroups as the vocabulary grows, Enron-Spam as mail comes in."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.evidence import Figure
from tests.reference import enron, newsgroups
from tests.reference.event_models import BERNOULLI, MULTINOMIAL, learner, peer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

COMMAND = "python -m benchmarks.evidence --only text"
SPLITS = 5
LITTLE = 0.1
"""Smoothing that is spread over a large vocabulary without outweighing the words that are there."""


def measure() -> Iterator[Figure]:
    """Yield the property of McCallum and Nigam, then the recalls of Metsis et al."""
    official = newsgroups.posts().training
    whole = newsgroups.curve(official, (), models=tuple(newsgroups.WHOLE_VOCABULARY))
    yield from _known(whole)
    parts = {
        "official split": [official],
        f"{SPLITS} random splits": [newsgroups.random_split(seed) for seed in range(SPLITS)],
    }
    # The property was defined for all words, before any result; leaving words out and smoothing
    # less came after, to see what its second half depends on.
    for least, words in ((1, "all words"), (2, "words seen twice or more")):
        for where, splits in parts.items():
            curves = [newsgroups.curve(split, least=least) for split in splits]
            yield from _property(f"{where}, {words}", curves)
    make = partial(learner, smoothing=LITTLE)
    for where, splits in parts.items():
        curves = [newsgroups.curve(split, make=make) for split in splits]
        for name in newsgroups.MODELS:
            yield Figure(
                f"20 Newsgroups, {where}, all words, smoothing {LITTLE}: fall of {name}",
                _fall(curves, name)[0],
                "none: told for comparison",
                True,
                COMMAND,
            )
    yield _same_as_scikit_learn()
    yield from _recalls()


def _known(found: newsgroups.Curve) -> Iterator[Figure]:
    for name, known in newsgroups.WHOLE_VOCABULARY.items():
        accuracy = float(found.accuracy(name)[-1])
        yield Figure(
            f"20 Newsgroups, official split, all {found.sizes[-1]:,} words: accuracy of {name}",
            f"{accuracy:.4f}",
            f"{known:.4f} (scikit-learn)",
            round(accuracy, 4) == known,
            COMMAND,
        )


def _fallen(curves: Sequence[newsgroups.Curve], name: str) -> NDArray[np.float64]:
    """Return differences whose mean is the fall: of documents in one split, or of splits."""
    if len(curves) == 1:
        return curves[0].fallen(name)
    return newsgroups.fallen_over_splits(curves, name)


def _fall(curves: Sequence[newsgroups.Curve], name: str) -> tuple[str, bool]:
    """Return the fall from the best size to all words, in words, and whether it is one."""
    accuracy = np.mean([found.accuracy(name) for found in curves], axis=0)
    best = int(accuracy.argmax())
    at = f"{curves[0].sizes[best]:,}" if best < len(accuracy) - 1 else "all"
    fall, error = newsgroups.mean_and_error(_fallen(curves, name))
    told = (
        f"{accuracy[best]:.1%} with {at}, {accuracy[-1]:.1%} with all: "
        f"{100 * fall:.2f} points ({100 * error:.2f})"
    )
    return told, fall > 2.0 * error


def _property(where: str, curves: Sequence[newsgroups.Curve]) -> Iterator[Figure]:
    for name, falls in ((BERNOULLI, True), (MULTINOMIAL, False)):
        told, fell = _fall(curves, name)
        yield Figure(
            f"20 Newsgroups, {where}: accuracy of {name} {'falls' if falls else 'does not fall'}",
            told,
            f"{'more than' if falls else 'at most'} 2 standard errors",
            fell is falls,
            COMMAND,
        )
    less, error = newsgroups.mean_and_error(
        _fallen(curves, BERNOULLI) - _fallen(curves, MULTINOMIAL)
    )
    yield Figure(
        f"20 Newsgroups, {where}: multinomial falls by less than Bernoulli",
        f"by {100 * less:.2f} points ({100 * error:.2f})",
        "more than 2 standard errors",
        less > 2.0 * error,
        COMMAND,
    )
    wrong = {
        name: 1.0 - np.array([found.accuracy(name) for found in curves])
        for name in newsgroups.MODELS
    }
    saved = 1.0 - wrong[MULTINOMIAL] / wrong[BERNOULLI]
    yield Figure(
        f"20 Newsgroups, {where}: errors that multinomial saves, mean over sizes",
        f"{saved.mean():.1%} ({saved.mean(axis=0).min():.1%} at least)",
        "some at every size; 27 % on average were published",
        bool((saved.mean(axis=0) > 0.0).all()),
        COMMAND,
    )


def _same_as_scikit_learn() -> Figure:
    official = newsgroups.posts().training
    ours, theirs = newsgroups.curve(official), newsgroups.curve(official, make=peer)
    differ = sum(int((ours.right[n] != theirs.right[n]).sum()) for n in newsgroups.MODELS)
    answers = sum(found.size for found in ours.right.values())
    return Figure(
        "20 Newsgroups, official split: right where scikit-learn is right",
        f"{answers - differ:,} of {answers:,} answers, {len(ours.sizes)} sizes, 2 models",
        "all",
        differ == 0,
        COMMAND,
    )


def _recalls() -> Iterator[Figure]:
    found = [enron.recalls(number) for number in enron.SETS]
    again = [enron.recalls(number, backwards=True) for number in enron.SETS]
    theirs = [enron.recalls(number, make=peer) for number in enron.SETS]
    for name in enron.MODELS:
        each, known = _percent(found, name), np.array(enron.REPLICATION[name])
        off = np.abs(each.mean(axis=0) - enron.MEANS[name]).max()
        spam, ham = each.mean(axis=0)
        yield Figure(
            f"Enron-Spam, {name}: recall of spam and ham, mean of six sets",
            f"{spam:.2f} / {ham:.2f} % (sets: " + ", ".join(f"{s:.2f}/{h:.2f}" for s, h in each)
            + f"; a set differs by {np.abs(each - known).max():.2f} at most)",
            "{:.2f} / {:.2f} within {}".format(*enron.MEANS[name], enron.TOLERANCE[name]),
            bool(off <= enron.TOLERANCE[name]),
            COMMAND,
        )  # fmt: skip
    ties = [_percent(again, n) - _percent(found, n) for n in enron.MODELS]
    yield Figure(
        "Enron-Spam: what turning round the order of tied words changes in a recall",
        f"at most {np.abs(ties).max():.2f} points, in a mean of six sets "
        f"{np.abs(np.mean(ties, axis=1)).max():.2f}",
        "none: told for comparison",
        True,
        COMMAND,
    )
    gap = max(float(np.abs(_percent(found, n) - _percent(theirs, n)).max()) for n in enron.MODELS)
    yield Figure(
        "Enron-Spam: largest difference from scikit-learn's recalls",
        f"{gap:.2f} points",
        "0",
        gap == 0.0,
        COMMAND,
    )


def _percent(found: Sequence[dict[str, tuple[float, float]]], name: str) -> NDArray[np.float64]:
    return np.array([recalls[name] for recalls in found])
