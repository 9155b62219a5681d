"""The pool: members that answer, and the share that each has in the answer."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.engines.threads import in_order, pinned
from suffice.models.pool.coding import Coding
from suffice.models.pool.combined.combination import Combination
from suffice.models.pool.folded_rows import FoldedRows
from suffice.models.pool.members import FALLBACK, MEMBERS
from suffice.models.pool.texts import HeldTexts, PoolTexts, without_texts
from suffice.rows import NUMBER
from suffice.rows.tables import table_of_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.pool.member import Answer
    from suffice.models.pool.texts import TextsBeside
    from suffice.rows import FloatArray, IntArray, Label, Table
    from suffice.statistics.row_sample import RowSample

BLOCK = 1 << 21
"""Numbers (rows × columns × classes) that are in memory at a time when rows are answered: 16 MB,
in a few copies."""
FEWEST_AT_ONCE, MOST_AT_ONCE = 64, 4096
"""Rows that are answered at a time: trees and kernels of 4,096 rows stay in a processor's cache."""
RECIPE = 1
"""How members learn from the rows of a file. It rises when the same file would answer otherwise;
files of other recipes are refused. A new member, or another way to find shares, changes no file:
names, grids and shares stand in it."""
MOST_EXPONENT, LEAST_WEIGHT = 400, 1e-200
"""Powers of two beyond which weights (2.6e120) come in a smaller unit: sums of 2,048 of them, by
which members divide, can still be squared. No weight becomes zero by that."""


def training_rows(
    sample: RowSample, kinds: Sequence[str], labels: Sequence[Label]
) -> tuple[Table, IntArray, FloatArray]:
    """Return sampled rows as a table, their classes and weights, in the order of their hashes.

    Weights that are far too large to be squared come all in a smaller unit: what a pool knows
    beforehand counts for nothing beside either.
    """
    held = [sample.rows[h] for h in sorted(sample.rows)]
    place = {label: code for code, label in enumerate(labels)}
    columns = []
    for j, kind in enumerate(kinds):
        cells = [row.cells[j] for row in held]
        if kind == NUMBER:
            columns.append((kind, np.array(cells, dtype=np.float64)))
        else:
            objects = np.empty(len(cells), dtype=object)
            objects[:] = cells
            columns.append((kind, objects))
    codes = np.array([place[row.label] for row in held], dtype=np.intp)
    weights = np.array([row.weight for row in held])
    exponent = int(np.frexp(weights.max(initial=0.0))[1])
    if exponent > MOST_EXPONENT:
        weights = np.maximum(np.ldexp(weights, MOST_EXPONENT - exponent), LEAST_WEIGHT)
    return table_of_columns(columns, None, None), codes, weights


