"""How hidden classes learn: rows of every kind, here or elsewhere, read for EM."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from suffice.errors import BadRows, BadSetting, SufficeError, listed
from suffice.learning.frames import frame_library
from suffice.learning.learners.naive_bayes import NaiveBayesClassifierLearner
from suffice.models.latent.maximization import HiddenClasses, is_known
from suffice.models.latent.rows import DistinctRows, LatentRows, with_a_cell
from suffice.models.naive_bayes.families_by_looks import SELECT
from suffice.models.naive_bayes.smoothing import checked_smoothing
from suffice.rows import read_weights
from suffice.statistics import ByClass

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.columns import Columns
    from suffice.learning.labelled_batch import LabelledBatch
    from suffice.learning.learned import Learned
    from suffice.learning.learners.naive_bayes_answers import LearnedColumns
    from suffice.models.latent.sums import LatentSums
    from suffice.models.naive_bayes.column_blocks import Blocks
    from suffice.models.naive_bayes.learner import NaiveBayesFit
    from suffice.rows import FloatArray, IntArray, Table
    from suffice.sources import Chunk, Source, Wanted

SAMPLE = 50_000
"""Rows from all over a source by which families are chosen, and where EM begins."""
NUMBERS = np.dtype(np.int64)
"""The type of the numbers that classes are called by."""


@dataclass(frozen=True)
class LatentClassesLearner(NaiveBayesClassifierLearner):
    """Reads rows whose classes are hidden, and makes a model of the statistics of these.

    `priors`, where given, are shares that do not follow from rows: of classes of which something
    is known already.
    """

    name: ClassVar[str] = "LatentClasses"

    def check(self) -> None:
        """Refuse settings that have no meaning."""
        if isinstance(self.families, str) and self.families == SELECT:
            raise BadSetting(
                'families="select" needs labels, and there are none',
                hint='"auto" looks at the columns; {column: family} names them',
            )
        if isinstance(checked_smoothing(self.smoothing), str):
            raise BadSetting(
                f"smoothing={self.smoothing!r} needs labels, and there are none",
                hint="use a number of at least 0: 1 is Laplace's rule, 0 maximum likelihood",
            )
        super().check()

    def of_model(self) -> Any:
        """Return families, smoothing and shares as `suffice.models` has them."""
        return HiddenClasses(self.chosen.product, float(self.smoothing), self.priors)

    def choose(self, batch: LabelledBatch) -> Self:
        """Decide on the family of every column; those without a maximum to climb are refused."""
        found = super().choose(batch)
        product = found.chosen.product
        names = batch.columns.names
        pairs = zip(product.families, product.columns, strict=True)
        strange = {f.name: [names[j] for j in g] for f, g in pairs if not is_known(f)}
        for family, columns in strange.items():
            raise BadSetting(
                f"{listed(columns)}: latent classes cannot have columns of family {family!r}",
                hint="use gaussian, shared-gaussian, lognormal, poisson, categorical, bernoulli, "
                "binned or multinomial",
            )
        return found

    def estimate(self, learned: Learned) -> NaiveBayesFit:
        """Return what the statistics of hidden classes become."""
        hidden: HiddenClasses = self.of_model()
        return hidden.fit(learned.statistics)

    def of_classes(
        self, columns: Columns, statistics: ByClass[Any], frame: str | None
    ) -> LearnedColumns:
        """Return the statistics of classes, which are numbered, as what was learned."""
        return self.keeping(columns, statistics, NUMBERS, "integers", frame)

    # Rows here

    def read_rows(
        self, X: object, sample_weight: object = None, known: LearnedColumns | None = None
    ) -> ReadRows:
        """Read rows without labels; those of weight zero are not looked at."""
        table = self.opened(X)
        weights = read_weights(sample_weight, table.size)
        kept = None
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            table, weights = table.rows(kept), weights[kept]
        batch = self.read(table, np.zeros(table.size, dtype=np.intp), weights, known)
        try:
            learner = self if self.chosen is not None else self.choose(batch)
            blocks = learner.blocks_of(batch.rows)
            names = batch.columns.names if batch.columns.named else None
            # Whatever is wrong with a cell is said here, by name and place.
            learner.chosen.product.summarize(blocks, batch.codes, (0,), weights, names)
        except SufficeError as error:
            raise error.filled(rows=kept) from None
        found = DistinctRows.of(learner.chosen.product, blocks, weights)
        if not len(found.rows):
            raise BadRows("all cells are blank", hint="give rows that are not blank")
        given = batch.rows.size if kept is None else len(weights_given(sample_weight))
        return ReadRows(learner, batch.columns, found, frame_library(X), kept, given)

    def with_shares(self, shares: dict[object, float]) -> Self:
        """Return the learner of classes that have other shares than their rows."""
        return replace(self, priors=shares)

    def blocks_of(self, table: Table) -> Blocks:
        """Return rows cut by family."""
        blocks: Blocks = self.chosen.product.read(table)
        return blocks


@dataclass(frozen=True, slots=True, eq=False)
class ReadRows:
    """Rows that were read: the learner with its families, the columns, and what EM goes through.

    kept   places of the rows with a weight among those given; None: all
    """

    learner: LatentClassesLearner
    columns: Any
    distinct: DistinctRows
    frame: str | None
    kept: IntArray | None
    given: int
    """How many rows were given."""

    @property
    def size(self) -> int:
        """How many rows have a cell and a weight."""
        return len(self.distinct.order)

    @property
    def rows(self) -> LatentRows:
        """Each content once."""
        return self.distinct.rows

    def shares(self, given: FloatArray) -> FloatArray:
        """Return p(class | row) of what EM goes through, from that of all rows given."""
        return self.distinct.shares(given if self.kept is None else given[self.kept])


def weights_given(sample_weight: object) -> Any:
    """Return weights as an array."""
    return np.asarray(sample_weight)


# Rows elsewhere


@dataclass(frozen=True, slots=True, eq=False)
class LatentChunk:
    """From a chunk of a source to what its rows come to: a function that can travel."""

    known: LearnedColumns
    summarize: Callable[[LatentRows], LatentSums]

    def __call__(self, chunk: Chunk) -> LatentSums:
        """Return what one chunk comes to."""
        learner: Any = self.known.learner
        weights = read_weights(chunk.weights, chunk.table.size)
        codes = np.zeros(chunk.table.size, dtype=np.intp)
        table = learner.read(chunk.table, codes, None, self.known).rows
        blocks = learner.blocks_of(table)
        learner.chosen.product.summarize(blocks, codes, (0,), weights_or_ones(weights))
        there = with_a_cell(blocks)
        if weights is not None:
            there &= weights > 0.0
        if not there.all():
            kept = np.flatnonzero(there)
            blocks = blocks.take(kept)
            weights = None if weights is None else weights[kept]
        return self.summarize(LatentRows.of(blocks, weights))


def weights_or_ones(weights: FloatArray | None) -> FloatArray | None:
    """Return weights of which none is zero: a row of no weight is looked at all the same."""
    return None if weights is None else np.where(weights > 0.0, weights, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class LatentSourceRows:
    """Rows of a source: one collect a step."""

    source: Source
    wanted: Wanted
    known: LearnedColumns

    def collect(self, summarize: Callable[[LatentRows], LatentSums]) -> LatentSums:
        """Return what all rows come to."""
        found: LatentSums = self.source.collected(LatentChunk(self.known, summarize), self.wanted)
        return found


def read_source(
    learner: LatentClassesLearner, X: object, weight: object
) -> tuple[ReadRows, LatentSourceRows | None]:
    """Return some rows of a source and all of them; None instead of all where those fit in memory.

    The weights of a source are one of its columns.
    """
    from suffice.learning.collect import rows_that_fit, spooled
    from suffice.sources import open_source

    if weight is not None and not isinstance(weight, str):
        raise BadSetting(
            "the weights of a source must be one of its columns",
            hint='name it: sample_weight="weight"',
        )
    source = open_source(X)
    wanted = source.wanted(None, weight)
    if source.once:
        source = spooled(source, wanted)
    here = rows_that_fit(source, wanted)
    some = here if here is not None else source.some(wanted, SAMPLE)
    if some is None or not some.table.size:
        raise BadRows(f"{source.name} has no rows", hint="there is nothing to learn from")
    try:
        read = learner.read_rows(some.table, some.weights)
    except SufficeError as error:
        raise error.at(some.place) from None
    if here is not None:
        return read, None
    known = read.learner.of_classes(read.columns, ByClass({}), read.frame)
    return replace(read), LatentSourceRows(source, wanted, known)
