"""Errors over the number of training rows, with bands from repeated splits.

Ng and Jordan (2001) compare naive Bayes and logistic regression so: the generative model often
needs fewer rows to come near its best, and the discriminative one often has the better best.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting, listed
from suffice.evaluation.cross_validation import Preparation, fitted_on, judged, refusal
from suffice.evaluation.merged_folds import MergedParts, as_learner, is_closed_form
from suffice.evaluation.metrics import log_loss
from suffice.evaluation.work_progress import SilentProgress

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.evaluation.cross_validation import Fitted
    from suffice.evaluation.labelled_rows import LabelledRows
    from suffice.evaluation.work_progress import ShowsProgress, TimeLimit
    from suffice.rows import FloatArray, IntArray


STEPS = (6, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 400, 600, 1000, 2000, 4000, 8000)
"""The sizes that are looked at, as far as there are rows."""
MOST_TESTED = 3000
"""Rows that each split is tested on, at most: √(0.25/3000) < 0.01 is then the largest standard
error of a share of errors."""
LARGE, REPEATS_WHEN_LARGE = 1000, 5
"""From this size on a split costs much and varies little."""
FEWEST_IN_TIME = 2
"""Splits that are made whatever the time: one has no spread."""
TRIES = 100
"""Orders of rows that are drawn until the first ones hold every class. A choice: where one in
twenty orders does, all of them fail with a probability below 0.01."""


@dataclass(frozen=True, slots=True, eq=False)
class LearningCurves:
    """Held-out errors (models, sizes, splits), NaN where a split was not made.

    names    the models
    sizes    how many rows each was trained on
    errors   the share of rows that were predicted wrongly
    losses   log-loss; NaN for a model without probabilities
    notes    which models failed, and why; one that failed in every split of a size has no curve
    """

    names: tuple[str, ...]
    sizes: IntArray
    errors: FloatArray
    losses: FloatArray
    notes: tuple[str, ...] = ()

    def place(self, name: str) -> int:
        """Return where a model stands, or refuse a name that is none."""
        if name not in self.names:
            raise BadSetting(
                f"there is no curve of {name!r}", hint=f"there are those of {listed(self.names)}"
            )
        return self.names.index(name)

    def band(
        self, name: str, level: float = 0.95, losses: bool = False
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the mean over splits, and the ends of its interval by Student's t, per size.

        A single split has no interval: both ends are its value.
        """
        from scipy.special import stdtrit

        found = (self.losses if losses else self.errors)[self.place(name)]
        splits = np.isfinite(found).sum(axis=1)
        filled = np.where(np.isfinite(found), found, 0.0)
        with np.errstate(all="ignore"):
            mean = filled.sum(axis=1) / splits
            gaps = np.where(np.isfinite(found), found - mean[:, np.newaxis], 0.0)
            spread = np.sqrt(np.square(gaps).sum(axis=1) / np.maximum(splits - 1.0, 1.0) / splits)
            half = stdtrit(np.maximum(splits - 1, 1), 0.5 + level / 2.0) * spread
        return mean, mean - half, mean + half


def usual_sizes(rows: int, classes: int, most: int = STEPS[-1], at_most: int = 20) -> IntArray:
    """Return sizes from two rows a class up to four fifths of the rows, about evenly in the log.

    >>> usual_sizes(150, 3).tolist()
    [6, 10, 15, 20, 30, 50, 75, 100]
    """
    largest = min(most, int(0.8 * rows))
    found = [m for m in STEPS if 2 * classes <= m <= largest]
    if not found:
        found = [m for m in (classes, 2 * classes) if m <= largest] or [max(2, largest)]
    if len(found) > at_most:
        kept = np.unique(np.linspace(0, len(found) - 1, at_most).round().astype(int))
        found = [found[i] for i in kept]
    return np.array(found, dtype=np.intp)


