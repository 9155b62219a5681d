"""From rows to a mixture: starts, EM, and the choice of number and form by BIC or ICL."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.engines.threads import pinned
from suffice.errors import BadSetting
from suffice.kernels.compilation import part_of
from suffice.models.gaussian.forms import LETTERS, letters_of
from suffice.models.gaussian.forms.estimate import units_notes
from suffice.models.mixture.coordinates import Coordinates, MixtureRows, RemoteRows
from suffice.models.mixture.em import Climb, climb
from suffice.models.mixture.factored.factor_forms import factors_of, form_parameters
from suffice.models.mixture.journey import Journey, Stage, Trial, begin_of
from suffice.models.mixture.law import law_of, sure_logs
from suffice.models.mixture.maximization import ComponentPrior, Maximization
from suffice.models.mixture.starts import Race, Starts, different_rows, started
from suffice.models.notes import Note

if TYPE_CHECKING:
    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.gaussian.model import GenerativeModel
    from suffice.models.mixture.sums import Components
    from suffice.models.mixture.survey import RowSurvey
    from suffice.rows import FloatArray

MOST_COMPONENTS = 9
"""Components that are tried where their number is to be chosen: as in mclust."""
FEW_COLUMNS_FORMS = ("EII", "VII", "EEI", "VEI", "EVI", "VVI")
"""Forms that are tried where there are no more rows than columns: the others have no maximum."""
BEST_STARTS = 2
"""Starts that go on to their maximum, on small tables. A choice."""
MANY_STARTS = 6
"""The same where one number and form is all that is asked for. A choice: on iris, some steps do not
tell yet which start leads to the highest maximum."""
SMALL_TABLE = 50_000
"""Cells up to which more than one start goes on. A choice."""
ROUGHLY = 1e-6
"""Tolerance, per row, on that sample: it is not the maximum that is looked for. A choice."""
WHILE_CHOOSING = 1e-5
"""Tolerance, per row, while numbers and forms are compared: as mclust's."""
CLOSE = 10.0
"""By how much BIC may be worse than the best for a mixture to be climbed to the top before it is
passed over: Kass and Raftery's "very strong" evidence."""
NOISE_SHARE = 0.05
"""Share of the noise that EM begins with. A choice."""


@dataclass(frozen=True)
class MixtureSettings:
    """What a mixture is fitted with; numbers and forms to be tried, one or more of each."""

    components: tuple[int, ...]
    forms: tuple[str, ...]
    log_volume: float | None = None
    prior: bool = False
    criterion: str = "bic"
    tolerance: float = 1e-8
    most_steps: int = 1000
    seed: int = 0


@dataclass(frozen=True, eq=False)
class MixtureFit:
    """A mixture, how it was arrived at, and what else was tried."""

    model: GenerativeModel
    form: str
    noise: float
    log_volume: float
    log_likelihood: float
    weight: float
    parameters: int
    converged: bool
    penalised: bool
    history: tuple[float, ...]
    trials: tuple[Trial, ...]
    notes: tuple[Note, ...] = field(default=())


def fit_mixture(
    rows: MixtureRows | RemoteRows,
    survey: RowSurvey,
    settings: MixtureSettings,
    start: FloatArray | None = None,
    journey: Journey | None = None,
    frame: ClassSummary | None = None,
) -> MixtureFit:
    """Return the mixture of most likelihood; of several numbers and forms that of least BIC.

    In a `frame`, the moments of more rows than these, units and columns are those of all of them:
    mixtures of several classes can be compared.
    """
    heard = Journey() if journey is None else journey
    # Samples are gone through as all rows are: by compiled loops, where these are worth it.
    with pinned(), part_of(rows.size * len(survey.low)):
        return _Search(rows, survey, settings, start, heard, frame).best()


