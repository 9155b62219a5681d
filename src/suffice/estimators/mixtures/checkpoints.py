"""A search for a mixture that can be ended and goes on: what was found, and how far it has come."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadFile
from suffice.models.mixture.em import Climb
from suffice.models.mixture.journey import Journey, Stage, Trial
from suffice.models.mixture.sums import Components
from suffice.storage.model_file import no_model, read_checkpoint, write_checkpoint

if TYPE_CHECKING:
    from suffice.columns import Columns
    from suffice.models.mixture.fitting import MixtureSettings
    from suffice.models.mixture.survey import RowSurvey

EVERY = 10.0
"""Seconds between two writings."""


class SearchCheckpoint(Journey):
    """Writes down, every so often and at the end, which mixtures were found and where EM is.

    It belongs to rows by what they say, wherever they are and in whatever order, and to settings;
    of others it is refused. What goes on from it ends in the same maximum, not at the same bits.
    """

    def __init__(
        self,
        path: str | Path,
        settings: MixtureSettings,
        columns: Columns,
        survey: RowSurvey,
        heard: Journey | None = None,
    ) -> None:
        self.path = Path(path)
        self.heard = Journey() if heard is None else heard
        self.identity = {
            "settings": repr(settings),
            "columns": list(columns.names),
            "rows": [survey.size, f"{survey.mark:016x}"],
        }
        self.shape = len(survey.low)
        self.last = time.monotonic()
        self.stages: dict[tuple[str, int], Stage] = {}
        if self.path.exists():
            self._read()

    def planned(self, trials: int) -> None:
        """Hear how many numbers and forms there are to be tried."""
        self.heard.planned(trials)

    def stage(self, form: str, components: int) -> Stage | None:
        """Return how far an earlier search has come with a number and form."""
        return self.stages.get((form, components))

    def step(self, form: str, components: int, stage: Stage) -> None:
        """Take down a step over all rows, and write it if the last writing was a while ago."""
        self._take_down(form, components, stage)
        self.heard.step(form, components, stage)

    def done(self, form: str, components: int, stage: Stage) -> None:
        """Take down what was found."""
        self._take_down(form, components, stage)
        self.heard.done(form, components, stage)

    def _take_down(self, form: str, components: int, stage: Stage) -> None:
        self.stages[form, components] = stage
        if time.monotonic() - self.last >= EVERY:
            self.write()

    def write(self) -> None:
        """Write how far it has come."""
        stages = [_plain(form, k, stage) for (form, k), stage in self.stages.items()]
        write_checkpoint(self.path, {"identity": self.identity, "stages": stages})
        self.last = time.monotonic()

    def _read(self) -> None:
        held = read_checkpoint(self.path)
        if not isinstance(held.get("identity"), dict) or "stages" not in held:
            raise no_model(self.path, KeyError("identity"))
        for name, ours in self.identity.items():
            theirs = held["identity"].get(name)
            if theirs != ours:
                raise BadFile(
                    f"{self.path} belongs to other {name}: {theirs!r:.80}, not {ours!r:.80}",
                    hint="delete it to start again, or name another file",
                )
        try:
            for one in held["stages"]:
                self.stages[str(one["form"]), int(one["components"])] = _stage(one, self.shape)
        except Exception as error:  # noqa: BLE001  whatever it is, it is no checkpoint
            raise no_model(self.path, error) from None


def _plain(form: str, components: int, stage: Stage) -> dict[str, Any]:
    found: dict[str, object] = {
        "form": form,
        "components": components,
        "penalised": stage.penalised,
        "trial": None if stage.trial is None else np.array(stage.trial[2:], dtype=np.float64),
        "climb": None,
    }
    if stage.climb is not None:
        at = stage.climb.components
        found["climb"] = {
            "shares": at.shares,
            "means": at.means,
            "covariances": at.covariances,
            "rest": np.array([at.noise, at.log_volume, stage.climb.likelihood]),
            "history": np.array(stage.climb.history),
            "converged": stage.climb.converged,
        }
    return found


def _stage(held: dict[str, Any], width: int) -> Stage:
    """Return a stage that was written, checked: no shape or number that could not be one."""
    form, k = str(held["form"]), int(held["components"])
    climb = trial = None
    if held["trial"] is not None:
        value = np.asarray(held["trial"], dtype=np.float64)
        likelihood, parameters, criterion = value.tolist()
        trial = Trial(form, k, likelihood, int(parameters), criterion)
    if held["climb"] is not None:
        at = held["climb"]
        shares, means, covariances, rest, history = (
            np.asarray(at[name], dtype=np.float64)
            for name in ("shares", "means", "covariances", "rest", "history")
        )
        a = means.shape[1]
        square = (k, a) if form.endswith("I") else (k, a, a)
        sound = (
            shares.shape == (k,)
            and means.shape == (k, a)
            and a <= width
            and covariances.shape == square
            and len(history) > 0
            and all(np.isfinite(one).all() for one in (shares, means, covariances, rest, history))
            and bool((shares >= 0.0).all())
        )
        if not sound:
            raise BadFile(f"{form} has invalid components", hint="delete it to start again")
        noise, volume, likelihood = rest.tolist()
        components = Components(shares, means, covariances, noise, volume)
        climb = Climb(components, likelihood, tuple(history.tolist()), bool(at["converged"]))
    return Stage(climb, bool(held["penalised"]), trial)