def learning_curves(
    models: Mapping[str, object],
    rows: LabelledRows,
    *,
    sizes: Sequence[int] | IntArray | None = None,
    repeats: int = 25,
    random_state: int = 0,
    most_tested: int = MOST_TESTED,
    limit: TimeLimit | None = None,
    progress: ShowsProgress = SilentProgress,
) -> LearningCurves:
    """Train on m rows and test on others, for every size m and many random splits.

    Each split is one random order of the rows: training rows are its first m, so that larger
    training sets contain the smaller ones, and closed-form models are running sums; test rows are
    among those that follow. Every class is in the smallest training set. Of 1,000 rows or
    more there are five splits.

    Parameters
    ----------
    models : mapping of str to object
        Estimators or learners by name, not fitted.
    rows : LabelledRows
        Rows with labels.
    sizes : sequence of int or ndarray of int or None, default=None
        Numbers of training rows; None chooses them.
    repeats : int, default=25
        How many random splits.
    random_state : int, default=0
        The seed of the splits.
    most_tested : int, default=MOST_TESTED
        The most test rows of a split.
    limit : TimeLimit or None, default=None
        A time limit: when it is reached no other split is begun, once there are two.
    progress : callable, optional
        Called when some work begins.

    Returns
    -------
    LearningCurves
        Held-out errors and log-losses of every model, size and split.

    See Also
    --------
    crossing : Where two of the curves cross.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianDiscriminant
    >>> from suffice.evaluation import LabelledRows
    >>> rows = LabelledRows.read(*load_iris(return_X_y=True))
    >>> found = learning_curves({"GDA": GaussianDiscriminant()}, rows, sizes=[20, 100], repeats=5)
    >>> found.errors.shape, bool(found.errors[0, 1].mean() < found.errors[0, 0].mean())
    ((1, 2, 5), True)
    """
    n, k = len(rows), len(rows.classes)
    steps = usual_sizes(n, k) if sizes is None else np.asarray(sizes, dtype=np.intp)
    if not len(steps) or (np.diff(steps) <= 0).any() or steps[0] < k or steps[-1] >= n:
        raise BadSetting(
            f"sizes {listed(steps)} cannot be trained on: there are {n} rows of {k} classes",
            hint=f"rising sizes from {k} to {n - 1}",
        )
    shape = (len(models), len(steps), repeats)
    errors, losses = np.full(shape, np.nan), np.full(shape, np.nan)
    failed: dict[tuple[int, int], list[Exception]] = {}
    notes = []
    with progress("learning curves", lambda: meter.rows / repeats, "splits") as meter:
        for r in range(repeats):
            rng = np.random.default_rng([random_state, r])
            made = steps if r < REPEATS_WHEN_LARGE else steps[steps < LARGE]
            if not len(made):
                break
            if limit is not None and limit.reached and r >= FEWEST_IN_TIME:
                notes.append(f"Learning curves have {r} splits: {limit} was reached")
                errors, losses = errors[:, :, :r], losses[:, :, :r]
                break
            order = _drawn(rows.codes, int(steps[0]), k, rng)
            tests = [order[m : m + most_tested] for m in made]
            for i, model in enumerate(models.values()):
                for s, told in enumerate(_judgements(model, rows, order, made, tests)):
                    if isinstance(told, Exception):
                        failed.setdefault((i, s), []).append(told)
                    else:
                        errors[i, s, r], losses[i, s, r] = told
            meter.more(1)
    return _without_failures(models, steps, errors, losses, failed, notes)


def _without_failures(
    models: Mapping[str, object],
    sizes: IntArray,
    errors: FloatArray,
    losses: FloatArray,
    failed: dict[tuple[int, int], list[Exception]],
    said: Sequence[str] = (),
) -> LearningCurves:
    """Return the curves that there are, and say which are not, or not whole, and why."""
    known: NDArray[np.bool_] = np.array([np.isfinite(one).any(axis=1).all() for one in errors])
    notes = list(said)
    for i, name in enumerate(models):
        places = [(s, found) for (j, s), found in failed.items() if j == i]
        if not places:
            continue
        s, found = max(places, key=lambda one: len(one[1]))
        splits = len(found) + int(np.isfinite(errors[i, s]).sum())
        lost = "" if known[i] else f"{name} has no learning curve. "
        notes.append(
            f"{lost}{name}, trained on {sizes[s]:,} rows, could not be evaluated in {len(found)} "
            f"of "
            f"{splits} splits: {refusal(found[0])}"
        )
    if not known.any():
        raise BadSetting(notes[-1], hint="compare models that can be trained on few rows")
    names = tuple(name for name, there in zip(models, known, strict=True) if there)
    return LearningCurves(names, sizes, errors[known], losses[known], tuple(notes))


def _drawn(codes: IntArray, first: int, k: int, rng: np.random.Generator) -> IntArray:
    """Return an order of the rows whose first ones hold every class.

    Drawn again while a class is absent. Where a class is so rare that this goes on, one row of
    each class is put in front.
    """
    for _ in range(TRIES):
        order = rng.permutation(len(codes))
        if len(np.unique(codes[order[:first]])) == k:
            return order
    _, front = np.unique(codes[order], return_index=True)
    rest = np.delete(order, front)
    head = np.concatenate([order[front], rest[: first - k]])
    return np.concatenate([rng.permutation(head), rest[first - k :]])


