"""A sample of the rows themselves: small, mergeable, the same in whatever order they come."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from suffice.errors import ForgettingUnseen
from suffice.statistics.algebra import checked_factor, refuse_excess
from suffice.statistics.by_class import ByClass
from suffice.statistics.by_pattern import ByPattern
from suffice.statistics.folds import Folds
from suffice.statistics.labels import read_label, written_label
from suffice.statistics.moments.what_is_left import remaining

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.rows import FloatArray, Label
    from suffice.statistics.algebra import Array


MOST = 2048
"""Rows that are kept: enough to fit one number to."""
FEW = MOST // 8
"""Rows below which a number that is fitted to them is uncertain by more than a tenth or so."""
END = 2**64
"""Beyond every hash of 64 bits: the limit of a sample that holds all rows."""


class SampledRow(NamedTuple):
    """The cells of one row, group by group, its label, and how often it was seen."""

    cells: tuple[Any, ...]
    label: Label
    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class RowSample:
    """The rows with the smallest hashes, all below `limit`; rows that say the same are one.

    A row is in the sample if and only if its hash lies below the limit, which falls as rows
    come. It does not rise again: rows beyond it are not kept, and among rows that are learned
    later they would be missing, so that the sample would lean towards what came last. So a sample
    stays one row in so many, with equal chances for all: what was forgotten leaves its place empty,
    and rows that are learned later fill it at the same rate. Once everything is forgotten it
    begins anew.
    """

    rows: Mapping[int, SampledRow]
    limit: int = END

    @property
    def is_small(self) -> bool:
        """Whether forgetting has left few rows, of more that are still learned."""
        return self.limit < END and len(self.rows) < FEW

    @property
    def weight(self) -> float:
        """The weight of the rows in the sample."""
        return float(sum(row.weight for row in self.rows.values()))

    def __add__(self, other: Self) -> Self:
        """Merge, and keep the smallest hashes."""
        limit = min(self.limit, other.limit)
        rows = {h: row for h, row in self.rows.items() if h < limit}
        for h, row in other.rows.items():
            if h < limit:
                held = rows.get(h)
                rows[h] = row if held is None else held._replace(weight=held.weight + row.weight)
        return type(self)(rows, limit).cut()

    def cut(self, most: int | None = None) -> Self:
        """Return the sample without the rows that are too many, as a rule beyond `MOST`."""
        most = MOST if most is None else most
        if len(self.rows) <= most:
            return self
        kept = sorted(self.rows)
        return type(self)({h: self.rows[h] for h in kept[:most]}, kept[most])

    def __sub__(self, other: Self) -> Self:
        """Forget: rows below the limit are here, others never were."""
        rows = dict(self.rows)
        for h, row in other.rows.items():
            if h >= self.limit:
                continue
            if h not in rows:
                raise ForgettingUnseen.of(0.0, row.weight, f"a row of class {row.label!r}")
            left = remaining(rows[h].weight, row.weight)
            if left > 0.0:
                rows[h] = rows[h]._replace(weight=left)
            else:
                del rows[h]
        return type(self)(rows, self.limit)

    def refuse_excess(self, weights: Mapping[Label, float]) -> None:
        """Refuse to have more rows of a class than were learned, by the weights of all classes."""
        held: dict[Label, float] = {}
        for row in self.rows.values():
            held[row.label] = held.get(row.label, 0.0) + row.weight
        labels = list(held)
        refuse_excess(
            np.array(list(held.values())),
            np.array([weights.get(label, 0.0) for label in labels]),
            "with fewer rows than are kept of it",
            lambda place: f"class {labels[place]!r}",
        )

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        f = checked_factor(factor)
        if f == 0.0:
            return type(self)({})
        rows = {h: row._replace(weight=row.weight * f) for h, row in self.rows.items()}
        return type(self)(rows, self.limit)

    def to_arrays(self) -> dict[str, Array]:
        """Return the whole state as plain arrays; cells and labels as the bytes of a JSON text."""
        order = sorted(self.rows)
        content = [[_written(self.rows[h].cells), written_label(self.rows[h].label)] for h in order]
        text = json.dumps(content, ensure_ascii=True).encode("ascii")
        return {
            "hashes": np.array(order, dtype=np.uint64),
            "limit": np.array([self.limit >> 32, self.limit & 0xFFFFFFFF], dtype=np.uint64),
            "rows": np.frombuffer(text, dtype=np.uint8),
            "weights": np.array([self.rows[h].weight for h in order], dtype=np.float64),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Self:
        """Return what `to_arrays` was called on."""
        content = json.loads(np.asarray(arrays["rows"], dtype=np.uint8).tobytes())
        held = zip(arrays["hashes"].tolist(), content, arrays["weights"].tolist(), strict=True)
        rows = {
            h: SampledRow(_tuples(cells), read_label(label), w) for h, (cells, label), w in held
        }
        high, low = (int(part) for part in arrays["limit"])
        return cls(rows, (high << 32) | low)


def _written(cells: object) -> object:
    """Return cells as JSON holds them: tuples of numbers as lists, levels as labels are written."""
    if type(cells) is tuple:
        plain = set(map(type, cells)) <= {float, int, str, bool, type(None)}
        return list(cells) if plain else [_written(cell) for cell in cells]
    return (
        cells if cells is None or type(cells) in (float, int, str, bool) else written_label(cells)
    )


def _tuples(cells: object) -> Any:
    if isinstance(cells, list):
        plain = not {list, dict} & set(map(type, cells))  # most are, and there may be many
        return tuple(cells) if plain else tuple(map(_tuples, cells))
    return read_label(cells) if isinstance(cells, dict) else cells


@dataclass(frozen=True, slots=True, eq=False)
class WithRows:
    """For what cannot be read off sums alone, such as a temperature."""

    held: Any
    """What the sums are: ByClass, ByPattern, or Folds."""
    sample: RowSample

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels seen, in order."""
        return tuple(self.held.labels)

    @property
    def weight(self) -> float:
        """How many rows were summarized, each counted with its weight."""
        return float(self.held.weight)

    @property
    def lost(self) -> FloatArray:
        """Per column, the largest possible relative error of any class's variance."""
        losses: FloatArray = self.held.lost
        return losses

    def __add__(self, other: Self) -> Self:
        """Merge both."""
        return type(self)(self.held + other.held, self.sample + other.sample)

    def __sub__(self, other: Self) -> Self:
        """Forget in both; once nothing is left, the sample begins anew."""
        held, sample = self.held - other.held, self.sample - other.sample
        return type(self)(held, sample if held.weight > 0.0 else RowSample({}))

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        return type(self)(self.held.scaled(factor), self.sample.scaled(factor))

    def to_arrays(self) -> dict[str, Array]:
        """Return the whole state as plain arrays."""
        return {f"held/{name}": value for name, value in self.held.to_arrays().items()} | {
            f"sample/{name}": value for name, value in self.sample.to_arrays().items()
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Self:
        """Return what `to_arrays` was called on."""
        held, sample = (
            {n.removeprefix(start): v for n, v in arrays.items() if n.startswith(start)}
            for start in ("held/", "sample/")
        )
        kind: Any = Folds if "folds" in held else ByPattern if "patterns" in held else ByClass
        return cls(kind.from_arrays(held), RowSample.from_arrays(sample))
