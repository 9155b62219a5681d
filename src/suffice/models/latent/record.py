"""What a file keeps of hidden classes besides their model and statistics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.latent.fitting import LatentFit, LatentTrial

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class LatentRecord:
    """Likelihood of hidden classes, how EM went, and what numbers of classes were tried.

    `batches` is how many batches a stream has come in, 0 where it was none.
    """

    log_likelihood: float
    weight: float
    parameters: int
    converged: bool
    history: FloatArray
    numbers: IntArray
    likelihoods: FloatArray
    counts: IntArray
    criteria: FloatArray
    batches: int = 0

    @classmethod
    def of(cls, fit: LatentFit) -> LatentRecord:
        """Return what a file keeps of a fit; what lost a class has an infinite criterion."""
        trials = fit.trials
        criteria = np.array([trial.criterion for trial in trials], dtype=np.float64)
        logs = np.array([trial.log_likelihood for trial in trials], dtype=np.float64)
        return cls(
            fit.log_likelihood,
            fit.weight,
            fit.parameters,
            fit.converged,
            np.array(fit.history),
            np.array([trial.components for trial in trials], dtype=np.intp),
            np.where(np.isnan(logs), -np.inf, logs),
            np.array([trial.parameters for trial in trials], dtype=np.intp),
            np.where(np.isnan(criteria), np.inf, criteria),
        )

    def of_stream(self) -> LatentRecord:
        """Return the record of classes that were not fitted to rows all at once."""
        none = np.zeros(0)
        whole = np.zeros(0, dtype=np.intp)
        return replace(
            self,
            log_likelihood=-np.inf,
            history=none,
            numbers=whole,
            likelihoods=none,
            counts=whole,
            criteria=none,
        )

    @property
    def trials(self) -> list[LatentTrial]:
        """What was tried, the best first."""
        rows = zip(self.numbers, self.likelihoods, self.counts, self.criteria, strict=True)
        found = [
            LatentTrial(
                int(number),
                float(likelihood) if np.isfinite(likelihood) else np.nan,
                int(count),
                float(criterion) if np.isfinite(criterion) else np.nan,
            )
            for number, likelihood, count, criterion in rows
        ]
        return sorted(found, key=lambda one: (np.isnan(one.criterion), one.criterion))