def _judgements(
    model: object, rows: LabelledRows, order: IntArray, sizes: IntArray, tests: list[IntArray]
) -> list[tuple[float, float] | Exception]:
    """Return share of errors and log-loss after training on the first rows of an order.

    One for each size; where the model fails, why it does.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few rows are degenerate, and that is the point
        found: list[tuple[float, float] | Exception] = []
        try:
            training = _growing(model, rows, order, sizes)
        except Exception as error:  # noqa: BLE001 - other models have their curves still
            found = [error] * len(sizes)
        else:
            for s, places in enumerate(tests):
                try:
                    found.append(_lost(*training(s), rows.take(places)))
                except Exception as error:  # noqa: BLE001 - likewise, and other sizes
                    found.append(error)
    return found


def _growing(
    model: Any, rows: LabelledRows, order: IntArray, sizes: IntArray
) -> Callable[[int], Fitted]:
    """Return what fits a model on the first rows of an order, by the place of their number."""
    model = as_learner(model)
    if is_closed_form(model):
        known = rows.take(order[: sizes[-1]])
        parts = np.split(np.arange(sizes[-1]), sizes[:-1])
        merged = MergedParts.running(model, known, parts)
        return lambda s: (merged.fitted(s), Preparation())
    return lambda s: fitted_on(model, rows.take(order[: sizes[s]]))


def _lost(model: object, preparation: Preparation, held: LabelledRows) -> tuple[float, float]:
    """Return the share of errors and the log-loss on held-out rows."""
    predicted, log_posterior = judged(model, preparation, held)
    wrong = float(np.average(predicted != held.codes, weights=held.weights))
    if log_posterior is None:
        return wrong, float("nan")
    return wrong, log_loss(log_posterior, held.codes, held.weights)


DRAWS = 2000
"""Draws of the bootstrap: 50 lie beyond each end of a band of 95 %."""
SEED = 2001
"""Any number: the same curves have the same band."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """From how many training rows on `second` errs no more than `first`, among the sizes tried.

    size        the first size from which it stays so; None: not by the largest size
    low, high   ends of the band, None for beyond the largest size; `smallest` and `largest`
                are the sizes between which anything can be said
    never       the share of resampled splits in which it does not come about by the largest size
    level       of the band

    The band is made by drawing splits with repetition. It tells what other splits of *these* rows
    would say; other rows may say something else.
    """

    first: str
    second: str
    size: int | None
    low: int | None
    high: int | None
    never: float
    smallest: int
    largest: int
    level: float = 0.95

    def __str__(self) -> str:
        """Return it in words that claim no more."""
        low, high = self._said(self.low), self._said(self.high)
        within = low if low == high else f"{low} to {high}"
        band = f"{100.0 * self.level:.0f} % band of the crossing, over splits: {within} rows"
        if self.size is None:
            still = f"{self.second} still has a higher error than {self.first}"
            return f"With {self.largest:,} rows {still}; {band}."
        start = f"from about {self.size:,} rows on"
        if self.size == self.smallest:
            start = f"already with {self.smallest:,} rows, the smallest size tried"
        text = f"{self.second} has no higher error than {self.first} {start}; {band}."
        return text[0].upper() + text[1:]

    def _said(self, size: int | None) -> str:
        if size is None:
            return f"more than {self.largest:,}"
        return f"{self.smallest:,} or fewer" if size == self.smallest else f"{size:,}"


def crossing(curves: LearningCurves, first: str, second: str, level: float = 0.95) -> Crossing:
    """Return from which size on the mean error of `second` stays at or below that of `first`.

    The band is by the bootstrap over splits; sizes between those tried are not interpolated.

    Parameters
    ----------
    curves : LearningCurves
        Learning curves of both models.
    first, second : str
        Two models.
    level : float, default=0.95
        The level of the band.

    Returns
    -------
    Crossing
        The size, with its band.

    See Also
    --------
    learning_curves : Makes the curves.

    Examples
    --------
    >>> errors = np.array([[[0.3, 0.3], [0.1, 0.2]], [[0.4, 0.3], [0.1, 0.1]]])
    >>> curves = LearningCurves(("GDA", "logistic"), np.array([20, 100]), errors, errors)
    >>> crossing(curves, "GDA", "logistic").size
    100
    """
    a, b = curves.errors[curves.place(first)], curves.errors[curves.place(second)]
    # Splits that one of the two has failed in say nothing of either.
    gaps = [row[np.isfinite(row)] for row in a - b]
    known = [place for place, row in enumerate(gaps) if len(row)]
    if not known:
        raise BadSetting(
            f"no split has errors of both {first} and {second}",
            hint="ask for more splits, or compare other models",
        )
    sizes = [int(curves.sizes[place]) for place in known]
    gaps = [gaps[place] for place in known]
    place = _place(np.array([row.mean() for row in gaps]))
    # One draw of splits for all sizes: training sets of one split hold each other.
    drawn = np.random.default_rng(SEED).random((DRAWS, curves.errors.shape[2]))
    means = np.stack(
        [row[(drawn[:, : len(row)] * len(row)).astype(np.intp)].mean(axis=1) for row in gaps],
        axis=1,
    )
    places: IntArray = np.array([_place(mean) for mean in means])
    half = (1.0 - level) / 2.0
    low, high = (int(np.quantile(places, q, method="inverted_cdf")) for q in (half, 1.0 - half))

    def size(at: int) -> int | None:
        return sizes[at] if at < len(sizes) else None

    never = float((places == len(sizes)).mean())
    return Crossing(
        first, second, size(place), size(low), size(high), never, sizes[0], sizes[-1], level
    )


def _place(gaps: FloatArray) -> int:
    """Return from which place on no gap is negative; the number of gaps, if the last one is."""
    behind = np.flatnonzero(gaps < 0.0)
    return int(behind[-1]) + 1 if len(behind) else 0
