"""fit, partial_fit, forget and +: rows become statistics, and statistics add up."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Self

from suffice.errors import (
    DifferentKinds,
    ForgettingUnseen,
    SmallSample,
    listed,
    warn,
)
from suffice.estimators.shared.collect import Collecting, frame_here, is_elsewhere
from suffice.estimators.shared.concurrency import lock_of
from suffice.estimators.shared.state import check_label_kinds, label_kind
from suffice.estimators.shared.waiting_rows import SingleRows
from suffice.models.gaussian.forgetting import vouched
from suffice.models.gaussian.learner import checked_log_priors

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from suffice.rows import Label


class Learning(Collecting, SingleRows):
    """Learns, learns more, forgets, and merges with its like."""

    def fit(
        self,
        X: object,
        y: object = None,
        sample_weight: object = None,
        *,
        target: str | None = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Learn from rows and labels, forgetting everything learned before.

        Rows may also be somewhere else: a path, a glob, an Arrow stream, a table of a database or
        of a cluster. Then `target` names the column of labels, and `sample_weight` that of weights.
        With `checkpoint`, a file, what was collected is written there every so often; a run that
        was killed goes on from it, and ends at the same bits.
        """
        self._check_settings()  # first: a bad one is refused before any row is read
        here = frame_here(X, target, sample_weight)
        if here is not None:
            X, y, sample_weight = here
        if here is not None or (target is None and not is_elsewhere(X, y)):
            learned = self._summarized(self._read(X, y, sample_weight, None), None)
        else:
            learned = self._collected(X, target, sample_weight, None, checkpoint)
        with lock_of(self):
            fit = self._fit_of(learned)  # first: a refusal leaves the estimator as it was
            self._keep(learned)
        self._notes = None
        self._warn(fit)
        self._warn_of_one_class()
        return self

    def partial_fit(
        self,
        X: object,
        y: object = None,
        classes: object = None,  # noqa: ARG002  scikit-learn's callers pass it
        sample_weight: object = None,
        *,
        target: str | None = None,
    ) -> Self:
        """Learn from more rows; `classes` is accepted and never needed.

        Nothing is estimated until it is asked for, so that a stream of small batches costs
        what adding up costs, and a stream of single rows what copying costs. What is chosen from
        the data is chosen on the first batch, and stays. Several threads may call it: they learn
        one after the other, and no row is lost; predictions do not wait for them.
        """
        if sample_weight is None and self._set_aside(X, y):
            return self
        with lock_of(self):
            self._check_settings()
            known = self._known()
            here = frame_here(X, target, sample_weight)
            if here is not None:
                X, y, sample_weight = here
            elif target is not None or is_elsewhere(X, y):
                self._keep(self._collected(X, target, sample_weight, known))
                return self
            batch = self._read(X, y, sample_weight, known)
            self._keep(self._summarized(batch, known))
        return self

    def forget(self, X: object, y: object = None, sample_weight: object = None) -> Self:
        """Take back rows that were learned before, exactly.

        What cannot have been learned is refused and leaves the model as it was. If everything
        is taken back, the estimator is as if never fitted.
        """
        with lock_of(self):
            state = self._require()
            batch = self._read(X, y, sample_weight, state)
            check_label_kinds(state.kind, label_kind(batch.classes))
            if batch.columns != state.columns:
                raise ForgettingUnseen(
                    "the rows to forget hold levels that were never learned",
                    hint="forget only rows that were learned before",
                )
            gone = self._summary(batch, self._learner(state.chosen))
            left = self._forgetting(state)(gone)
            self._keep(state.with_statistics(left))
        _warn_of_small_sample(left)
        return self

    def vouch(self) -> Self:
        """Count rounding anew from here on: you vouch for the numbers as they are.

        Statistics carry a bound of their own rounding errors, which every `partial_fit` and
        `forget` adds to; `forget` refuses when it could be as large as a variance. The bound is
        always honest and may be far too careful, above all in files of older versions, where it
        grew with every step. If you know that the numbers are good, for instance since a model of
        the same rows fitted anew gives the same answers, this begins again with the bound of one
        batch. What rows were learned, and every answer, stay as they are.
        """
        state = self._require()
        self._become(state.with_statistics(vouched(state.statistics)))
        return self

    def __add__(self, other: Learning) -> Self:
        """Return a model of all rows that either has learned from."""
        if not isinstance(other, Learning):
            return NotImplemented
        if not (isinstance(other, type(self)) or isinstance(self, type(other))):
            return NotImplemented
        one, two = self._whole(), other._whole()
        ours, theirs = one._settings(), two._settings()
        different = [name for name in ours if ours[name] != theirs.get(name)]
        if different:
            raise DifferentKinds(
                "models with different settings cannot be merged: "
                + listed(f"{n}={ours[n]!r} and {theirs.get(n)!r}" for n in different),
                hint="give both the same settings",
            )
        merged = copy.copy(one)
        merged._become(one._joined(one._require(), two._require()))
        return merged

    def __radd__(self, other: object) -> Self:
        """Let `sum(models)` start from nothing."""
        if isinstance(other, int) and other == 0:
            return self
        return NotImplemented

    def with_priors(self, priors: Mapping[Label, float]) -> Self:
        """Return a copy with other priors; what was learned of each class is untouched."""
        whole = self._whole()
        state = whole._require()
        checked_log_priors(priors, state.statistics.labels)
        changed = copy.copy(whole)
        changed.priors = dict(priors)
        changed._state = state.with_statistics(state.statistics)
        return changed

    def _settings(self) -> dict[str, Any]:
        found: dict[str, Any] = self.get_params()  # type: ignore[attr-defined]
        return found


def _warn_of_small_sample(left: Any) -> None:
    """Say when what is fitted to sampled rows rests on few of them; `forget` is two lines up."""
    sample = getattr(left, "sample", None)
    if sample is not None and sample.is_small and left.weight > sample.weight:
        warn(
            f"of the rows that were sampled {len(sample.rows)} are left, of {left.weight:g} that "
            "are learned: temperature, smoothing or calibration that are held out rest on them. "
            "Rows that are learned from now on are sampled as rarely; fit again on the rows that "
            "stay for a sample of its full size",
            SmallSample,
        )
