"""From a table to its clusters: those that are looked for, and those that a file knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.errors import BadRows, BadSetting, listed
from suffice.evaluation.work_progress import SilentProgress
from suffice.models.mixture.journey import Journey
from suffice.places import Place
from suffice.rows.cells import NUMBER
from suffice.sources.arrow_frames import frame_of
from suffice.sources.local import joined_chunks
from suffice.sources.source import Chunk
from suffice.training.clusters.found_clusters import noted
from suffice.training.clusters.latent_clusters import described_classes
from suffice.training.clusters.normal_clusters import described_mixture
from suffice.training.clusters.numeric_rows import NumericRows, with_a_cell
from suffice.training.model_rows import ModelRows
from suffice.training.saved_models import MIXTURE, load_saved
from suffice.training.training_rows import IN_MEMORY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from suffice.estimators.setting_types import Criterion
    from suffice.evaluation.work_progress import ProgressMeter
    from suffice.models.mixture.journey import Stage
    from suffice.tables.table_reading import TableReading
    from suffice.training.clusters.found_clusters import FoundClusters
    from suffice.training.hooks import Hooks

LATENT = "latent-classes"
"""The model of columns of every kind."""
MODELS = ("auto", "gaussian", LATENT)
"""What clusters may be."""


def cluster_rows(
    data: object,
    hooks: Hooks,
    *,
    reading: TableReading,
    model: str = "auto",
    components: Any = "auto",
    covariance: str = "auto",
    factors: int | str | None = None,
    criterion: Criterion = "bic",
    drop: Sequence[str] = (),
    seed: int = 0,
) -> FoundClusters:
    """Read a table, and find clusters in its numbers, or in columns of every kind.

    Parameters
    ----------
    data : list of paths or addresses
        What `suffice fit` reads.
    model : "auto", "gaussian" or "latent-classes"
        A normal mixture of the numbers, or classes over columns of every kind; "auto" takes these
        where there are columns of text or of true and false, unless a form is asked for.
    components : int, range or "auto"
        How many clusters, or from which number to which.
    covariance, factors, criterion
        As `GaussianMixture` takes them.

    """
    from suffice.estimators.mixtures.gaussian_mixture import GaussianMixture
    from suffice.estimators.mixtures.latent_classes import LatentClasses

    rows = NumericRows.read(
        data,
        reading,
        drop,
        hooks,
        seed=seed,
        others=_other_columns(model, covariance, factors, hooks),
    )
    size = rows.table.size
    what = "cell" if rows.mixed else "number"
    if size < 2:
        raise BadRows(
            f"{rows.place} has {size or 'no'} row{'s' * (size != 1)} with a {what}: at least two "
            "are needed",
            hint="give more than one row",
        )
    fewest = components[0] if isinstance(components, range) else components
    if isinstance(fewest, int) and fewest > size:
        raise BadSetting(
            f"{hooks.option('components', str(fewest))}: {rows.place} has {size:,} rows with a "
            f"{what}",
            hint="ask for no more clusters than there are rows",
        )
    if isinstance(components, range):
        components = range(fewest, min(components[-1], size) + 1)
    if rows.mixed or model == LATENT:
        classes = LatentClasses(components, criterion=criterion, random_state=seed)
        with hooks.progress(f"clustering {rows.place}", lambda: None, "steps"):
            classes.fit(frame_of(rows.table))
        return described_classes(rows, noted(rows, classes))
    chosen: Any = factors
    mixture = GaussianMixture(
        components, covariance, criterion=criterion, random_state=seed, factors=chosen
    )
    search = SearchProgress()
    with hooks.progress(f"clustering {rows.place}", search.share, "steps") as search.meter:
        mixture.fit(frame_of(rows.table), journey=search)
    return described_mixture(rows, noted(rows, mixture))


def _other_columns(model: str, covariance: str, factors: object, hooks: Hooks) -> bool | None:
    """Return whether columns of other kinds than numbers are clustered; None: if there are any."""
    if model not in MODELS:
        raise BadSetting(f"model={model!r} is not known", hint=f"choose one of {listed(MODELS)}")
    if model == LATENT and covariance != "auto":
        raise BadSetting(
            f"{hooks.option('covariance', covariance)} is a form of normal clusters, which "
            f"{LATENT} do not have",
            hint=f"leave it out, or ask for {hooks.option('model', 'gaussian')}",
        )
    if model == LATENT and factors is not None:
        raise BadSetting(
            f"{hooks.option('factors', str(factors))} is about normal clusters, which {LATENT} "
            "are not",
            hint=f"leave it out, or ask for {hooks.option('model', 'gaussian')}",
        )
    if model == "auto":
        return None if covariance == "auto" and factors is None else False
    return model == LATENT


class SearchProgress(Journey):
    """Shows whoever waits how many numbers and forms have been tried, and counts steps of EM."""

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


def clusters_of(
    model: Path, tables: Sequence[str], reading: TableReading, hooks: Hooks
) -> FoundClusters:
    """Read a table as a file of clusters needs it, and say how its rows fall into them.

    Of a table that is larger than memory, the first rows are looked at, and that is said.
    """
    saved = load_saved(model, hidden=True)
    if not saved.is_hidden:
        raise BadSetting(
            f"{model} is a {saved.name}: its classes have names, and it has no clusters",
            hint="suffice cluster writes clusters; about named classes, give --target",
        )
    rows = ModelRows.open(tables, saved.columns, saved.notes, reading, hooks.note)
    most = max(1, IN_MEMORY // max(1, len(rows.names)))
    held, size, whole = [], 0, True
    for chunk, _ in rows.chunks():
        held.append(Chunk(chunk, None, None, Place(rows.table.name)))
        size += chunk.size
        if size > most:
            whole = False
            break
    found = joined_chunks(held)
    there = None if found is None else with_a_cell(found.table)
    if found is None or there is None or not there.any():
        raise BadRows(
            f"{rows.table.name}: all rows are blank in the columns of {model}",
            hint="give a table with rows that the clusters are about",
        )
    blank = int((~there).sum())
    if blank:
        many = "blank row is" if blank == 1 else "blank rows are"
        hooks.note(f"{blank:,} {many} left out")
    if not whole:
        hooks.note(f"the first {size:,} rows are used: the table is large")
    table = found.table.rows(there) if blank else found.table
    mixed = any(kind != NUMBER for kind in table.kinds)
    own = NumericRows(table, rows.table.name, (), blank, whole, saved.notes.spellings, mixed)
    describe = described_mixture if saved.name == MIXTURE else described_classes
    return describe(own, saved)
