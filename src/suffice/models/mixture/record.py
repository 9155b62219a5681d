"""What a file keeps of a mixture besides its components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.mixture.fitting import MixtureFit
from suffice.models.mixture.journey import Trial

if TYPE_CHECKING:
    from suffice.models.gaussian.model import GenerativeModel
    from suffice.rows import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class MixtureRecord:
    """Form, noise and likelihood of a mixture, and what was tried; its components are a model."""

    form: str
    noise: float
    log_volume: float
    log_likelihood: float
    weight: float
    parameters: int
    converged: bool
    penalised: bool
    history: FloatArray
    forms: tuple[str, ...]
    numbers: IntArray
    likelihoods: FloatArray
    counts: IntArray
    criteria: FloatArray

    @classmethod
    def of(cls, fit: MixtureFit) -> MixtureRecord:
        """Return what a file keeps of a fit; what collapsed has an infinite criterion."""
        trials = fit.trials
        criteria = np.array([trial.criterion for trial in trials])
        logs = np.array([trial.log_likelihood for trial in trials])
        return cls(
            fit.form,
            fit.noise,
            fit.log_volume,
            fit.log_likelihood,
            fit.weight,
            fit.parameters,
            fit.converged,
            fit.penalised,
            np.array(fit.history),
            tuple(trial.form for trial in trials),
            np.array([trial.components for trial in trials], dtype=np.intp),
            np.where(np.isnan(logs), -np.inf, logs),
            np.array([trial.parameters for trial in trials], dtype=np.intp),
            np.where(np.isnan(criteria), np.inf, criteria),
        )

    def fit(self, model: GenerativeModel) -> MixtureFit:
        """Return the fit that was stored, with its components."""
        rows = zip(
            self.forms, self.numbers, self.likelihoods, self.counts, self.criteria, strict=True
        )
        trials = tuple(
            Trial(
                form,
                int(number),
                float(likelihood) if np.isfinite(likelihood) else np.nan,
                int(count),
                float(criterion) if np.isfinite(criterion) else np.nan,
            )
            for form, number, likelihood, count, criterion in rows
        )
        return MixtureFit(
            model,
            self.form,
            self.noise,
            self.log_volume,
            self.log_likelihood,
            self.weight,
            self.parameters,
            self.converged,
            self.penalised,
            tuple(self.history.tolist()),
            trials,
        )
