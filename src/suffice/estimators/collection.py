"""`suffice.collect`: the statistics of rows, wherever these are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.errors import NotANumber, listed
from suffice.estimators.collecting import Collecting, opened
from suffice.rows import read_labels, read_weights
from suffice.rows.cells import NUMBER

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.sources import Chunk


def collect(
    learner: Any,
    source: Any,
    target: str,
    *,
    weight: str | None = None,
    checkpoint: str | Path | None = None,
) -> Any:
    r"""Return the statistics of a source, for a learner: what `fit` makes a model of.

    learner     an estimator, or what `suffice.models` calls a learner (then columns are numbers)
    source      a path, a glob, an Arrow stream, a table of a database or of a cluster, a frame
    target      the column of labels
    weight      the column of weights
    checkpoint  where to write, every so often, what was collected

    >>> import tempfile
    >>> from pathlib import Path
    >>> from suffice import GaussianDiscriminant
    >>> place = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = place.write_text("size,kind\n1,cat\n3,cat\n9,dog\n")
    >>> collect(GaussianDiscriminant(), place, "kind").weight
    3.0
    """
    if isinstance(learner, Collecting):
        learner._check_settings()
        return learner._collected(source, target, weight, None, checkpoint).statistics
    rows, wanted = opened(source, target, weight)

    def summarize(chunk: Chunk) -> Any:
        labels = read_labels(chunk.labels)
        weights = read_weights(chunk.weights, chunk.table.size)
        if hasattr(learner, "product"):
            given = learner.product.read(chunk.table)
        else:
            given = _numbers(chunk)
        return learner.summarize(given, labels.codes, tuple(labels.classes.tolist()), weights)

    return rows.collected(summarize, wanted)


def _numbers(chunk: Chunk) -> Any:
    table = chunk.table
    if table.matrix is None:
        words = [
            name
            for name, kind in zip(table.names or (), table.kinds, strict=True)
            if kind != NUMBER
        ]
        raise NotANumber(
            f"{listed(words)} hold no numbers",
            hint="give an estimator, such as GaussianDiscriminant(): it codes categories",
        )
    return table.matrix
