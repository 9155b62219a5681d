"""Learning from rows that are somewhere else: one collect, wherever they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.engines.parts import Progress
from suffice.errors import BadLabels, BadSetting, NotANumber, listed
from suffice.learning.frames import split_off
from suffice.learning.label_types import label_kind
from suffice.learning.learner import F, Learner, S
from suffice.rows import read_labels, read_weights
from suffice.rows.cells import NUMBER

if TYPE_CHECKING:
    from suffice.learning.learned import Learned
    from suffice.sources import Chunk, Source, Wanted


SAMPLE = 200_000
"""Rows from all over a source by which settings are chosen from the data."""

MOST_CELLS = 1 << 22
"""Cells of a source that are held at once rather than read again for every step."""


def is_elsewhere(X: object, y: object) -> bool:
    """Whether rows are not here: paths, streams, tables of databases and of clusters."""
    if type(X) is np.ndarray or y is not None:
        return False
    from suffice.sources import is_source

    return is_source(X)


def frame_here(
    X: object, target: str | None, weight: object
) -> tuple[object, object, object] | None:
    """Return rows, labels and weights of a frame in memory that names its target; None for others.

    What is here is learned as it is, and not in chunks.
    """
    if target is None or isinstance(X, (str, Path)):
        return None
    named = weight if isinstance(weight, str) else None
    found = split_off(X, (target, named))
    if found is None:
        return None
    rows, (labels, weights) = found
    return rows, labels, weight if named is None else weights


def spooled(source: Source, wanted: Wanted) -> Source:
    """Return rows that come only once as rows that can be read again."""
    from suffice.sources.arrow_streams import spooled as set_aside

    return set_aside(source, wanted)


def learned_from(
    learner: Learner[S, F],
    X: object,
    target: str | None,
    sample_weight: object,
    known: Learned[S, F] | None = None,
    checkpoint: str | Path | None = None,
) -> Learned[S, F]:
    """Return what is known after the rows of a source: each chunk is learned, and all add up."""
    source, wanted = opened(X, target, sample_weight)
    if not learner.adds_up:
        if checkpoint is not None:
            raise BadSetting(
                f"{learner.name} reads its rows again for every step: there is no checkpoint of it",
                hint="leave checkpoint out; models built from sums can have one: "
                "GaussianDiscriminant, "
                "NaiveBayes",
            )
        return learner.searched(source, wanted)
    if known is not None:
        learner = learner.deciding(known.learner.chosen)
    if checkpoint is not None:
        found = _resumed(learner, source, wanted, known, checkpoint)
    else:
        if source.once and known is None and learner.needs_choice:
            source = spooled(source, wanted)
        learner = _decided(learner, source, wanted) if known is None else learner
        summarize = LearnChunk(learner)
        added = _added_up(source, wanted, summarize)
        found = source.collected(summarize, wanted) if added is None else added
    return found if known is None else known.under(learner) + found


def _resumed(
    learner: Learner[S, F],
    source: Source,
    wanted: Wanted,
    known: Learned[S, F] | None,
    path: str | Path,
) -> Learned[S, F]:
    """Return what is learned from a source, from where an earlier run was ended."""
    from suffice.learning.checkpoints import Checkpoint

    held = Checkpoint.of(path, learner, source, wanted)
    progress = held.read()
    if progress is None:
        if known is None:
            held.learner = _decided(learner, source, wanted)
        progress = Progress()
    summarize = LearnChunk(held.learner)
    found: Learned[S, F] = held.source.collected(summarize, wanted, progress, held.write_if_due)
    held.write(progress)
    return found


def _added_up(source: Source, wanted: Wanted, summarize: LearnChunk) -> Any:
    """Return what is learned from sums that the source makes itself; None where rows must be read.

    Rows that it cannot add up are read, and join the others.
    """
    from suffice.sources.source import AddsUp
    from suffice.sql.asked import sums_asked

    learner = summarize.learner
    undecided = learner.chosen is None and learner.needs_choice
    if undecided or not isinstance(source, AddsUp):
        return None
    keeps = getattr(learner, "calibration_rows", None)  # some rows: a database has to send them
    asked = None if keeps else sums_asked(learner.of_model())
    found = None if asked is None else source.sums(asked, wanted, summarize)
    if found is None:
        return None
    learned = None
    if found.classes is not None:
        kind = label_kind(found.classes)
        learned = learner.keeping(found.columns, found.statistics, found.classes.dtype, kind)
    if found.rest is None:
        return learned
    rest = found.rest.collected(summarize, wanted)
    return rest if learned is None else learned + rest


def _decided(learner: Learner[S, F], source: Source, wanted: Wanted) -> Learner[S, F]:
    """Return the learner with what is decided by some rows from all over the source."""
    some = source.some(wanted, SAMPLE) if learner.needs_choice else None
    return (
        learner
        if some is None
        else learner.choose(learner.read(some.table, some.labels, some.weights))
    )


@dataclass(frozen=True, slots=True, eq=False)
class LearnChunk:
    """From a chunk to what is learned from it: a function that can travel."""

    learner: Learner

    def __call__(self, chunk: Chunk) -> Learned:
        """Return what is learned from one chunk."""
        return self.learner.learned(self.learner.read(chunk.table, chunk.labels, chunk.weights))


def rows_that_fit(source: Source, wanted: Wanted) -> Chunk | None:
    """Return all rows of a source that this process reads itself, if they are few enough."""
    from suffice.sources.local import LocalSource

    most = MOST_CELLS // len(wanted.all)
    if not isinstance(source, LocalSource) or (source.size or 0) > most:
        return None
    some = source.some(wanted, most)
    if some is None or some.table.size > most:
        return None
    return some


def opened(X: object, target: str | None, weight: object) -> tuple[Source, Wanted]:
    """Return the source of rows, and which of its columns are read."""
    from suffice.sources import open_source

    if target is None:
        raise BadLabels(
            "a classifier requires y to be passed, and no target is named",
            hint='name the column of labels: fit(source, target="y")',
        )
    if weight is not None and not isinstance(weight, str):
        raise BadSetting(
            "the weights of a source must be one of its columns",
            hint='name it: sample_weight="weight"',
        )
    source = open_source(X)
    return source, source.wanted(target, weight)


def collect(
    learner: Learner,
    source: object,
    target: str,
    *,
    weight: str | None = None,
    checkpoint: str | Path | None = None,
) -> object:
    r"""Return the statistics of a source, for a learner: what `fit` makes a model of.

    Parameters
    ----------
    learner : estimator or learner
        An estimator, or what `suffice.models` calls a learner (then columns are numbers).
    source : path, frame, stream or table
        A path, a glob, an Arrow stream, a table of a database or of a cluster, a frame.
    target : str
        The column of labels.
    weight : str, optional
        The column of weights.
    checkpoint : str or Path, optional
        Where to write, every so often, what was collected.

    Returns
    -------
    Statistics
        What the rows said; of the kind that the learner adds up.

    See Also
    --------
    load : Read a model from its file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from suffice import GaussianDiscriminant
    >>> place = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = place.write_text("size,kind\n1,cat\n3,cat\n9,dog\n")
    >>> collect(GaussianDiscriminant(), place, "kind").weight
    3.0
    """
    if hasattr(learner, "as_learner"):  # an estimator
        learner = learner.as_learner()
    if isinstance(learner, Learner):
        if not learner.adds_up:
            raise learner.lacking("statistics")
        return learned_from(learner, source, target, weight, None, checkpoint).statistics
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


def _numbers(chunk: Chunk) -> object:
    table = chunk.table
    if table.matrix is None:
        words = [
            name
            for name, kind in zip(table.names or (), table.kinds, strict=True)
            if kind != NUMBER
        ]
        raise NotANumber(
            f"{listed(words)} are not numeric",
            hint="give an estimator, such as GaussianDiscriminant(): it codes categories",
        )
    return table.matrix
