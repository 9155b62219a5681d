"""From a table to its clusters: what `suffice cluster` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.errors import BadRows, BadSetting, listed
from suffice.sources.arrow_frames import frame_of
from suffice.training.clusters.found_clusters import noted
from suffice.training.clusters.latent_clusters import described_classes
from suffice.training.clusters.normal_clusters import described_mixture
from suffice.training.clusters.numeric_rows import NumericRows
from suffice.training.clusters.search_progress import SearchProgress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.estimators.setting_types import Criterion
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
    covariance, criterion
        As `GaussianMixture` takes them.

    """
    from suffice.estimators.mixtures.gaussian_mixture import GaussianMixture
    from suffice.estimators.mixtures.latent_classes import LatentClasses

    rows = NumericRows.read(
        data, reading, drop, hooks, seed=seed, others=_other_columns(model, covariance, hooks)
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
    mixture = GaussianMixture(components, covariance, criterion=criterion, random_state=seed)
    search = SearchProgress()
    with hooks.progress(f"clustering {rows.place}", search.share, "steps") as search.meter:
        mixture.fit(frame_of(rows.table), journey=search)
    return described_mixture(rows, noted(rows, mixture))


def _other_columns(model: str, covariance: str, hooks: Hooks) -> bool | None:
    """Return whether columns of other kinds than numbers are clustered; None: if there are any."""
    if model not in MODELS:
        raise BadSetting(f"model={model!r} is not known", hint=f"choose one of {listed(MODELS)}")
    if model == LATENT and covariance != "auto":
        raise BadSetting(
            f"{hooks.option('covariance', covariance)} is a form of normal clusters, which "
            f"{LATENT} do not have",
            hint=f"leave it out, or ask for {hooks.option('model', 'gaussian')}",
        )
    if model == "auto":
        return None if covariance == "auto" else False
    return model == LATENT