class _Search:
    def __init__(
        self,
        rows: MixtureRows | RemoteRows,
        survey: RowSurvey,
        settings: MixtureSettings,
        start: FloatArray | None,
        journey: Journey,
        frame: ClassSummary | None,
    ) -> None:
        self.rows, self.settings, self.start, self.journey = rows, settings, start, journey
        self.complete, self.sample = survey.complete, survey.sample
        self.summary = survey.summary() if frame is None else frame
        self.weight = self.summary.weight
        if frame is not None:
            assert isinstance(rows, MixtureRows)
            self.weight = rows.weight
        self._coordinates: dict[bool, Coordinates] = {}
        self._starts: dict[bool, Starts] = {}
        self.components = settings.components
        if self.sample.whole and start is None:
            self._know_all_rows()
        small = self.rows.size * len(survey.low) <= SMALL_TABLE
        self._goes_on = BEST_STARTS if small else 1

    def _know_all_rows(self) -> None:
        """Take every row once, by its weight, where all different ones are here."""
        distinct = len(self.sample.rows)
        if self.components[0] > distinct:
            raise BadSetting(
                f"components={self.components[0]}, and {different_rows(distinct)}",
                hint="use no more components than there are different rows",
            )
        self.components = tuple(k for k in self.components if k <= distinct)
        if 2 * distinct < self.rows.size:
            self.rows = MixtureRows(self.sample.rows, self.sample.weights)

    def coordinates(self, form: str) -> Coordinates:
        found = Coordinates.of(self.summary, form, complete=self.complete)
        found = found if found.weight == self.weight else replace(found, weight=self.weight)
        same = bool(np.array_equal(found.scale, np.where(found.active, self.summary.scale, 1.0)))
        return self._coordinates.setdefault(same, found)

    def best(self) -> MixtureFit:
        """Fit everything that is to be tried, and return the best.

        Of several, all are compared when little is left to be gained, and those that are close to
        the best climb to the top.
        """
        tried = list(itertools.product(self.components, self.settings.forms))
        self.journey.planned(len(tried))
        alone = len(tried) == 1
        found = [self._tried(form, k, alone=alone) for k, form in tried]
        kept = [entry for entry in found if entry[1] is not None]
        if kept and not alone:
            room = CLOSE + 20.0 * WHILE_CHOOSING * kept[0][2].coordinates.weight
            least = min(trial.criterion for trial, _, _ in kept)
            for place, (trial, top, maximization) in enumerate(found):
                if top is not None and trial.criterion <= least + room:
                    found[place] = self._nearer(top, maximization, trial)
            kept = [entry for entry in found if entry[1] is not None]
        if not kept:  # every one collapsed, on the last steps perhaps: the smallest, under a prior
            kept = [self._tried(self.settings.forms[0], self.components[0], alone=True)]
        trials = tuple(trial for trial, _, _ in found)
        trial, best, maximization = min(kept, key=lambda entry: entry[0].criterion)
        assert best is not None
        return self._finished(trial, best, maximization, trials)

    def _nearer(
        self, before: Climb, maximization: Maximization, trial: Trial
    ) -> tuple[Trial, Climb | None, Maximization]:
        """Return a mixture that was near its maximum at it; what collapses there has none."""
        stage = self.journey.stage(trial.form, trial.components)
        if stage is not None and stage.climb is before and before.converged:
            return trial, before, maximization
        top = self._to_the_top(maximization, before.components, rough=False)
        tops = [replace(top, history=(*before.history, *top.history[1:]))] if top.sound else []
        if self._goes_on > 1 and self.start is None:
            other = self._climbed(maximization, trial.components, rough=False)
            tops += [] if other is None else [other]
        best = max(tops, key=lambda one: one.objective) if tops else None
        return self._judged(best, maximization, trial.components), best, maximization

    def _tried(self, form: str, k: int, *, alone: bool) -> tuple[Trial, Climb | None, Maximization]:
        """Fit one; where it collapses, under a prior if it is the only one, or else not at all."""
        coordinates = self.coordinates(form)
        prior = ComponentPrior.of(form, k, coordinates)
        stage = self.journey.stage(form, k)
        penalised = self.settings.prior or (stage is not None and stage.penalised)
        maximization = Maximization(form, coordinates, prior if penalised else None)
        if stage is not None and stage.trial is not None and (stage.climb or not alone):
            return stage.trial, stage.climb, maximization
        # Where several starts go on, none of them is followed alone.
        begin = begin_of(stage) if self._goes_on == 1 else None
        top = self._climbed(maximization, k, begin, every=alone, rough=not alone)
        if top is None and alone and maximization.prior is None:
            maximization = Maximization(form, coordinates, prior)
            top = self._climbed(maximization, k, every=alone, rough=not alone)
        if top is None and alone:
            raise BadSetting(
                f"a mixture of {k} components of form {form} collapses on these rows even "
                "under a prior",
                hint="use fewer components",
            )
        return self._judged(top, maximization, k), top, maximization

    def _judged(self, top: Climb | None, maximization: Maximization, k: int) -> Trial:
        """Return the criterion of what was found; NaN where it collapsed."""
        form, coordinates, value = maximization.form, maximization.coordinates, np.nan
        count = form_parameters(form, k, coordinates.width) + (self.settings.log_volume is not None)
        if top is not None:
            value = -2.0 * top.likelihood + count * float(np.log(coordinates.weight))
            if self.settings.criterion == "icl":
                law = law_of(top.components, coordinates, form)
                value -= 2.0 * sure_logs(law, top.components, self.rows)
        trial = Trial(form, k, np.nan if top is None else top.likelihood, count, value)
        self.journey.done(form, k, Stage(top, maximization.prior is not None, trial))
        return trial

    def _climbed(
        self,
        maximization: Maximization,
        k: int,
        begin: Components | None = None,
        *,
        every: bool = False,
        rough: bool,
    ) -> Climb | None:
        """Return the best maximum from all starts; None where every one collapses."""
        noise = 0.0 if self.settings.log_volume is None else NOISE_SHARE
        volume = self._log_volume(maximization.coordinates)
        coordinates, rows = maximization.coordinates, self.rows
        if self.start is not None:
            assert isinstance(rows, MixtureRows)
            begin = started(self.start, rows.rows, rows.weights, maximization, noise, volume)
        if begin is not None:
            if not maximization.is_sound(begin, coordinates.weight):
                return None
            top = self._to_the_top(maximization, begin, rough=rough)
            return top if top.sound else None
        tops = []
        firsts = self._first_climbs(maximization, k, noise, volume, every=every)
        many = 1 if rough else self._goes_on
        for first in firsts[: MANY_STARTS if every and many > 1 else many]:
            nearer = first
            if not self.sample.whole and self.rows.size > 2 * len(self.sample.rows):
                nearer = climb(
                    MixtureRows(self.sample.rows, self.sample.weights),
                    coordinates,
                    maximization,
                    first.components,
                    tolerance=ROUGHLY,
                    most_steps=self.settings.most_steps,
                )
                nearer = nearer if nearer.sound else first
            top = self._to_the_top(maximization, nearer.components, rough=rough)
            if top.sound:
                tops.append(top)
        return max(tops, key=lambda one: one.objective) if tops else None

    def _to_the_top(self, maximization: Maximization, begin: Components, *, rough: bool) -> Climb:
        tolerance = self.settings.tolerance

        def watch(here: Climb) -> None:
            stage = Stage(here, maximization.prior is not None)
            self.journey.step(maximization.form, begin.size, stage)

        found = climb(
            self.rows,
            maximization.coordinates,
            maximization,
            begin,
            tolerance=max(tolerance, WHILE_CHOOSING) if rough else tolerance,
            most_steps=self.settings.most_steps,
            watch=watch,
        )
        if rough and tolerance < WHILE_CHOOSING:
            return replace(found, converged=False)  # there is more to be gained
        return found

    def _log_volume(self, coordinates: Coordinates) -> float:
        """Return the log of the noise's volume in coordinates."""
        if self.settings.log_volume is None:
            return 0.0
        return self.settings.log_volume - float(np.log(coordinates.scale[coordinates.active]).sum())

    def _first_climbs(
        self, maximization: Maximization, k: int, noise: float, volume: float, *, every: bool
    ) -> list[Climb]:
        """Return the best of some steps of EM from every start, under a prior: none collapses."""
        coordinates = maximization.coordinates
        key = self._coordinates.get(True) is coordinates
        if key not in self._starts:
            noisy = self.settings.log_volume is not None
            self._starts[key] = Starts(
                self.sample.rows, coordinates, self.settings.seed, noisy=noisy
            )
        large = self._goes_on == 1
        race = Race(self._starts[key], self.sample.rows, maximization, noise, volume, ROUGHLY)
        return race.run(k, every=every, large=large)

    def _finished(
        self, trial: Trial, top: Climb, maximization: Maximization, trials: tuple[Trial, ...]
    ) -> MixtureFit:
        coordinates = maximization.coordinates
        components = top.components
        if self.start is None:
            # Largest first: the same rows in another order have the same components.
            order = np.lexsort((*components.means.T[::-1], -components.shares.round(9)))
            components = components.in_order(order)
        scale = float(np.log(coordinates.scale[coordinates.active]).sum())
        return MixtureFit(
            law_of(components, coordinates, trial.form),
            trial.form,
            components.noise,
            components.log_volume + scale if components.noise > 0.0 else 0.0,
            top.likelihood,
            coordinates.weight,
            trial.parameters,
            top.converged,
            maximization.prior is not None,
            top.history,
            trials,
            self._notes(trial, maximization),
        )

    def _notes(self, trial: Trial, maximization: Maximization) -> tuple[Note, ...]:
        notes: list[Note] = []
        summary: ClassSummary = self.summary
        if not summary.active.all():
            columns = tuple(int(j) for j in np.flatnonzero(~summary.active))
            notes.append(Note("columns that never vary", "they are left out", columns))
        if maximization.coordinates.trifle.any():
            notes.append(
                Note(
                    "some columns are sums of others",
                    "repeated information counts once, and densities are those of the other "
                    "columns",
                )
            )
        if maximization.prior is not None and not self.settings.prior:
            notes.append(
                Note(
                    f"a component of {trial.components} collapses on nearly equal rows, so the "
                    "likelihood has no maximum",
                    "the prior of Fraley and Raftery (2007) is used instead, and the penalised "
                    "log-likelihood is maximised",
                )
            )
        return (*notes, *units_notes(trial.form, summary))


def forms_to_try(covariance: object, rows: int, width: int) -> tuple[str, ...]:
    """Return which forms a setting means: one, several, or those that rows allow."""
    if isinstance(covariance, str) and covariance == "auto":
        if width == 1:
            return ("EII", "VII")
        return LETTERS if rows > width else FEW_COLUMNS_FORMS
    given = [covariance] if isinstance(covariance, str) else covariance
    if not isinstance(given, list | tuple) or not given:
        given = [covariance]
    found = []
    for one in given:
        form = letters_of(one) if isinstance(one, str) else None
        if form is not None and factors_of(form) is not None:
            found.append(form)
            continue
        if form not in LETTERS:
            raise BadSetting(
                f"covariance={one!r} is not known",
                hint=f'use "auto", or one of {", ".join(LETTERS)}',
            )
        if width == 1:  # all forms of one column are one of two
            form = f"{'V' if 'V' in form else 'E'}II"
        found.append(form)
    return tuple(dict.fromkeys(found))
