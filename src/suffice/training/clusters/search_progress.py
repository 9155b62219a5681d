"""How far the search for clusters has come, for whoever waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.evaluation.work_progress import SilentProgress
from suffice.models.mixture.journey import Journey

if TYPE_CHECKING:
    from suffice.evaluation.work_progress import ProgressMeter
    from suffice.models.mixture.journey import Stage


class SearchProgress(Journey):
    """Shows how many of the numbers and forms have been tried, and counts the steps of EM."""

    def __init__(self) -> None:
        self.meter: ProgressMeter = SilentProgress()
        self.wanted = self.tried = 0

    def planned(self, trials: int) -> None:
        """Hear how many numbers and forms there are to be tried."""
        self.wanted = trials

    def step(self, form: str, components: int, stage: Stage) -> None:  # noqa: ARG002
        """Count a step."""
        self.meter.more(1)

    def done(self, form: str, components: int, stage: Stage) -> None:  # noqa: ARG002
        """Count a number and form."""
        self.tried += 1

    def share(self) -> float | None:
        """Return which part of them has been tried; of one alone nobody knows."""
        return self.tried / self.wanted if self.wanted > 1 else None
