"""Rows into a sample that merges, and the sample into a pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.engines.threads import pinned
from suffice.errors import BadRows, BadWeights
from suffice.models.pool.averages import LEAST
from suffice.models.pool.coding import Coding
from suffice.models.pool.combined.combination import cross_fitted_pool
from suffice.models.pool.folded_rows import FoldedRows
from suffice.models.pool.members import FALLBACK, MEMBERS
from suffice.models.pool.model import PoolModel, training_rows
from suffice.models.pool.texts import HeldTexts, JudgedBesidePool, text_places, without_texts
from suffice.rows import NUMBER
from suffice.rows.category_codes import BLANK, coded_columns
from suffice.rows.row_hashes import content_hashes, joined_hashes, label_hashes
from suffice.statistics import ByClass, Totals
from suffice.statistics.row_sample import END, MOST, RowSample, SampledRow, WithRows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray, Label, Table


@dataclass(frozen=True, eq=False)
class PoolFit:
    """A pool, members that were too dear for these rows, and what judging found.

    hashes   (n,) of the rows that were judged, ascending
    judged   (n, k), the posterior of each by members and shares that have not seen its fold
    """

    model: PoolModel
    left_out: tuple[str, ...] = ()
    notes: tuple[Any, ...] = ()
    hashes: NDArray[np.uint64] | None = None
    judged: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class PoolLearner:
    """Learns a PoolModel: summarize, then fit.

    `members` are names of `suffice.models.pool.members.MEMBERS`; None is all of them. `texts` are
    the places of columns of texts; None is those that look like it. `readings` says by place
    whether a text is read by "words" or "bytes"; of others rows that are left out decide. What is
    kept of the rows is a sample of at most 2,048, chosen by their hashes: it merges and forgets,
    and does not depend on the order in which they came.
    """

    members: tuple[str, ...] | None = None
    texts: tuple[int, ...] | None = None
    readings: Mapping[int, str] | None = None

    def summarize(
        self,
        table: Table,
        codes: IntArray,
        labels: Sequence[Label],
        weights: FloatArray | None = None,
    ) -> WithRows:
        """Return class weights and sampled rows; row i is of labels[codes[i]]."""
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights > 0.0)
            table, codes, weights = table.rows(kept), codes[kept], weights[kept]
        totals = np.bincount(codes, weights, minlength=len(labels)).astype(np.float64)
        held = ByClass(
            {
                label: Totals(float(totals[c]), np.zeros(0))
                for c, label in enumerate(labels)
                if totals[c] > 0.0
            }
        )
        return WithRows(held, _sampled(table, codes, labels, weights))

    def fit(
        self,
        statistics: WithRows,
        kinds: Sequence[str],
        progress: Callable[[str], None] | None = None,
    ) -> PoolFit:
        """Judge every member by rows it has not seen, and find their shares."""
        with pinned():  # matrices are small, and beside other work threads of BLAS wait for it
            return self._fit(statistics, kinds, progress)

    def _fit(
        self,
        statistics: WithRows,
        kinds: Sequence[str],
        progress: Callable[[str], None] | None,
    ) -> PoolFit:
        labels = statistics.labels
        if not labels:
            raise BadRows("there are no rows to learn from", hint="every row has weight zero")
        whole, codes, weights = training_rows(statistics.sample, kinds, labels)
        places = text_places(whole, self.texts) if min(len(labels), len(codes)) > 1 else ()
        table = without_texts(whole, places)
        coding = Coding.of(table, weights)
        rows = FoldedRows(coding.code(table), codes, weights, len(labels))
        totals = np.array([statistics.held.groups[label].weight for label in labels])
        names = tuple(MEMBERS) if self.members is None else self.members
        judged, left_out = {}, []
        for name in dict.fromkeys((*names, FALLBACK)):
            member = MEMBERS[name]
            if name != FALLBACK and (rows.is_alone or not member.affordable(rows)):
                left_out.append(name)
                continue
            if progress is not None:
                progress(name)
            with np.errstate(over="ignore", invalid="ignore"):  # refused below
                judged[name] = member.judge(rows)
        posteriors = np.stack([one.posterior for one in judged.values()])
        if not np.isfinite(posteriors).all():
            raise BadWeights(
                f"weights from {weights.min():g} to {weights.max():g} are too far apart, or too "
                "large: their squares are beyond all doubles",
                hint="divide all of them by a power of ten: a weight of 2 is a row that came twice",
            )
        fallback = list(judged).index(FALLBACK)
        combined, posterior = cross_fitted_pool(posteriors, codes, weights, rows.folds, fallback)
        beside = None
        if places:
            held = HeldTexts.of(whole, places)
            ways = held.ways([(self.readings or {}).get(place) for place in places], len(labels))
            judging = JudgedBesidePool(held, posterior, codes, weights, rows.folds, ways)
            beside, posterior = judging.weighed(places)
        at = np.arange(len(rows))
        # What is certain may be a rounding beyond 1, and no loss is below 0.
        losses = -np.log(np.clip(posteriors[:, at, codes], LEAST, 1.0)) @ weights / weights.sum()
        loss = -np.log(np.clip(posterior[at, codes], LEAST, 1.0)) @ weights / weights.sum()
        right = (posterior.argmax(axis=1) == codes) @ weights / weights.sum()
        model = PoolModel(
            labels,
            totals,
            tuple(kinds),
            tuple(judged),
            combined.shares,
            tuple(one.grid for one in judged.values()),
            losses,
            float(loss),
            float(right),
            sample=statistics.sample,
            texts=beside,
            exponents=combined.exponents,
            offsets=combined.offsets,
            product=combined.product,
        )
        ready = {name: one.answer for name, one in judged.items() if one.answer is not None}
        known = model.knowing(coding, rows, ready)
        hashes = np.array(sorted(statistics.sample.rows), dtype=np.uint64)
        return PoolFit(known, () if rows.is_alone else tuple(left_out), (), hashes, posterior)


class _HashedCells(NamedTuple):
    """Rows of a table by kind of column, and the hash of each row with its label.

    numbers, others   which columns hold numbers, and which do not
    cells, coded      what they hold
    hashes            (n,)
    """

    numbers: list[int]
    others: list[int]
    cells: FloatArray
    coded: Any
    hashes: NDArray[np.uint64]

    @classmethod
    def of(cls, table: Table, codes: IntArray, labels: Sequence[Label]) -> _HashedCells:
        """Read a table; row i is of labels[codes[i]]."""
        numbers = [j for j, kind in enumerate(table.kinds) if kind == NUMBER]
        others = [j for j, kind in enumerate(table.kinds) if kind != NUMBER]
        cells = np.empty((table.size, len(numbers)))
        for place, j in enumerate(numbers):
            cells[:, place] = table.column(j)
        cells += 0.0  # -0.0 has the hash of 0.0, and becomes it
        coded = coded_columns(table, others)
        parts = [content_hashes(cells, numbers), label_hashes(labels)[codes]]
        if others:
            parts.append(content_hashes(coded, others))
        return cls(numbers, others, cells, coded, joined_hashes(parts))


def row_hashes(table: Table, codes: IntArray, labels: Sequence[Label]) -> NDArray[np.uint64]:
    """Return what a sample knows its rows by (n,): their cells, and labels[codes[i]]."""
    return _HashedCells.of(table, codes, labels).hashes


def _sampled(
    table: Table, codes: IntArray, labels: Sequence[Label], weights: FloatArray | None
) -> RowSample:
    """Return the rows with the smallest hashes; rows that say the same are one."""
    numbers, others, cells, coded, hashes = _HashedCells.of(table, codes, labels)
    kinds, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    totals = np.bincount(inverse, weights)
    limit = END if len(kinds) <= MOST else int(kinds[MOST])
    order = np.argsort([*numbers, *others], kind="stable")
    rows = {}
    for place, row in enumerate(first[:MOST].tolist()):
        levels = tuple(
            None if code == BLANK else known[code]
            for code, known in zip(coded.codes[row].tolist(), coded.levels, strict=True)
        )
        found = (*cells[row].tolist(), *levels)
        rows[int(kinds[place])] = SampledRow(
            tuple(found[j] for j in order), labels[codes[row]], float(totals[place])
        )
    return RowSample(rows, limit)