@dataclass(frozen=True, eq=False)
class PoolModel:
    """p(y | x) = (1 - u) Σ v_m p_m + u · ∝ e^b Π p_m^a_m: decisions, and the rows they are about.

    labels, weights  the classes, and the weight of each in all rows that were learned
    kinds            "number", "boolean" or "category", one a column
    members, shares  names, and v; each member has a grid of settings that it averages over
    grids            the shares of those settings, one array a member
    log_losses       judged, in nats a row, one a member
    log_loss, accuracy   judged, of the pool itself; shares found without the judged fold
    recipe           see RECIPE
    sample           the rows; None in a file, where they stand beside it
    texts            columns of texts, which no member reads; None where there are none
    exponents, offsets   a, one a member, and b; None in older files, whose answer is the sum alone
    product          u
    """

    labels: tuple[Label, ...]
    weights: FloatArray
    kinds: tuple[str, ...]
    members: tuple[str, ...]
    shares: FloatArray
    grids: tuple[FloatArray, ...]
    log_losses: FloatArray
    log_loss: float
    accuracy: float
    recipe: int = RECIPE
    sample: RowSample | None = None
    texts: TextsBeside | None = field(default=None, metadata={"later": True})
    exponents: FloatArray | None = field(default=None, metadata={"later": True})
    offsets: FloatArray | None = field(default=None, metadata={"later": True})
    product: float = field(default=0.0, metadata={"later": True})

    @property
    def text_places(self) -> tuple[int, ...]:
        """Which columns are read as texts."""
        return () if self.texts is None else self.texts.places

    @property
    def log_priors(self) -> FloatArray:
        """Log shares of the classes in all rows (k,)."""
        found: FloatArray = np.log(self.weights / self.weights.sum())
        return found

    @cached_property
    def _coded(self) -> tuple[Coding, FoldedRows]:
        assert self.sample is not None
        table, codes, weights = training_rows(self.sample, self.kinds, self.labels)
        table = without_texts(table, self.text_places)
        coding = Coding.of(table, weights)
        return coding, FoldedRows(coding.code(table), codes, weights, len(self.labels))

    @cached_property
    def words(self) -> PoolTexts | None:
        """What the words of texts say; they are learned again from the rows."""
        if self.texts is None:
            return None
        assert self.sample is not None
        table, codes, weights = training_rows(self.sample, self.kinds, self.labels)
        held = HeldTexts.of(table, self.text_places)
        return PoolTexts.learned(self.texts, held, codes, len(self.labels), weights)

    def strange_member(self) -> str | None:
        """Return a member that these rows do not allow, or whose grid is of other settings."""
        rows = self._coded[1]
        for name, grid in zip(self.members, self.grids, strict=True):
            member = MEMBERS[name]
            if name != FALLBACK and (rows.is_alone or not member.affordable(rows)):
                return name
            if len(grid) != member.settings(rows):
                return name
        return None

    @property
    def all_exponents(self) -> FloatArray:
        """The exponents of the members; 0 where there is the sum alone."""
        return np.zeros(len(self.members)) if self.exponents is None else self.exponents

    @property
    def combination(self) -> Combination:
        """How members are put together."""
        return Combination(self.shares, self.exponents, self.offsets, self.product)

    @cached_property
    def _answers(self) -> dict[str, Answer]:
        """The members that answer; each learns again from the rows."""
        ready = self._ready
        found = {}
        for place in self.combination.answering.tolist():
            name = self.members[place]
            with pinned():
                answer = ready.get(name) or MEMBERS[name].ready(self._coded[1], self.grids[place])
            found[name] = answer
        return found

    @cached_property
    def _ready(self) -> dict[str, Answer]:
        """Members that judging has made ready; after reading a file there are none."""
        return {}

    def knowing(self, coding: Coding, rows: FoldedRows, ready: dict[str, Answer]) -> PoolModel:
        """Keep what learning has made anyway, so that the first answer need not make it again."""
        self.__dict__.update(_coded=(coding, rows.without_folds()), _ready=ready)
        return self

    def posteriors(self, table: Table) -> dict[str, FloatArray]:
        """Return what each member that answers says: posteriors (n, k), by name; not of texts."""
        return {name: self._posterior(table, [answer], Combination(np.ones(1)))
                for name, answer in self._answers.items()}  # fmt: skip

    def posterior(self, table: Table, *, log: bool = False) -> FloatArray:
        """Return p(y | x) of rows (n, d), one column a class, or its logarithm."""
        found = self._posterior(table, list(self._answers.values()), self.combination)
        if self.words is not None:
            found = self.words.posterior(table, found)
        return np.log(np.maximum(found, np.finfo(np.float64).tiny)) if log else found

    def _posterior(
        self, table: Table, answers: Sequence[Answer], combination: Combination
    ) -> FloatArray:
        coding, training = self._coded
        table = without_texts(table, self.text_places)
        found = np.zeros((table.size, len(self.labels)))
        step = BLOCK // max(1, training.rows.width * len(self.labels))
        step = max(FEWEST_AT_ONCE, min(MOST_AT_ONCE, step))

        def answer_some(some: slice) -> None:
            new = training.new(coding.code(table.rows(some)))
            found[some] = combination.posterior([answer(new) for answer in answers])

        blocks = (slice(start, start + step) for start in range(0, table.size, step))
        with pinned():
            deque(in_order(answer_some, blocks), maxlen=0)
        found /= found.sum(axis=1, keepdims=True)
        return found

    def codes(self, table: Table) -> IntArray:
        """Return the place of the likeliest class of each row."""
        found: IntArray = self.posterior(table).argmax(axis=1)
        return found

    def chosen(self, table: Table, classes: NDArray[np.generic]) -> NDArray[Any]:
        """Return the likeliest class of each row."""
        found: NDArray[np.generic] = classes[self.posterior(table).argmax(axis=1)]
        return found
