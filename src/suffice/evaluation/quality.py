"""How good one model is on rows that it has not seen, in a few figures and one line of words."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.evaluation.metrics import CLIP, log_losses

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.evaluation.labelled_rows import LabelledRows
    from suffice.evaluation.metrics import FoldScores
    from suffice.evaluation.work_progress import ShowsProgress, TimeLimit
    from suffice.rows import FloatArray

LONGEST_NAME = 40
"""Characters of a class that are shown in a sentence."""
LEAVE_ONE_OUT = "leave-one-out"


@dataclass(frozen=True, slots=True)
class Quality:
    """How good a model is on rows that it has not seen, beside knowing the class shares alone.

    Parameters
    ----------
    accuracy : float
        The share of rows whose class it names.
    log_loss : float or None
        The mean of -log p(own class); None for a model without probabilities.
    commonest : object
        The class that most rows have.
    baseline_accuracy : float
        The share of rows that have it: what always saying it gets right.
    baseline_log_loss : float
        The log-loss of the class shares.
    rows : int
        How many rows were judged.
    how : str
        "leave-one-out", how many folds, or "judged by its own folds" for a pool.

    See Also
    --------
    Recommendation : Has one.
    """

    accuracy: float
    log_loss: float | None
    commonest: object
    baseline_accuracy: float
    baseline_log_loss: float
    rows: int
    how: str

    @classmethod
    def of_scores(cls, scores: FoldScores, rows: LabelledRows, how: str | None = None) -> Quality:
        """Return what figures over folds say of a model: their means."""
        loss = None if scores.log_loss is None else float(scores.log_loss.mean())
        return cls(
            float(scores.accuracy.mean()), loss, *baseline(rows.classes, rows.counts),
            len(rows), f"{len(scores.accuracy)} folds" if how is None else how,
        )  # fmt: skip

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values."""
        commonest = self.commonest
        return {
            "accuracy": self.accuracy,
            "log_loss": self.log_loss,
            "commonest": commonest.item() if hasattr(commonest, "item") else commonest,
            "baseline_accuracy": self.baseline_accuracy,
            "baseline_log_loss": self.baseline_log_loss,
            "rows": self.rows,
            "how": self.how,
        }

    def __str__(self) -> str:
        """Return one line for people.

        >>> print(Quality(0.84, 0.412, "benign", 0.627, 0.66, 569, "10 folds"))
        84 % right on rows it has not seen (63 % by always saying "benign"); log-loss 0.41 (0.66)
        """
        name = str(self.commonest)
        name = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
        words = (
            f"{percent(self.accuracy)} right on rows it has not seen "
            f'({percent(self.baseline_accuracy)} by always saying "{name}")'
        )
        if self.log_loss is None:
            return words
        return f"{words}; log-loss {_two_digits(self.log_loss)} ({self.baseline_log_loss:.2f})"


def percent(share: float) -> str:
    """Return a share in whole percent; what is not all is not rounded to it.

    >>> percent(0.844), percent(0.9968), percent(0.99999), percent(1.0)
    ('84 %', '99.6 %', '99.9 %', '100 %')
    """
    if 0.995 <= share < 1.0:
        return f"{min(math.floor(1000.0 * share) / 10.0, 99.9):.1f} %"
    return f"{100.0 * share:.0f} %"


def _two_digits(loss: float) -> str:
    """Return a log-loss with two digits, or one that is smaller with three."""
    if loss >= 0.005:
        return f"{loss:.2f}"
    return f"{loss:.3f}" if loss >= 0.0005 else "below 0.001"


def baseline(classes: NDArray[np.generic], counts: FloatArray) -> tuple[Any, float, float]:
    """Return the commonest class, its share, and the log-loss of the class shares.

    >>> baseline(np.array(["a", "b"]), np.array([3.0, 1.0]))[1:]
    (0.75, 0.5623351446188083)
    """
    shares = counts[counts > 0.0] / counts.sum()
    most = int(counts.argmax())
    return (
        classes[most],
        float(counts[most] / counts.sum()),
        float(-(shares * np.log(shares)).sum()),
    )


def judged_by_leaving_one_out(learned: Any, X: Any, y: NDArray[Any]) -> Quality:
    """Judge what can take single rows out of itself; X and y are those that it learned."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they were said when it was fitted
        found = learned.leave_one_out(X, y)
    losses = log_losses(found.log_posterior, found.codes)
    losses[found.vanished] = -np.log(CLIP)  # all that its class had
    counts = np.bincount(found.codes, minlength=len(learned.classes)).astype(np.float64)
    how = f"{LEAVE_ONE_OUT}, approximate" if found.approximate else LEAVE_ONE_OUT
    return Quality(
        1.0 - found.error, float(losses.mean()), *baseline(learned.classes, counts),
        len(losses), how,
    )  # fmt: skip


def judged_by_folds(
    model: object,
    rows: LabelledRows,
    folds: int,
    seed: int,
    limit: TimeLimit,
    progress: ShowsProgress,
    seconds: float = 0.0,
) -> Quality | None:
    """Judge an estimator, not fitted, on the folds that there is time for; None for no time.

    `seconds` is what a fold is taken to need before one has been tried.
    """
    from suffice.evaluation.cross_validation import judged, trainings
    from suffice.evaluation.merged_folds import stratified_folds

    split = stratified_folds(rows.codes, folds, seed)
    parts = [np.flatnonzero(split == f) for f in range(folds)]
    right, losses, done = [], [], 0
    with progress("judging", lambda: done / folds, "folds") as meter, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        training = None
        for f, places in enumerate(parts):
            if limit.left < seconds:
                break
            begun = time.monotonic()
            training = training or trainings(model, rows, parts)
            held = rows.take(places)
            predicted, log_odds = judged(*training(f), held)
            right.append(float((predicted == held.codes).mean()))
            if log_odds is not None:
                losses.append(float(log_losses(log_odds, held.codes).mean()))
            done += 1
            meter.more(1)
            seconds = time.monotonic() - begun
    if not done:
        return None
    how = f"{folds} folds" if done == folds else f"{done} of {folds} folds"
    return Quality(
        float(np.mean(right)), float(np.mean(losses)) if losses else None,
        *baseline(rows.classes, rows.counts), sum(map(len, parts[:done])), how,
    )  # fmt: skip
