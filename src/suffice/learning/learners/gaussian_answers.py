"""What normal classes answer about rows: nothing here learns anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from suffice.errors import Approximation, BadSetting, NotFinite, warn
from suffice.learning.answers import LearnedDensity, checked_size, comparison
from suffice.learning.frames import back_to_frame
from suffice.learning.labelled_batch import naming_cells
from suffice.learning.left_out import StatisticsLeftOut
from suffice.learning.randomness import random_generator
from suffice.linear_algebra import what_doubles_can_solve
from suffice.models.gaussian.forgetting import SMALL_DEVIATION, warn_of_small_squares
from suffice.models.gaussian.learner import Fit, warn_of
from suffice.models.gaussian.model import OneRow, one_row
from suffice.rows import CATEGORY, read_table
from suffice.statistics.row_sample import WithRows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.columns import Columns
    from suffice.learning.learners.gaussian import GaussianClassifierLearner
    from suffice.learning.results import Explanation
    from suffice.models.gaussian.family import Gaussian
    from suffice.models.gaussian.whitened_classes import Discriminants
    from suffice.models.left_out import LeaveOneOut
    from suffice.models.notes import Note
    from suffice.rows import FloatArray, IntArray, Label


@dataclass(frozen=True, eq=False)
class LearnedDiscriminant(LearnedDensity[Any, Fit]):
    """Normal classes: typicality, cells filled in, explanations, leave-one-out."""

    learner: GaussianClassifierLearner

    # Rows

    def rows(self, X: object) -> FloatArray:
        """Return rows coded as at fit; float32 rows stay float32, whatever the type says."""
        rows = self.columns.encode(self.as_learned(read_table(X)), self.learner.name)
        return cast("FloatArray", rows)

    def given_back(self, rows: FloatArray) -> Any:
        """Return rows as the user gave them."""
        return back_to_frame(self.columns, rows, self.frame, self.dated)

    def sample(
        self,
        n: int = 1,
        y: Label | None = None,
        random_state: object = None,
        within: object = "auto",
    ) -> tuple[Any, NDArray[Any]]:
        """Draw rows and their labels; `GaussianDiscriminant.sample` says how."""
        size, shown = checked_size(n), self.shown_within(within)
        rows, codes = self.model.sample(size, random_generator(random_state), y)
        if shown is not None:
            from suffice.models.possible.normal_rows import PossibleNormals

            known = tuple(shown.items())
            held = self.__dict__.get("(possible)")
            if held is None or held[0] != known:
                made = PossibleNormals.of(self.model.densities, self.columns, shown)
                held = self.__dict__["(possible)"] = (known, made)
            rows = held[1].rows(rows, codes)
        return self.given_back(rows), self.classes[codes]

    def _lean(self) -> OneRow | None:
        return one_row(self.model, self.classes) if self.columns.is_plain else None

    def warn(self) -> None:
        """Tell, after `fit`, what was done about degenerate rows."""
        fit, columns = self.fit, self.columns
        notes = [note for note in fit.notes if not _is_of_our_making(note, columns, fit)]
        warn_of(notes, columns.coded_names, fit.model.labels)
        if fit.summary.scale.min(initial=1.0) < SMALL_DEVIATION or not fit.summary.active.all():
            warn_of_small_squares(self.statistics, columns.coded_names)

    # Answers

    @property
    def family_in_use(self) -> Gaussian:
        """The family; where several are averaged, the one that counts most."""
        if not (self.learner.average or isinstance(self.learner.predictive, str)):
            return self.learner.family()
        fit: Any = self.fit
        found: Gaussian = fit.families[int(np.argmax(fit.shares.sum(axis=1)))]
        return found

    def typicality(self, X: object, y: object = None, sample_weight: object = None) -> FloatArray:
        """Return, per class, the p-value of each row; with `y`, of rows that were in the fit."""
        from suffice.models.typicality.coded_classes import coded_typicality
        from suffice.models.typicality.normal_classes import typicality

        fit, family = self.fit, self.learner.family()

        def answer(rows: FloatArray) -> FloatArray:
            codes, gone = self.label_codes(y, len(rows)), self.gone(y, sample_weight, len(rows))
            coded = self.columns.coded_places
            with what_doubles_can_solve():
                if coded:
                    return coded_typicality(family, fit, rows, coded, codes, gone)
                return typicality(family, fit, rows, codes, gone)

        return self.asked(X, answer)

    def impute(
        self, X: object, y: object = None, draws: int | None = None, random_state: object = None
    ) -> object:
        """Return rows with missing cells filled in by their conditional mean, or drawn."""
        from suffice.models.gaussian.missing.e_step import imputed

        model = self.model
        if draws is not None and (draws < 0 or int(draws) != draws):
            raise BadSetting(
                f"cannot make draws={draws!r} tables",
                hint="use a whole number of at least 0, or None",
            )

        def completed(rng: np.random.Generator | None) -> object:
            rows = self.asked(
                X, lambda rows: imputed(model, rows, self.label_codes(y, len(rows)), rng)
            )
            return self.given_back(rows)

        if draws is None:
            return completed(None)
        rng = random_generator(random_state)
        return [completed(rng) for _ in range(int(draws))]

    @property
    def discriminants(self) -> Discriminants:
        """The few directions along which classes differ most, for a shared covariance only."""
        from suffice.models.gaussian.whitened_classes import discriminants

        return self._kept("discriminants", lambda: discriminants(self.model))

    def coordinates(self, X: object) -> FloatArray:
        """Return Fisher's discriminant coordinates, at most k - 1; missing cells as expected."""
        rows = self.rows(X)
        if np.isnan(rows).any():
            from suffice.models.gaussian.missing.e_step import imputed

            rows = imputed(self.model, rows)
        if not np.isfinite(rows).all():
            raise naming_cells(NotFinite.of_range(()), rows, self.columns)
        return self.discriminants.coordinates(rows)

    def explain(
        self, X: object, of: Label | None = None, against: Label | None = None
    ) -> Explanation:
        """Split the log odds of every row by column."""
        from suffice.learning.results import Explanation
        from suffice.models.gaussian.explanation import explain

        model, columns = self.model, self.columns
        pair = comparison(model.labels, of, against)

        def answer(rows: NDArray[Any]) -> Any:
            return explain(model, rows, *pair(model.posterior(rows, log=True)))

        found = self.asked(X, answer)
        pairs = found.pairs
        if pairs is not None and not columns.is_plain:
            n, width, _ = pairs.shape
            half = columns.summed(pairs.reshape(n * width, width)).reshape(n, width, -1)
            turned = np.ascontiguousarray(half.transpose(0, 2, 1)).reshape(-1, width)
            pairs = columns.summed(turned).reshape(n, len(columns.names), -1)
        return Explanation(
            self.classes[found.of],
            self.classes[found.against],
            found.baseline,
            cast("FloatArray", columns.summed(found.contributions)),
            pairs,
            columns.names,
        )

    def leave_one_out(self, X: object, y: object, sample_weight: object = None) -> LeaveOneOut:
        """Judge the rows this was learned from, each by a model of all the others."""
        batch = self.learner.read(X, y, sample_weight, self)
        codes = self.codes_of_fit(batch)
        try:
            with what_doubles_can_solve():
                result = self.left_out(batch.rows, codes, batch.weights)
        except NotFinite as error:
            raise naming_cells(error, batch.rows, self.columns, batch.places) from None
        if result.approximate:
            warn(result.approximate, Approximation)
        return self.with_weightless(result, batch, X, y)

    def left_out(
        self,
        rows: FloatArray,
        codes: IntArray,
        weights: FloatArray | None = None,
        *,
        complete: bool = True,
    ) -> LeaveOneOut:
        """Judge coded rows this was learned from; if not `complete`, some of them."""
        fit, family, learner = self.fit, self.learner.family(), self.learner.of_model()
        given = None if self.learner.priors is None else fit.model.log_priors
        held = self.statistics
        if learner.takes_columns:
            from suffice.models.gaussian.averages.learner import (
                AveragingLearner,
                averaged_leave_one_out,
            )

            assert isinstance(learner, AveragingLearner)
            averaged: Any = fit
            return averaged_leave_one_out(
                learner, averaged, held, rows, codes, weights, given, complete=complete
            )
        if isinstance(held, StatisticsLeftOut):
            fit.summary  # noqa: B018  it refuses, in words
        if family.keeps_patterns and not getattr(held_of(held), "is_complete", True):
            from suffice.models.gaussian.leave_one_out.missing_cells import leave_one_out_missing

            return leave_one_out_missing(family, held_of(held), fit, rows, codes, weights, given)
        from suffice.models.gaussian.leave_one_out.leave_one_out import leave_one_out

        return leave_one_out(
            family, fit.summary, fit.normals, fit.notes, rows, codes, weights, given,
            complete=complete,
        )  # fmt: skip

    def left_out_losses(self, rows: Any, codes: IntArray, weights: FloatArray) -> FloatArray:
        """Return -log p(y | x) of rows that were learned, each taken out of the sums."""
        found = self.left_out(rows, codes, weights, complete=False)
        losses: FloatArray = -found.log_posterior[np.arange(len(codes)), codes]
        losses[found.vanished] = np.nan
        return losses


def held_of(statistics: object) -> Any:
    """Return the sums of statistics that may have a sample of rows beside them."""
    return statistics.held if isinstance(statistics, WithRows) else statistics


def _is_of_our_making(note: Note, columns: Columns, fit: Fit) -> bool:
    """Whether a note speaks only of one-hot coding: the levels of a category add up to one."""
    varying = fit.normals.active
    owners = columns.owners
    if not (note.silent and note.columns and varying[list(note.columns)].all()):
        return False
    coded = [columns.columns[owners[j]].kind == CATEGORY for j in range(columns.width)]
    if not all(coded[j] for j in note.columns):
        return False
    levels = np.bincount(owners[varying & np.array(coded)], minlength=1)
    return int(varying.sum()) - fit.normals.rank == int((levels > 1).sum())
