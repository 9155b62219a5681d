"""Who hears how far a search has come, and may know what an earlier one had found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from suffice.models.mixture.em import Climb
    from suffice.models.mixture.sums import Components


class Trial(NamedTuple):
    """One number and form: log-likelihood, parameters, criterion; NaN where one collapsed."""

    form: str
    components: int
    log_likelihood: float
    parameters: int
    criterion: float


@dataclass(frozen=True, eq=False)
class Stage:
    """Where a number and form has come to, under a prior or without; `trial` once it is done."""

    climb: Climb | None
    penalised: bool
    trial: Trial | None = None


class Journey:
    """Hears of every trial and step of a search; one that keeps nothing, and knows nothing."""

    def planned(self, trials: int) -> None:
        """Hear how many numbers and forms there are to be tried."""

    def stage(self, form: str, components: int) -> Stage | None:  # noqa: ARG002
        """Return how far an earlier search has come with a number and form."""
        return None

    def step(self, form: str, components: int, stage: Stage) -> None:
        """Hear of a step over all rows."""

    def done(self, form: str, components: int, stage: Stage) -> None:
        """Hear that a number and form has been tried."""


def begin_of(stage: Stage | None) -> Components | None:
    """Return where a search goes on that was ended before its time."""
    return None if stage is None or stage.climb is None else stage.climb.components
