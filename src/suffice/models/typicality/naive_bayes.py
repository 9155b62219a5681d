"""How typical a row is of each class of independent columns: a p-value at any number of rows.

Every column has a part g in a sum, and the law of that part has no unknowns: Student's for normal
columns, and for counted ones the law given the counts of class and row together. The p-value is
the tail of the sum. Only multinomial rows are compared with draws.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from suffice.errors import BadSetting
from suffice.models.naive_bayes.asked_of_families import (
    CommonEvidence,
    LevelEvidence,
    NormalEvidence,
    SumEvidence,
    WordEvidence,
)
from suffice.models.typicality.column_laws import (
    ClassColumns,
    Pivots,
    constant_atoms,
    count_atoms,
    mass_atoms,
    say_unknown,
    tally_atoms,
    unknown_classes,
)
from suffice.models.typicality.lattice_sums import Atoms, Continuous, Part, Ranked, lattice_tails
from suffice.models.typicality.normal_sums import tails_of_rows
from suffice.models.typicality.words import DRAWS, Words
from suffice.rows.sparse import SparseRows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from suffice.models.naive_bayes.column_blocks import Blocks
    from suffice.models.naive_bayes.learner import NaiveBayesFit
    from suffice.rows import FloatArray, IntArray

CELLS = 4_000_000
"""Cells that are judged at once (32 MB); more are judged in parts. A choice."""
MOST_FREEDOMS = 60
"""Different degrees of freedom among the normal columns of mixed rows, at most. A choice."""


@dataclass(slots=True)
class Said:
    """What the groups of columns say of rows under one class; `known` (n,) is whether they can."""

    pivots: list[Pivots] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    impossible: FloatArray | bool = False
    known: Any = False


def naive_bayes_typicality(
    fit: NaiveBayesFit, rows: Blocks, codes: IntArray | None, gone: FloatArray | None
) -> FloatArray:
    """Return, per class, the probability that a row of that class is no more likely.

    `codes` are the classes of rows that were in the fit: each is taken out first, with the weight
    `gone` (n,), and then judged like any new row.
    """
    n = len(rows)
    weights = np.ones(n) if gone is None else gone
    step = max(1, CELLS * max(1, n) // max(1, rows.cells))
    pairs = zip(fit.model.product.families, rows.parts, strict=True)
    if any(isinstance(b, SparseRows) and f.is_single for f, b in pairs):
        step = max(1, CELLS // max(1, fit.model.product.width))
    found = [
        _judged(
            fit,
            rows[start : start + step],
            None if codes is None else codes[start : start + step],
            weights[start : start + step],
        )
        for start in range(0, n, step)
    ]
    if not found:
        return np.ones((0, len(fit.model.labels)))
    known = np.concatenate([part[1] for part in found])
    say_unknown(*unknown_classes(known, fit.model.weights, codes, weights))
    return np.concatenate([part[0] for part in found])


def _judged(
    fit: NaiveBayesFit, rows: Blocks, codes: IntArray | None, gone: FloatArray
) -> tuple[FloatArray, NDArray[np.bool_]]:
    product = fit.model.product
    speakers = [
        _speaker(family.evidence(groups, alpha, law, block), family.name)
        for family, groups, alpha, law, block in zip(
            product.families, fit.groups, fit.alphas, fit.model.laws, rows.parts, strict=True
        )
    ]
    out = np.empty((len(rows), len(fit.model.labels)))
    known = np.empty(out.shape, dtype=bool)
    for c in range(out.shape[1]):
        said = Said()
        for speaker in speakers:
            speaker.speak(said, c, codes, gone)
        out[:, c], known[:, c] = _tails(said, len(rows)), said.known
    return out, known


def _tails(said: Said, size: int) -> FloatArray:
    """Return the tail of the sum of all parts."""
    parts = list(said.parts)
    constants = [atoms for pivots in said.pivots for atoms in constant_columns(pivots)]
    if not parts:
        p = summed_tails(said.pivots, constants, size)
    elif len(parts) == 1 and isinstance(parts[0], Ranked) and not said.pivots:
        p = parts[0].p_values
    else:
        parts += constants
        for pivots in said.pivots:
            parts += continuous_parts(pivots)
        p = lattice_tails(size, parts)
    return np.where(said.impossible, 0.0, p)


def constant_columns(pivots: Pivots) -> list[Part]:
    """Return the laws of columns that are constant in the class, where a row differs from one."""
    weights = np.broadcast_to(pivots.weights, pivots.other.shape)
    return [
        constant_atoms(weights[:, j], pivots.other[:, j])
        for j in np.flatnonzero(pivots.other.any(axis=0))
    ]


def summed_tails(found: Sequence[Pivots], constants: Sequence[Part], size: int) -> FloatArray:
    """Return the tails of sums over normal columns; on a lattice where constants take part."""
    whole = all(len(pivots.freedom) == 1 for pivots in found)
    freedom = [p.freedom if whole else np.broadcast_to(p.freedom, p.distances.shape) for p in found]
    parts = [pivots.parts for pivots in found]
    joined = np.concatenate(freedom, axis=1) if freedom else np.zeros((1, 0))
    p = tails_of_rows(joined, np.concatenate(parts, axis=1) if parts else np.zeros((size, 0)))
    if p is None:
        p = lattice_tails(size, [part for pivots in found for part in continuous_parts(pivots)])
    if constants:
        odd = np.flatnonzero(np.any([part.laws >= 0 for part in constants], axis=0))
        some: list[Part] = [
            replace(part, own=part.own[odd], laws=part.laws[odd])
            for part in constants
            if isinstance(part, Atoms)
        ]
        for pivots in found:
            some += continuous_parts(pivots, odd)
        p[odd] = lattice_tails(len(odd), some)
    return p


def continuous_parts(pivots: Pivots, chosen: IntArray | None = None) -> list[Part]:
    """Return normal columns grouped by their degrees of freedom."""
    rows = slice(None) if chosen is None else chosen
    parts = pivots.parts[rows]
    freedom = pivots.freedom if len(pivots.freedom) == 1 else pivots.freedom[rows]
    values = np.unique(freedom[freedom > 0.0])
    if len(values) > MOST_FREEDOMS:
        freedom = np.where(freedom > 0.0, _rounded(freedom), 0.0)
        values = np.unique(freedom[freedom > 0.0])
    found: list[Part] = []
    for nu in values:
        columns = np.flatnonzero((freedom == nu).any(axis=0))
        there = np.broadcast_to(freedom[:, columns] == nu, (len(parts), len(columns)))
        found.append(Continuous(float(nu), parts[:, columns], there))
    return found


def _rounded(freedom: FloatArray) -> FloatArray:
    """Return degrees of freedom to two percent: where weights all differ, no more is needed."""
    logs = np.round(np.log(np.maximum(freedom, 1e-9)) * 50.0) / 50.0
    found: FloatArray = np.exp(logs)
    return found


# What each family says


class _Speaker(Protocol):
    def speak(self, said: Said, code: int, codes: IntArray | None, gone: FloatArray) -> None: ...


def _speaker(found: object, name: str) -> _Speaker:
    """Return who speaks for a group of columns."""
    make = SPEAKERS.get(type(found))
    if make is None and name in TEXTS:
        raise BadSetting(
            f"there is a column of texts: its {name} do not show how typical a text is",
            hint="fit without that column",
        )
    if make is None:
        raise BadSetting(
            f"columns of the family {name!r} have no p-values",
            hint="the family has no `evidence`; posteriors and densities still work",
        )
    return make(found)


@dataclass(frozen=True, slots=True)
class _Everyone:
    """A column with one law for all classes: every row was part of it."""

    inner: _Speaker

    def speak(self, said: Said, code: int, codes: IntArray | None, gone: FloatArray) -> None:  # noqa: ARG002
        self.inner.speak(said, 0, None if codes is None else np.zeros_like(codes), gone)


@dataclass(frozen=True, slots=True)
class _Normals:
    columns: ClassColumns
    rows: FloatArray
    outside: Any

    def speak(self, said: Said, code: int, codes: IntArray | None, gone: FloatArray) -> None:
        pivots = self.columns.pivots(self.rows, code, codes, gone)
        said.pivots.append(pivots)
        said.known = said.known | pivots.known
        said.impossible = said.impossible | self.outside


@dataclass(frozen=True, slots=True)
class _Counted:
    words: Words

    def speak(self, said: Said, code: int, codes: IntArray | None, gone: FloatArray) -> None:
        own = own_weights(code, codes, gone) * self.words.lengths
        known = _remains(float(self.words.counts[code].sum()), own)
        p = np.where(known, self.words.p_values(code, codes, gone), 1.0)
        said.parts.append(Ranked(p, DRAWS + 1))
        said.known = said.known | known


@dataclass(frozen=True, slots=True)
class _Counts:
    found: SumEvidence

    def speak(self, said: Said, code: int, codes: IntArray | None, gone: FloatArray) -> None:
        w, found = own_weights(code, codes, gone), self.found
        for j in range(found.cells.shape[1]):
            total, weight = float(found.sums[code, j]), float(found.held[code, j])
            cells = found.cells[:, j]
            if found.log_masses is None:
                said.parts.append(count_atoms(total, weight, cells, w))
            else:
                said.parts.append(mass_atoms(total, weight, cells, w, found.log_masses))
            said.known = said.known | _remains(weight, w)


@dataclass(frozen=True, slots=True)
class _Levels:
    tables: Sequence[FloatArray]
    places: Any
    log_widths: FloatArray | None

    def speak(self, said: Said, code: int, codes: IntArray | None, gone: FloatArray) -> None:
        w = own_weights(code, codes, gone)
        for j, table in enumerate(self.tables):
            said.parts.append(tally_atoms(table[code], self.places[:, j], w, self.log_widths))
            said.known = said.known | _remains(float(table[code].sum()), w)


def _normals(found: NormalEvidence) -> _Speaker:
    columns = ClassColumns.of(found.summary, shared=found.shared)
    return _Normals(columns, columns.standardized(found.cells), found.outside)


def _words(found: WordEvidence) -> _Speaker:
    return _Counted(Words.of(found.law, found.groups, found.alpha, found.block))


def _levels(found: LevelEvidence) -> _Speaker:
    return _Levels(found.tables, found.places, found.log_widths)


TEXTS = ("bytes", "words")
"""Families of texts by their names: what they count has no p-values."""
SPEAKERS: dict[type, Callable[[Any], _Speaker]] = {
    CommonEvidence: lambda found: _Everyone(_speaker(found.inner, "common")),
    LevelEvidence: _levels,
    NormalEvidence: _normals,
    SumEvidence: _Counts,
    WordEvidence: _words,
}
"""Who speaks for each kind of evidence."""


def _remains(held: float, out: FloatArray) -> NDArray[np.bool_]:
    """Return whether anything is left of a weight without that of each row."""
    found: NDArray[np.bool_] = held - out > 1e-12 * held
    return found


def own_weights(code: int, codes: IntArray | None, gone: FloatArray) -> FloatArray:
    """Return the weight with which each row is part of a class."""
    return np.zeros(len(gone)) if codes is None else np.where(codes == code, gone, 0.0)
