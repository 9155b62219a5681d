"""How much each setting of a grid counts: exp(-what it loses on rows as if never seen).

Averaging is the guard at few rows: a setting that is best by luck has neighbours that are nearly as
good, and they answer with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadSetting
from suffice.linear_algebra import normalized
from suffice.models.gaussian.predictive.averaged_laws import averaged_posteriors, tempered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray

LOG_TEMPERATURES = np.arange(-20, 2) / 5.0
"""log β that are averaged over, -4 to 0.2 in steps of a fifth. Rows that are all right when they
are left out would drive β up without end: e^0.2 = 1.22 is as far as it goes."""
LEFT_OUT = "left-out"
"""The temperature that is averaged over its grid."""
LEAST_SHARE = 1e-6
"""A pair of setting and temperature that counts for less is left out: 300 of them together change
no probability by more than 3e-4."""


@dataclass(frozen=True, slots=True, eq=False)
class LeftOutScores:
    """What settings say about rows that they have not seen.

    `logs` are log p(x | c), (n, k) for each setting, up to what classes share; `log_priors` (n, k)
    are those of each row's own model. Rows whose class vanishes with them are not `kept`.
    """

    logs: tuple[FloatArray, ...]
    log_priors: FloatArray
    codes: IntArray
    weights: FloatArray
    kept: NDArray[np.bool_]

    def losses(self, temperatures: FloatArray) -> FloatArray:
        """Return -log p(y | x) of kept rows, (g, b, rows)."""
        y, here = self.codes[self.kept], np.arange(int(self.kept.sum()))
        priors = self.log_priors[self.kept]
        found = np.empty((len(self.logs), len(temperatures), len(here)))
        for g, logs in enumerate(self.logs):
            for b, beta in enumerate(temperatures):
                with np.errstate(invalid="ignore"):
                    scores = normalized(priors + tempered(logs[self.kept], float(beta)))
                own = -scores[here, y]
                found[g, b] = np.minimum(np.nan_to_num(own, nan=MOST_LOST, posinf=MOST_LOST),
                                         MOST_LOST)  # fmt: skip
        return found


MOST_LOST = 1e6
"""Nats that one row can lose: beyond, it tells of a floor and no more of the setting."""


def checked_temperature(temperature: object, words: tuple[str, ...]) -> float | str:
    """Return a temperature that has a meaning, 1 for None, or refuse it."""
    if temperature is None:
        return 1.0
    if isinstance(temperature, str) and temperature in words:
        return temperature
    number = isinstance(temperature, Real) and not isinstance(temperature, bool)
    if not number or not 0.0 < float(temperature) < np.inf:  # type: ignore[arg-type]
        known = "".join(f', or "{word}"' for word in words)
        raise BadSetting(
            f"temperature={temperature!r} is not valid",
            hint=f"use a number above 0 (1 changes nothing), None{known}",
        )
    return float(temperature)  # type: ignore[arg-type]


def temperatures_of(asked: float | str, class_weights: FloatArray) -> FloatArray:
    """Return the temperatures that are averaged over: the one asked for, or the grid.

    Of a class of one row nothing can be left out: then β is at most 1.
    """
    if asked != LEFT_OUT:
        return np.array([float(asked)])
    logs = LOG_TEMPERATURES
    if float(class_weights.min(initial=np.inf)) <= 1.0:
        logs = logs[logs <= 0.0]
    found: FloatArray = np.exp(logs)
    return found


def fitted_shares(scores: LeftOutScores, temperatures: FloatArray) -> FloatArray:
    """Return the share of every setting and temperature (g, b): exp(-Σ loss - ½(log β)²).

    Without a row to judge by, temperatures are 1 and settings are alike.
    """
    lost = scores.losses(temperatures) @ scores.weights[scores.kept]
    if not scores.kept.any() and len(temperatures) > 1:
        lost = np.where(np.abs(np.log(temperatures)) < 1e-9, lost, np.inf)
    if len(temperatures) > 1:
        lost = lost + np.square(np.log(temperatures)) / 2.0
    shares = np.exp(-(lost - lost.min()))
    shares /= shares.sum()
    shares[shares < LEAST_SHARE] = 0.0
    return np.asarray(shares / shares.sum())


def averaged_without_themselves(
    scores: LeftOutScores, temperatures: FloatArray, shares: FloatArray, worth: FloatArray
) -> FloatArray:
    """Return the log of the averaged posterior of every row, (n, k), by shares without its loss.

    `worth` (n,) is how often the loss of a row is in the shares: what a row says about the
    settings must not help them to name its own class.
    """
    n = len(scores.codes)
    own = np.zeros((n, *shares.shape))
    lost = scores.losses(temperatures)  # (g, b, kept)
    own[scores.kept] = lost.transpose(2, 0, 1)
    with np.errstate(divide="ignore"):
        logs = np.log(shares) + worth[:, np.newaxis, np.newaxis] * own
    logs = logs - logs.max(axis=(1, 2), keepdims=True)
    weights = np.exp(logs)
    weights /= weights.sum(axis=(1, 2), keepdims=True)
    parts: Sequence[tuple[FloatArray, FloatArray]] = [
        (logs, weights[:, g]) for g, logs in enumerate(scores.logs)
    ]
    return averaged_posteriors(parts, temperatures, scores.log_priors)
