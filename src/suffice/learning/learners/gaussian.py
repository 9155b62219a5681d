"""How a Gaussian discriminant learns: rows coded as numbers, moments, and one choice."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from suffice.columns import Columns
from suffice.engines.threads import pinned_for
from suffice.errors import BadSetting, DifferentKinds, listed
from suffice.learning.kept_rows import checked_calibration_rows, within_sample
from suffice.learning.labelled_batch import read_batch
from suffice.learning.learner import Learner, summary_of
from suffice.learning.left_out import StatisticsLeftOut
from suffice.learning.unlabelled.record import IGNORE, checked_unlabelled
from suffice.learning.waiting_rows import MOST_ROWS, moderate
from suffice.linear_algebra import what_doubles_can_solve
from suffice.models.gaussian.family import FORMS, Gaussian
from suffice.models.gaussian.forms import BY_LETTERS, LETTERS, SHARED
from suffice.models.gaussian.learner import Fit, GaussianLearner, log_priors_of
from suffice.statistics.by_pattern import MOST_PATTERNS, ByPattern
from suffice.statistics.row_sample import WithRows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from suffice.learning.labelled_batch import LabelledBatch
    from suffice.learning.learned import Learned
    from suffice.learning.learner import Accepts
    from suffice.learning.learners.gaussian_answers import LearnedDiscriminant
    from suffice.models.gaussian.averages.learner import AveragingLearner
    from suffice.rows import IntArray, Label, Table


TEXTBOOK_NAMES = {"lda": "shared", "qda": "per-class"}
"""What textbooks call two forms of the covariance, and the words for them here."""


@dataclass(frozen=True)
class GaussianClassifierLearner(Learner[Any, Fit]):
    """Learns normal classes; the settings are those of GaussianDiscriminant.

    >>> learner = GaussianClassifierLearner("shared")
    >>> rows = learner.read([[1.0], [2.0], [5.0], [6.0]], list("aabb"))
    >>> learner.learned(rows).predict([[1.4], [5.1]])
    array(['a', 'b'], dtype='<U1')
    """

    covariance: str = "shared"
    pool: float | None = None
    shrink: float | None = None
    shrink_target: str = "diagonal"
    priors: Mapping[Label, float] | None = None
    divisor: str = "mle"
    predictive: float | str | None = None
    prior_rows: float = 0.0
    temperature: float | str | None = None
    average: bool = False
    calibration_rows: int | None = None
    factors: int | str | None = None
    unlabelled: float | str = IGNORE  # type: ignore[misc]

    name: ClassVar[str] = "GaussianDiscriminant"
    choice_hint: ClassVar[str] = "give pool and shrink explicitly to both, then they can be merged"
    later_settings: ClassVar[Mapping[str, object]] = {
        "predictive": None,
        "prior_rows": 0.0,
        "temperature": None,
        "average": False,
        "calibration_rows": None,
        "factors": None,
        "unlabelled": IGNORE,
    }

    def check(self) -> None:
        """Refuse settings that have no meaning."""
        self.of_model()
        if self.calibration_rows is not None:
            checked_calibration_rows(self.calibration_rows)
        if self.unlabelled is not IGNORE:  # the default itself
            checked_unlabelled(self.unlabelled)

    # Rows

    def read(
        self, X: object, y: object, weights: object = None, known: Learned[Any, Fit] | None = None
    ) -> LabelledBatch:
        """Read labelled rows, coded as numbers."""
        coded = partial(self._coded, known)
        return read_batch(X, y, weights, coded, blanks=self.blanks(known))

    def _coded(
        self, known: Learned[Any, Fit] | None, table: Table
    ) -> tuple[Columns, NDArray[np.generic]]:
        """Return the columns of a table, the known ones with its levels, and its rows so coded."""
        if known is None:
            columns = Columns.infer(table)
            apart = getattr(table, "apart", None)
            summed = self.covariance in SHARED
            kept = self.judged_by_rows() or self.calibration_rows
            if apart is not None and summed and not kept:
                return columns, apart  # added up where they lie: there is a kernel for it
            return columns, columns.encode(table, self.name)
        columns = known.columns
        if not (columns.is_plain and table.matrix is not None and table.names is None):
            table = known.as_learned(table)
            with suppress(DifferentKinds):  # encode says what is wrong, in scikit-learn's words
                columns = columns.widened(Columns.infer(table))[0]
        return columns, columns.encode(table, self.name)

    # Statistics

    @property
    def needs_choice(self) -> bool:
        """Whether pool, shrink and target are decided by the rows."""
        return self.covariance == "auto" and not self.average

    def summarize(self, batch: LabelledBatch) -> Any:
        """Return the statistics of one batch, with a sample of its rows where that is kept."""
        learner = self.of_model()
        more = (batch.columns,) if learner.takes_columns else ()  # for hashes
        held = summary_of(learner, batch, *more)
        if self.calibration_rows is None or isinstance(held, WithRows):
            return held
        from suffice.models.gaussian.averages.row_samples import sampled_rows

        found = sampled_rows(batch.rows, batch.columns, batch.codes, batch.labels, batch.weights)
        return WithRows(held, found.cut(self.calibration_rows))

    def keeping(self, *learned: Any) -> LearnedDiscriminant:
        """Return statistics, with what else there is to know of their rows, as what was learned."""
        from suffice.learning.learners.gaussian_answers import LearnedDiscriminant

        return LearnedDiscriminant(self, *learned)

    def check_mergeable(self, left: Learned[object, Fit], right: Learned[object, Fit]) -> None:
        """Refuse to merge where a sample of rows is kept of one, and not of the other."""
        kept = [isinstance(one.statistics, WithRows) for one in (left, right)]
        if kept[0] != kept[1]:
            told = "is kept now and was not" if kept[1] else "is not kept now but was"
            raise BadSetting(
                f"a sample of the rows {told} when the rows before were read: other statistics "
                "were collected",
                hint="set predictive, average, temperature and calibration_rows as "
                "they were, or fit again",
            )
        super().check_mergeable(left, right)

    def merged(self, left: Learned[Any, Fit], right: Learned[Any, Fit]) -> tuple[Columns, object]:
        """Return the columns with the levels of both, and the sum in their coding."""
        columns, ours, theirs = left.columns.widened(right.columns)
        with pinned_for(len(left.labels) * float(columns.width) ** 2):
            whole = embedded(left, ours, columns) + embedded(right, theirs, columns)
        return columns, within_sample(whole, self.calibration_rows, self.judged_by_rows())

    def forgetting(self, learned: Learned[Any, Fit]) -> Callable[[Any], object]:
        """Return the function that takes statistics away."""
        learner = self.of_model()

        def forget(gone: Any) -> Any:
            held = learned.statistics
            left_out = isinstance(held, StatisticsLeftOut)
            if not left_out and isinstance(held, WithRows) != isinstance(gone, WithRows):
                raise BadSetting(
                    "a sample of the rows was kept under other settings than now",
                    hint="set predictive, average, temperature and calibration_rows as "
                    "they were, or fit again",
                )
            columns = learned.columns
            with pinned_for(float(columns.width) ** 3):  # what is left is tried as a matrix
                return learner.forget(held, gone, columns.is_coded, columns.coded_names)

        return forget

    def waits(self, learned: Learned[Any, Fit]) -> Accepts | None:
        """Let rows of plain numbers wait, unless some of them are kept."""
        return moderate if learned.columns.is_plain and self.certain_rows(learned) else None

    def certain_rows(self, learned: Learned[object, Fit]) -> int:
        """Return how many rows there is room for, if each has blanks of its own."""
        held, learner = learned.statistics, self.of_model()
        kept = isinstance(held, WithRows) or getattr(learner, "keeps_rows", False)
        if kept or not learner.family.accepts(held):
            return 0
        room = MOST_PATTERNS - len(held.groups) if isinstance(held, ByPattern) else MOST_ROWS
        return max(0, room)

    def choose(self, batch: LabelledBatch) -> Self:
        """Choose pool, shrink and target by leave-one-out on one batch, if they are "auto"."""
        if not self.needs_choice:
            return self
        with what_doubles_can_solve():
            return self._chosen(batch)

    def _chosen(self, batch: LabelledBatch) -> Self:
        from suffice.models.gaussian.auto_covariance import choose

        learner = GaussianLearner(Gaussian("per-class", divisor=self.divisor))
        statistics = summary_of(learner, batch)
        labels, rows, codes = statistics.labels, batch.rows, batch.codes
        if not np.isnan(rows).any():
            fit = learner.fit(statistics)
        else:
            from suffice.models.gaussian.missing.e_step import imputed

            # Selection only: missing cells as one normal of all rows expects them. What is filled
            # in must not know the labels: it would tell them to those who judge, and the boldest
            # candidate would look best.
            plain = GaussianLearner(Gaussian("shared", divisor=self.divisor))
            together = plain.summarize(rows, np.zeros_like(codes), ["all"], batch.weights)
            rows = imputed(plain.fit(together).model, rows)
            fit = learner.fit(learner.summarize(rows, codes, batch.labels, batch.weights))
        order = {label: i for i, label in enumerate(labels)}
        codes = np.array([order[label] for label in batch.labels], dtype=np.intp)[codes]
        given = None if self.priors is None else log_priors_of(self.priors, labels)
        family, _ = choose(fit.summary, rows, codes, batch.weights, given, self.divisor)
        return self.deciding(family)

    # Models

    def estimate(self, learned: Learned[Any, Fit]) -> Fit:
        """Return normal classes and the moments that they were estimated from."""
        learner, held = self.of_model(), learned.statistics
        inner = held.held if isinstance(held, WithRows) else held
        if not learner.family.accepts(inner):
            raise BadSetting(
                f'covariance="{self.covariance}" needs different statistics from those collected',
                hint="fit again: the form was changed after the rows were read",
            )
        if isinstance(learner, GaussianLearner):
            return learner.fit(inner)
        if not learner.accepts(held):
            raise BadSetting(
                f"{self.judged_by_rows()} needs different statistics from those collected: a "
                f"sample "
                "of the rows",
                hint="fit again: the setting was changed after the rows were read",
            )
        return learner.fit(held)

    def judged_by_rows(self) -> str:
        """Return, in words, which setting is judged by a sample of the rows."""
        if self.predictive == "auto":
            return 'predictive="auto"'
        if self.average:
            return "average=True"
        if isinstance(self.temperature, str):
            from suffice.models.gaussian.averages.shares import LEFT_OUT

            return f'temperature="{LEFT_OUT}"' if self.temperature == LEFT_OUT else ""
        return ""

    def family(self) -> Gaussian:
        """Return the settings as a family, checked."""
        if self.covariance not in (*FORMS, *LETTERS, "auto"):
            meant = TEXTBOOK_NAMES.get(str(self.covariance).lower())
            raise BadSetting(
                f"covariance={self.covariance!r} is not known",
                hint=f'{str(self.covariance).upper()} is covariance="{meant}"'
                if meant
                else f"choose one of {listed((*FORMS, 'auto'))}{BY_LETTERS}",
            )
        if self.average not in (True, False):
            raise BadSetting(
                f"average={self.average!r} is neither True nor False",
                hint='True averages what covariance="auto" chooses from',
            )
        if self.covariance != "auto":
            if self.average:
                raise BadSetting(
                    f'average=True does not apply to covariance="{self.covariance}"',
                    hint='it averages what covariance="auto" chooses from',
                )
            strength: Any = self.predictive
            if isinstance(strength, str) and strength == "auto":
                from suffice.models.gaussian.averages.learner import EM_STRENGTH

                strength = EM_STRENGTH
            return Gaussian(
                self.covariance,
                self.pool,
                self.shrink,
                self.shrink_target,
                self.divisor,
                strength,
                self.prior_rows,
                self.factors,
            )
        for name in ("pool", "shrink", "factors"):
            if getattr(self, name) is not None:
                hint = f'"auto" chooses {name} itself; use covariance="per-class" to set it'
                if name == "factors":
                    hint = 'factors work with covariance="shared" and "per-class"'
                raise BadSetting(
                    f'{name}={getattr(self, name)!r} does not apply to covariance="auto"',
                    hint=hint,
                )
        if self.predictive is not None or self.prior_rows:
            raise BadSetting(
                f'predictive={self.predictive!r} does not apply to covariance="auto", '
                "which chooses pool and shrink of plug-in covariances",
                hint='name a form, such as covariance="shared"; predictive="auto" averages over '
                "how strong its prior is",
            )
        chosen: Gaussian | None = self.chosen
        if chosen is None or self.average:
            return Gaussian("per-class", divisor=self.divisor)
        return Gaussian("per-class", chosen.pool, chosen.shrink, chosen.shrink_target, self.divisor)

    def of_model(self) -> GaussianLearner | AveragingLearner:
        """Return family and priors as `suffice.models` has them."""
        held = self.__dict__.get("(model)")
        if held is None:  # settings do not change, and a small fit asks three times
            held = self.__dict__["(model)"] = self._of_model()
        found: GaussianLearner | AveragingLearner = held
        return found

    def _of_model(self) -> GaussianLearner | AveragingLearner:
        family = self.family()
        given = self.temperature
        temperature: float | str = 1.0
        if given is not None:
            from suffice.models.gaussian.averages.shares import LEFT_OUT, checked_temperature

            temperature = checked_temperature(given, (LEFT_OUT,))
        strengths = isinstance(self.predictive, str)
        if self.factors is not None and temperature != 1.0:
            raise BadSetting(
                f"temperature={given!r} does not apply to factors",
                hint="leave temperature out, or factors",
            )
        if not strengths and not self.average and temperature == 1.0:
            return GaussianLearner(family, self.priors)
        from suffice.models.gaussian.averages.grid import Averaged
        from suffice.models.gaussian.averages.learner import AveragingLearner

        averaged = Averaged(strengths, bool(self.average))
        return AveragingLearner(family, self.priors, averaged, temperature)


def embedded(learned: Learned[Any, Fit], places: IntArray, columns: Columns) -> Any:
    """Return statistics in the coding of a schema that knows more levels."""
    same = len(places) == columns.width and np.array_equal(places, np.arange(len(places)))
    held = learned.statistics
    if same:
        return held
    if isinstance(held, WithRows):
        from suffice.models.gaussian.averages.row_samples import embedded_sample

        wider: Any = held.held
        sample = embedded_sample(held.sample, places, columns.width)
        return WithRows(wider.embedded(places, columns.width), sample)
    return held.embedded(places, columns.width)
