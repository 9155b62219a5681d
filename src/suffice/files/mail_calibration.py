"""How far a filter's counts are to be believed: found anew from all it has learned."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from suffice.models.text.language import Language
from suffice.models.text.terms import Terms
from suffice.files.mail_database import refusals
from suffice.files.mail_letters import LIMIT, ORDER, TOKENS
from suffice.models.text.learner import TextLearner

if TYPE_CHECKING:
    from suffice.files.mail_state import MailState
    from suffice.files.mail_summary import Summary
    from suffice.models.text.model import TextModel
    from suffice.statistics.text_statistics import TextStatistics

Pair = tuple[float, float]


def learner() -> TextLearner:
    """Return what a filter is: Boolean terms and the language of the first bytes, calibrated."""
    return TextLearner(Terms("boolean", TOKENS), Language(ORDER, LIMIT))


def calibration_of(statistics: TextStatistics) -> tuple[float, Pair, Pair]:
    """Return α, the factors and the shifts; of a single class there is nothing to calibrate."""
    if len(statistics.labels) < 2:
        return 1.0, (1.0, 1.0), (0.0, 0.0)
    return _numbers(learner().estimate(statistics))


def calibrate(state: MailState) -> None:
    """Calibrate a filter; others may write meanwhile, and what they do counts as done later.

    Whoever has calibrated or replaced it meanwhile knows better: theirs stays.
    """
    from suffice.files.mail_statistics import statistics_of

    with refusals(state.path):
        with state.at_once():
            summary = state.summary
            statistics = None if summary.missing else statistics_of(state)
        if statistics is None:
            return
        smoothing, factors, shifts = calibration_of(statistics)
        with state.changing():
            now = state.summary
            if _calibration(now) == _calibration(summary):
                replace(
                    now,
                    smoothing=smoothing,
                    factors=factors,
                    shifts=shifts,
                    calibrated=summary.changes,
                ).write(state.connection)


def model_of(state: MailState) -> tuple[TextModel, TextStatistics]:
    """Return a filter as a model in memory, with its own calibration and priors."""
    import numpy as np

    from suffice.files.mail_statistics import statistics_of
    from suffice.models.text.calibration import Calibration

    with refusals(state.path), state.at_once():
        summary, statistics = state.summary, statistics_of(state)
    model = learner().estimate(statistics)
    told = np.log(np.array(summary.told, dtype=np.float64))
    calibration = Calibration(np.array(summary.factors), np.array(summary.shifts))
    found = replace(
        model,
        smoothing=summary.smoothing,
        calibration=calibration,
        log_priors=told - np.log(sum(summary.told)),
    )
    return found, statistics


def _calibration(summary: Summary) -> tuple[object, ...]:
    return summary.smoothing, summary.factors, summary.shifts, summary.calibrated


def _numbers(model: TextModel) -> tuple[float, Pair, Pair]:
    assert model.calibration is not None
    factors, shifts = model.calibration.factors.tolist(), model.calibration.shifts.tolist()
    return model.smoothing, (factors[0], factors[1]), (shifts[0], shifts[1])
