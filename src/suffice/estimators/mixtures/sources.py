"""Rows of a mixture that are somewhere else: one collection a step, in a search that can go on."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from suffice.columns import Columns
from suffice.engines.parts import Mergeable
from suffice.errors import BadFile, BadSetting
from suffice.estimators.multivariate_normal_columns import (
    check_infinite,
    places,
    refuse_categories,
)
from suffice.learning.frames import split_off
from suffice.models.mixture.coordinates import RemoteRows, telling
from suffice.models.mixture.em import Climb
from suffice.models.mixture.journey import Journey, Stage, Trial
from suffice.models.mixture.sums import Components
from suffice.models.mixture.survey import RowSurvey
from suffice.rows import read_table, read_weights
from suffice.storage.model_file import no_model, read_checkpoint, write_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from suffice.models.mixture.fitting import MixtureSettings
    from suffice.rows import FloatArray
    from suffice.sources import Chunk, Source, Wanted

S = TypeVar("S", bound=Mergeable)


def is_path_or_source(X: object) -> bool:
    """Whether rows are not here: paths, streams, tables of databases and of clusters.

    >>> import numpy as np
    >>> is_path_or_source("rows.parquet"), is_path_or_source(np.zeros((2, 2)))
    (True, False)
    """
    if isinstance(X, np.ndarray):
        return False
    if isinstance(X, str | Path):
        return True
    if isinstance(X, list | tuple):
        return bool(X) and all(isinstance(one, str | Path) for one in X)
    from suffice.sources import is_source

    return is_source(X) and split_off(X, ()) is None  # a frame that is here is rows


def rows_of_frame(
    X: Any, sample_weight: object, columns: Sequence[str] | None
) -> tuple[object, object]:
    """Return the columns of a frame that are looked at, and its weights, by name or as they are."""
    named = sample_weight if isinstance(sample_weight, str) else None
    if named is None and columns is None:
        return X, sample_weight
    found = split_off(X, (named,))
    if found is None:
        raise BadSetting(
            "columns of an array have no names" if named is None else "the weights are a name",
            hint="give a frame, or the columns and one weight for each row",
        )
    rows, (weights,) = found
    if columns is not None:
        gone = split_off(X, tuple(columns))  # refuses names that are not there
        assert gone is not None
        import narwhals as nw

        rows = nw.from_native(X, eager_only=True).select(list(columns)).to_native()
    return rows, weights if named is not None else sample_weight


def opened_rows(
    X: object, sample_weight: object, columns: Sequence[str] | None
) -> tuple[Source, Wanted]:
    """Return the source of rows, and which of its columns are read."""
    from suffice.sources import open_source

    if sample_weight is not None and not isinstance(sample_weight, str):
        raise BadSetting(
            "the weights of a source must be one of its columns",
            hint='name it: sample_weight="weight"',
        )
    source = open_source(X)
    return source, source.wanted(None, sample_weight, columns)


def ordered_rows(
    X: object, sample_weight: object, columns: Sequence[str] | None
) -> Iterator[tuple[object, object]]:
    """Yield the rows of a source that is read here, in their order, and their weights."""
    from suffice.sources.local import LocalSource

    source, wanted = opened_rows(X, sample_weight, columns)
    if not isinstance(source, LocalSource):
        raise BadSetting(
            f"{source.name} does not return rows in a fixed order",
            hint="fit reads all of it, in passes",
        )
    for part in source.parts(wanted):
        for chunk in part():
            yield chunk.table, chunk.weights


@dataclass(frozen=True, slots=True, eq=False)
class _Looked:
    """The columns of rows, and what one pass over them tells."""

    columns: Columns
    survey: RowSurvey

    def __add__(self, other: Self) -> Self:
        return type(self)(self.columns.widened(other.columns)[0], self.survey + other.survey)


@dataclass(frozen=True, eq=False)
class SourceTable:
    """The rows of a source as a mixture sees them, chunk by chunk, where they are."""

    source: Source
    wanted: Wanted
    name: str

    def surveyed(self, most: int, *, marked: bool) -> tuple[RemoteRows, RowSurvey, Columns]:
        """Look at all rows once; `most` of them stand for all."""
        name = self.name

        def surveyed_chunk(chunk: Chunk) -> _Looked:
            columns, rows, weights = read_rows(chunk.table, chunk.weights, name)
            return _Looked(columns, RowSurvey.of(rows, weights, most, part=True, marked=marked))

        found = self.source.collected(surveyed_chunk, self.wanted)
        survey = found.survey
        return RemoteRows(self._collect, survey.size), survey, found.columns

    def _collect(self, summarize: Callable[[FloatArray, FloatArray | None], S]) -> S:
        name = self.name

        def work(chunk: Chunk) -> S:
            _, rows, weights = read_rows(chunk.table, chunk.weights, name)
            return summarize(rows, weights)

        return self.source.collected(work, self.wanted)


def read_rows(
    given: object, sample_weight: object, name: str, known: Columns | None = None
) -> tuple[Columns, FloatArray, FloatArray | None]:
    """Return columns, and the rows (n, d) that say something, with their weights."""
    table = read_table(given)
    columns = Columns.infer(table) if known is None else known
    refuse_categories(columns)
    cells = np.asarray(columns.encode(table, name), dtype=np.float64)
    check_infinite(cells, places(columns))
    weights = read_weights(sample_weight, table.size)
    kept = telling(cells, weights)
    if not kept.all():
        cells, weights = cells[kept], None if weights is None else weights[kept]
    return columns, cells, weights


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


def _plain(form: str, components: int, stage: Stage) -> dict[str, object]:
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
