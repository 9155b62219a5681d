"""From rows to hidden classes: starts, EM, and the choice of their number by BIC or ICL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.engines.threads import pinned
from suffice.errors import BadSetting
from suffice.kernels.compilation import part_of
from suffice.models.latent.coordinates import StatisticsCoordinates
from suffice.models.latent.em import LatentClimb, climb, is_sound, summit
from suffice.models.latent.starts import LatentStarts
from suffice.models.latent.sums import AllRowsAsOne, given_sums
from suffice.statistics import ByClass

if TYPE_CHECKING:
    from suffice.models.latent.em import CollectsRows
    from suffice.models.latent.maximization import HiddenClasses
    from suffice.models.latent.rows import LatentRows
    from suffice.models.naive_bayes.learner import NaiveBayesFit
    from suffice.rows import FloatArray

MOST_CLASSES = 9
"""Classes that are tried where their number is to be chosen: as in mclust."""
FIRST_STEPS = 20
"""Steps of EM from every start, after which the best go on. A choice."""
BEST_STARTS = 3
"""Starts that go on to their maximum, on small tables. A choice."""
BUDGET = 40_000_000
"""Work of all starts together where numbers of classes are compared, in cells times classes times
steps: about a second. No clock is looked at, so that the same rows have the same starts."""
STEP = 50_000
"""What a step costs besides its cells, in the same measure: calls, and the estimate itself."""
FEWEST_STARTS = 4
"""Starts that each number has where the budget would leave fewer: one of every kind, and drawn
shares twice. A choice."""
SMALL_TABLE = 200_000
"""Cells up to which more than one start goes on. A choice."""
SUBSAMPLE = 2000
"""Rows, at least, on which starts are tried, and EM comes near its maximum before it sees all."""
SUBSAMPLE_PER_PARAMETER = 20
"""Rows for each parameter in that sample. A choice."""
NEARLY_ALL = 0.4
"""Share of the rows from which on a sample saves nothing: then all are taken. A choice."""
PASSES = 20
"""Passes over the rows that are made at least: a table of a twentieth of the cells from which a
compiled loop pays is worth one."""
PATIENCE = 3
"""Numbers of classes in a row that are worse than the best before no more are tried. A choice."""
ROUGHLY = 1e-6
"""Tolerance, per row, on that sample: it is not the maximum that is looked for. A choice."""
BACKGROUND = 0.05
"""Share of all rows that is mixed into the classes of a sample before EM sees all: levels that the
sample has not shown are then possible in every class. A choice."""


@dataclass(frozen=True)
class LatentSettings:
    """What hidden classes are searched with; numbers to be tried, one or more."""

    components: tuple[int, ...]
    criterion: str = "bic"
    tolerance: float = 1e-8
    most_steps: int = 2000
    starts: int = 10
    seed: int = 0
    patient: bool = False
    """Whether no more numbers are tried once `PATIENCE` in a row were worse than the best."""


class LatentTrial(NamedTuple):
    """One number of classes; NaN where one lost all its rows."""

    components: int
    log_likelihood: float
    parameters: int
    criterion: float


@dataclass(frozen=True, eq=False)
class LatentFit:
    """Hidden classes, how they were arrived at, and what else was tried.

    statistics  those of every class, rows weighed by p(class | row): what the model is made of
    """

    fit: NaiveBayesFit
    statistics: ByClass[Any]
    log_likelihood: float
    weight: float
    parameters: int
    converged: bool
    history: tuple[float, ...]
    trials: tuple[LatentTrial, ...]


def fit_latent(
    rows: CollectsRows,
    sample: LatentRows,
    hidden: HiddenClasses,
    settings: LatentSettings,
    start: FloatArray | None = None,
) -> LatentFit:
    """Return the classes of most likelihood; of several numbers those of least BIC.

    `sample` are some of the rows, in an order of their own, or all; `start` is p(class | row) of
    them.
    """
    with pinned(), part_of(PASSES * len(sample) * sample.width):
        return _Search(rows, sample, hidden, settings, start).best()


class _Search:
    def __init__(
        self,
        rows: CollectsRows,
        sample: LatentRows,
        hidden: HiddenClasses,
        settings: LatentSettings,
        start: FloatArray | None,
    ) -> None:
        self.rows, self.sample, self.hidden = rows, sample, hidden
        self.settings, self.start = settings, start
        self.whole = rows is sample
        self.compares = start is None and len(settings.components) > 1
        self._starts: LatentStarts | None = None
        self.background = rows.collect(AllRowsAsOne(hidden.product)).statistics

    def best(self) -> LatentFit:
        """Fit everything that is to be tried, and return the best."""
        found: list[tuple[LatentTrial, LatentClimb | None]] = []
        for k in self.settings.components:
            found.append(self._tried(k))
            if self.settings.patient and _is_rising([trial.criterion for trial, _ in found]):
                break
        trials = tuple(trial for trial, _ in found)
        kept = [(trial, top) for trial, top in found if top is not None]
        if not kept and self.compares:
            self.compares = False  # before it is refused, all starts are made
            return self.best()
        if not kept:
            k = self.settings.components[0]
            raise BadSetting(
                f"one of {k} classes loses all its rows, from every start",
                hint="use fewer classes, or more smoothing",
            )
        trial, top = min(kept, key=lambda entry: entry[0].criterion)
        if self.compares:  # what was chosen has all starts
            self.compares = False
            again, higher = self._tried(trial.components)
            room = 2.0 * self.settings.tolerance * top.sums.statistics.weight
            if higher is not None and again.criterion <= trial.criterion + room:
                trials = tuple(again if one is trial else one for one in trials)
                trial, top = again, higher
        order = np.arange(trial.components)
        if self.start is None:  # largest first: rows in another order have the same classes
            order = _order(top)
        statistics = ByClass({c: top.held.groups[int(old)] for c, old in enumerate(order)})
        return LatentFit(
            self.hidden.fit(statistics),
            statistics,
            top.sums.likelihood,
            top.sums.statistics.weight,
            trial.parameters,
            top.converged,
            top.history,
            trials,
        )

    def _tried(self, k: int) -> tuple[LatentTrial, LatentClimb | None]:
        top = self._climbed(k)
        if top is None:
            return LatentTrial(k, np.nan, 0, np.nan), None
        count = self.hidden.parameters(top.fit)
        value = -2.0 * top.sums.likelihood + count * float(np.log(top.sums.statistics.weight))
        if self.settings.criterion == "icl":
            value -= 2.0 * top.sums.sure
        return LatentTrial(k, top.sums.likelihood, count, value), top

    def _climbed(self, k: int) -> LatentClimb | None:
        """Return the best maximum from all starts; None where each loses a class."""
        labels = tuple(range(k))
        if self.start is not None:
            begin = given_sums(self.hidden.product, self.sample, self.start, labels).statistics
            if not is_sound(begin, labels):
                c = next(c for c in labels if not is_sound(begin, (c,)))
                raise BadSetting(
                    f"no row belongs to class {c} of the start", hint="give each of them some rows"
                )
            begins = [begin]
        else:
            begins = self._first_climbs(k)
        tops = [self._climb(begin) for begin in begins]
        sound = [top for top in tops if top.sound]
        if not sound:
            return None
        top = max(sound, key=lambda one: one.objective)
        how = self.settings
        if self.compares:
            return top
        return summit(
            self.rows, self.hidden, top, tolerance=how.tolerance, most_steps=how.most_steps
        )

    def _first_climbs(self, k: int) -> list[ByClass[Any]]:
        """Return the statistics of the best of some steps of EM from every start."""
        labels, hidden, settings = tuple(range(k)), self.hidden, self.settings
        parameters = k * max(1, hidden.parameters(hidden.fit(self.background)))
        some = self.sample.first(max(SUBSAMPLE, SUBSAMPLE_PER_PARAMETER * parameters))
        if len(some) > NEARLY_ALL * len(self.sample):
            some = self.sample
        if self._starts is None or self._starts.size < len(some):
            self._starts = LatentStarts(hidden.product, some, settings.seed)
        held = some.first(self._starts.size)
        everything = self.whole and len(held) == len(self.sample)
        found = []
        for shares in self._starts.shares(k, self._count(k, len(held) * held.width)):
            begin = given_sums(hidden.product, held, shares[: len(held)], labels).statistics
            if not everything:
                begin = self._with_background(begin)
            steps = min(FIRST_STEPS, settings.most_steps)
            found.append(climb(held, hidden, begin, tolerance=ROUGHLY, most_steps=steps))
        sound = sorted((one for one in found if one.sound), key=lambda one: -one.objective)
        if everything:
            cells = len(held) * held.width
            several = cells <= SMALL_TABLE and not self.compares
            return [one.held for one in sound[: BEST_STARTS if several else 1]]
        if sound:
            most = settings.most_steps
            nearer = climb(held, hidden, sound[0].held, tolerance=ROUGHLY, most_steps=most)
            sound = [nearer] if nearer.sound else sound
        return [self._with_background(one.held) for one in sound[:1]]

    def _count(self, k: int, cells: int) -> int:
        """Return how many starts a number of classes has: all, or what its budget allows."""
        given = self.settings.starts
        if not self.compares:
            return given
        each = FIRST_STEPS * (STEP + cells * k)
        allowed = BUDGET // (len(self.settings.components) * each)
        return min(given, max(FEWEST_STARTS, allowed))

    def _with_background(self, statistics: ByClass[Any]) -> ByClass[Any]:
        """Return the classes of a sample with a little of all rows in each."""
        whole = self.background.groups[0]
        groups = {}
        for label, own in statistics.groups.items():
            factor = BACKGROUND * own.weight / whole.weight
            groups[label] = own.scaled(1.0 - BACKGROUND) + whole.scaled(factor)
        return ByClass(groups)

    def _climb(self, begin: ByClass[Any]) -> LatentClimb:
        settings = self.settings
        return climb(
            self.rows,
            self.hidden,
            begin,
            tolerance=settings.tolerance,
            most_steps=settings.most_steps,
        )


def _is_rising(criteria: list[float]) -> bool:
    """Whether the last few were all worse than the best before them."""
    values = [value if np.isfinite(value) else np.inf for value in criteria]
    return len(values) > PATIENCE and min(values[:-PATIENCE]) < min(values[-PATIENCE:])


def _order(top: LatentClimb) -> Any:
    """Return classes by their shares, largest first; of equal ones by what they say."""
    labels = top.held.labels
    flat = (
        StatisticsCoordinates(top.held, top.fit.model.product)
        .coded(top.held)
        .reshape(len(labels), -1)
    )
    return np.lexsort((*flat.T[::-1].round(7), -top.fit.model.weights.round(6)))
