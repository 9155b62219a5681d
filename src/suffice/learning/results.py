"""What estimators answer besides arrays: explanations, contrasts between classes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from suffice.errors import BadSetting, SeparationWarning, listed
from suffice.printing.result_table import Significant, TableColumn, TextTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.models.linear.logistic.separation.separation import Separation
    from suffice.models.text.model import Part
    from suffice.rows import FloatArray

Reasons: TypeAlias = list[tuple[str, float]]
SHOWN_ROWS = 5
"""Rows of an explanation that are printed; a frame has all."""
SHOWN_WORDS = 8
"""Words of a text that are printed beside its column, the largest first: as fit on a line."""
SHOWN_REASONS = 10
"""Contributions of a row that are printed, the largest first: what follows is small beside them."""


def _reasons_table(
    what: str,
    of: NDArray[np.generic],
    against: NDArray[np.generic],
    baseline: FloatArray,
    reasons: Sequence[Reasons],
    most: int | None,
) -> TextTable:
    """Return log odds as a table, a line for each contribution under the row it belongs to."""
    rows: list[tuple[object, ...]] = []
    many = len(of) if most is None else min(most, len(of))
    for i in range(many):
        odds = float(baseline[i] + sum(value for _, value in reasons[i]))
        row = f"{i}, log odds of {of[i]} against {against[i]} {odds:+.3f}" if most else i
        shown = reasons[i] if most is None else reasons[i][:SHOWN_REASONS]
        pair = (str(of[i]), str(against[i]))
        lines = [("(baseline)", float(baseline[i])), *shown]
        rows += [(row, *(() if most else pair), name, value) for name, value in lines]
    middle = () if most else (TableColumn("of"), TableColumn("against"))
    columns = (
        TableColumn(what, heading=bool(most)),
        *middle,
        TableColumn("column"),
        TableColumn("contribution", Significant(4)),
    )
    left = len(of) - many
    notes = (f"and {left:,} more; to_frame() has all of them",) if left > 0 else ()
    return TextTable("", columns, tuple(rows), notes)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Explanation:
    """Log odds split by column: `log_odds = baseline + contributions.sum(axis=1)`.

    of, against     the two classes compared, for each row
    baseline        the log odds before any column is looked at: prior odds and volumes
    contributions   (rows, columns), one-hot columns added up for the column they code
    pairs           (rows, columns, columns) for quadratic boundaries, else None; symmetric,
                    its rows add up to the contributions
    columns         the names of the columns
    words           of columns of texts, by name: for each row {word: log odds}; what the words do
                    not add up to was said before any of them. None where there are no texts
    """

    of: NDArray[np.generic]
    against: NDArray[np.generic]
    baseline: FloatArray
    contributions: FloatArray
    pairs: FloatArray | None
    columns: tuple[str, ...]
    words: Mapping[str, tuple[dict[str, float], ...]] | None = None

    @property
    def log_odds(self) -> FloatArray:
        """What the parts add up to."""
        total: FloatArray = self.baseline + self.contributions.sum(axis=1)
        return total

    def __str__(self) -> str:
        """Return the first rows as text, the largest contributions first."""
        lines = []
        for i in range(min(5, len(self.of))):
            lines.append(
                f"row {i}: log odds of {self.of[i]} against {self.against[i]} "
                f"{self.log_odds[i]:+.3f} = {self.baseline[i]:+.3f}"
            )
            parts = self.contributions[i]
            largest = np.argsort(-np.abs(parts), kind="stable")[:10]
            for j in largest:
                if parts[j] != 0.0:
                    lines.append(f"    {parts[j]:+10.3f}  {self.columns[j]}")
                    if said := self.words_of(self.columns[j], i):
                        told = ", ".join(f"{word} {odds:+.3f}" for word, odds in said[:SHOWN_WORDS])
                        lines.append(f"                word by word: {told}")
        return "\n".join(lines)

    def words_of(self, column: str, row: int = 0) -> Reasons:
        """Return the words of one row in a column of texts, the strongest first; or none."""
        said = {} if self.words is None else self.words.get(column, ({},) * len(self.of))[row]
        return sorted(said.items(), key=lambda pair: -abs(pair[1]))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self._table(SHOWN_ROWS).to_html()

    def to_frame(self, library: str | None = None) -> Any:
        """Return all contributions as a frame of pandas or polars.

        One line for each row and column: `row`, `of`, `against`, `column`, `contribution`; the
        log odds before any column is looked at stand as "(baseline)". Lines of a row add up to
        its log odds.
        """
        return self._table(None).to_frame(library)

    def _table(self, most: int | None) -> TextTable:
        order = np.argsort(-np.abs(self.contributions), axis=1, kind="stable")
        reasons = [
            [(self.columns[j], float(parts[j])) for j in places if parts[j] != 0.0 or most is None]
            for parts, places in zip(self.contributions[:most], order[:most], strict=True)
        ]
        return _reasons_table("row", self.of, self.against, self.baseline, reasons, most)

    def reasons(self, row: int = 0, most: int = 5) -> tuple[Reasons, Reasons]:
        """Return the strongest reasons of one row for its class, and those against it.

        Each is a list of (column, log odds), the strongest first; for counts of words the
        columns are the words.
        """
        if not -len(self.of) <= row < len(self.of):
            raise BadSetting(
                f"there is no row {row} among {len(self.of)} explained",
                hint="rows are counted from 0, in the order they were given",
            )
        parts = self.contributions[row]
        order = np.argsort(-parts, kind="stable")
        top = [(self.columns[j], float(parts[j])) for j in order[:most] if parts[j] > 0.0]
        low = [(self.columns[j], float(parts[j])) for j in order[::-1][:most] if parts[j] < 0.0]
        return top, low


@dataclass(frozen=True, slots=True, eq=False)
class Contrasts:
    """θ and θ₀ of classes against one of them, in the user's units.

    reference   the class that others are compared with
    classes     the others, one row of `coef` and one entry of `intercept` each
    columns     the names of the columns of `coef`
    """

    reference: Any
    classes: NDArray[np.generic]
    coef: FloatArray
    intercept: FloatArray
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TextExplanation:
    """Log odds split by piece: `log_odds[i] = baseline[i] + sum of the parts of document i`.

    of, against   the two classes compared, for each document
    baseline      the log odds before any word is looked at: priors and shifts
    parts         for each document (kind, piece, log odds): its terms, and its bytes word by word

    >>> from suffice import TextClassifier
    >>> texts = ["cheap pills", "cheap watches", "lunch at one?", "see you at lunch"]
    >>> model = TextClassifier("boolean").fit(texts, ["spam", "spam", "ham", "ham"])
    >>> found = model.explain(["cheap lunch"], of="spam")
    >>> found.columns, bool(found.contributions[0, 0] > 0 > found.contributions[0, 1])
    (('cheap', 'lunch'), True)
    """

    of: NDArray[np.generic]
    against: NDArray[np.generic]
    baseline: FloatArray
    parts: tuple[tuple[Part, ...], ...]

    @property
    def log_odds(self) -> FloatArray:
        """What the parts add up to."""
        added = np.array([sum(p.log_odds for p in parts) for parts in self.parts], dtype=float)
        found: FloatArray = self.baseline + added
        return found

    @property
    def columns(self) -> tuple[str, ...]:
        """All words of all documents, each once."""
        words = (part.word for parts in self.parts for part in parts)
        return tuple(dict.fromkeys(words))

    @property
    def contributions(self) -> FloatArray:
        """What each word adds in each document, one column for each of `columns`."""
        places = {word: j for j, word in enumerate(self.columns)}
        found = np.zeros((len(self.parts), len(places)))
        for i, parts in enumerate(self.parts):
            for part in parts:
                found[i, places[part.word]] += part.log_odds
        return found

    def reasons(self, row: int = 0, most: int = 5) -> tuple[Reasons, Reasons]:
        """Return the words of one document that speak most for its class, and those against it.

        What a word says as a term and by its bytes is added up.
        """
        if not -len(self.of) <= row < len(self.of):
            raise BadSetting(
                f"there is no document {row} among {len(self.of)} explained",
                hint="documents are counted from 0, in the order they were given",
            )
        total: dict[str, float] = {}
        for part in self.parts[row]:
            total[part.word] = total.get(part.word, 0.0) + part.log_odds
        order = sorted(total, key=lambda name: -total[name])
        top = [(name, total[name]) for name in order[:most] if total[name] > 0.0]
        low = [(name, total[name]) for name in order[::-1][:most] if total[name] < 0.0]
        return top, low

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self._table(SHOWN_ROWS).to_html()

    def to_frame(self, library: str | None = None) -> Any:
        """Return all contributions as a frame of pandas or polars.

        One line for each document and word: `document`, `of`, `against`, `column`,
        `contribution`; the log odds before any word stand as "(baseline)".
        """
        return self._table(None).to_frame(library)

    def _table(self, most: int | None) -> TextTable:
        many = len(self.of) if most is None else min(most, len(self.of))
        reasons = []
        for i in range(many):
            found = chain(*self.reasons(i, len(self.parts[i])))
            reasons.append(sorted(found, key=lambda reason: -abs(reason[1])))
        return _reasons_table("document", self.of, self.against, self.baseline, reasons, most)

    def __str__(self) -> str:
        """Return the first documents as text, the strongest words first."""
        lines = []
        for i in range(min(5, len(self.of))):
            lines.append(
                f"document {i}: log odds of {self.of[i]} against {self.against[i]} "
                f"{self.log_odds[i]:+.3f} = {self.baseline[i]:+.3f}"
            )
            found = sorted(chain(*self.reasons(i)), key=lambda reason: -abs(reason[1]))
            lines += [f"    {value:+10.3f}  {name}" for name, value in found]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class SeparatedClasses:
    """Classes between which no row lies: the likelihood has no maximum.

    kind        "complete" (a plane parts all rows) or "quasi-complete" (some lie on the plane)
    pairs       the pairs of classes that are parted
    columns     the columns that part them
    rows_apart  how many rows are clear of the plane, and
    rows_tied   how many lie on it
    reason      the same in words
    """

    kind: str
    pairs: tuple[tuple[Any, Any], ...]
    columns: tuple[str, ...]
    rows_apart: int
    rows_tied: int
    reason: str

    category = SeparationWarning

    @classmethod
    def of(cls, found: Separation, classes: NDArray[np.generic], names: Sequence[str]) -> Self:
        """Name classes and columns."""
        labels = classes.tolist()
        return cls(
            found.kind,
            tuple((labels[a], labels[b]) for a, b in found.pairs),
            tuple(names[j] for j in found.columns),
            found.rows_apart,
            found.rows_tied,
            found.reason,
        )

    def warning(self) -> str:
        """Return what happened and how to go on."""
        pairs = listed(f"{a!r} from {b!r}" for a, b in self.pairs)
        by = f" by {listed(self.columns)}" if self.columns else ""
        return (
            f"{self.kind} separation of {pairs}{by}: the likelihood has no maximum. θ is finite "
            "and can predict, but its size has no meaning and there are no standard errors. "
            'Hint: correction="firth" or a penalty gives finite estimates'
        )
