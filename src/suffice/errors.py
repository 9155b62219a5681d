"""Every refusal and every warning, in one place.

SufficeError (ValueError)         what is wrong, with the values and the place; then what to do
  BadRows                         rows that cannot be read: ragged, empty, of the wrong width
    NotANumber (TypeError)        a cell, or a whole column, that is no real number
    NotFinite                     an infinite cell, or numbers too large to be squared
    ColumnMismatch                columns that are not those the model knows
  BadLabels                       labels that cannot name classes
  BadWeights                      weights that cannot count rows
  BadSetting                      a setting outside its range, or one that does not belong here
    StatisticsMissing             a model that was saved without the statistics this needs
  BadMatrix                       a matrix that is not a covariance
  DifferentKinds                  statistics or models that cannot be merged
  ForgettingUnseen                more is to be forgotten than was learned
  NotLinear                       a boundary that is not flat
  NotADensity                     a classifier with scores, but without p(x | y) behind them
  BadFile                         a file that is not a model file, or a damaged one
  FileInUse                       a file that somebody else is changing, or has changed meanwhile
  TooManyPatterns                 more patterns of missing cells than one pass can hold

SufficeWarning (UserWarning)      the answer stands, with this reservation
  DegenerateData                  columns or directions that say nothing, or too little
  UnitsMatter                     a form that depends on units, of columns in units far apart
  RowsLeftOut                     rows without a label, which nothing was learned from
  OneClass                        a classifier that has seen a single class
  LostDigits                      forgetting has cancelled most of the digits
  OutsideSupport                  cells that a law has no density for, and that are not counted
  NoPValue                        too few rows for a p-value
  Approximation                   the exact answer would cost too much; this is how far off it is
  DidNotConverge                  an iteration stopped before its tolerance was met
  SeparationWarning               classes that a plane parts: no maximum of the likelihood exists
  SmallSample                     forgetting has left few of the rows that a choice rests on
  StreamedRows                    rows leave their database, which cannot add them up itself
  RoundedNumbers                  whole numbers that differ, and are one number as doubles
  GuessedEncoding                 a table that is not UTF-8 is read as Windows-1252
  GuessedTable                    a sheet holds more than a table, or others are there
  OddCells                        a few cells by which a column of numbers is one of categories
  SimilarLabels                   classes whose names look the same
"""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Self

from suffice.places import LONGEST, CellAt, PartAt, Phrase, without_row
from suffice.places import listed as listed  # noqa: PLC0414  whoever refuses lists names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from suffice.places import ColumnAt, Filling, Numbers


def meant(name: object, known: Iterable[object]) -> str:
    """Return a question about the names that are near to one that is not known, or nothing.

    >>> meant("virginca", ["setosa", "virginica"]), meant("rose", ["setosa"])
    ("did you mean 'virginica'? ", '')
    """
    from difflib import get_close_matches

    shown = {str(one).casefold(): one for one in known if len(str(one)) <= LONGEST}
    near = get_close_matches(str(name)[:LONGEST].casefold(), shown, n=2)
    return f"did you mean {' or '.join(repr(shown[one]) for one in near)}? " if near else ""


class SufficeError(ValueError):
    """A refusal: what is wrong, with the offending values, and how to go on.

    problem  the sentence
    hint     what to do
    fields   rows, columns, cells and values that the sentence names, as they are

    Whoever knows more than the one that raised it returns a refusal with more of its fields filled
    in: names of columns, rows as the caller counts them, where the rows came from. Passwords of
    addresses are left out, wherever the words come from.

    >>> from suffice.places import ColumnAt
    >>> error = NotFinite.of(1, ColumnAt(0), float("inf")).filled(["income"]).at("data.csv")
    >>> error.row, str(error.column), error.value
    (1, 'income', inf)
    >>> print(error.problem)
    data.csv: row 1, income: inf is not a finite number (input contains infinity)
    """

    def __init__(
        self, problem: str | Phrase, *, hint: str, place: object = None,
        within: tuple[object, ...] = (),
    ) -> None:  # fmt: skip
        self._words, self.place, self._within = problem, place, within
        places = (*(() if place is None else (place,)), *within)
        self.problem = _public(": ".join(map(str, (*places, problem))))
        self.hint = _public(hint)
        super().__init__(f"{self.problem}\nHint: {self.hint}")

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the trip between processes: the hint is keyword-only."""
        return _rebuilt, (type(self), self._words, self.hint, self.place, self._within)

    # Fields

    @property
    def fields(self) -> Mapping[str, object]:
        """What the sentence names."""
        return self._words.fields if isinstance(self._words, Phrase) else {}

    @property
    def row(self) -> int | None:
        """The row of the cell that is refused, where there is one."""
        cell = self.fields.get("cell")
        return cell.row if isinstance(cell, CellAt) else None

    @property
    def column(self) -> ColumnAt | str | None:
        """The column of the cell that is refused, where there is one."""
        cell = self.fields.get("cell")
        return cell.column if isinstance(cell, CellAt) else None

    @property
    def value(self) -> object:
        """What the cell holds that is refused, where there is one."""
        return self.fields.get("value")

    @property
    def part(self) -> int | None:
        """The group of columns in which columns are counted, while they have no names."""
        parts = [one.number for one in self._within if isinstance(one, PartAt)]
        return parts[0] if parts else None

    # Filling in

    def filled(self, names: Sequence[str] | None = None, rows: Numbers | None = None) -> Self:
        """Return the refusal with names of columns, and with rows counted as `rows` says."""
        words, within = self._words, self._within
        if isinstance(words, Phrase):
            words = words.filled(names, rows)
        if names is not None:  # columns are not counted any more
            within = tuple(one for one in within if not isinstance(one, PartAt))
        return type(self)(words, hint=self.hint, place=self.place, within=within)

    def each(self, fill: Filling) -> Self:
        """Return the refusal with every place in its sentence changed."""
        words = self._words.each(fill) if isinstance(self._words, Phrase) else self._words
        return type(self)(words, hint=self.hint, place=self.place, within=self._within)

    def without_rows(self) -> Self:
        """Return the refusal of a cell whose row has no number that means anything."""
        return self.each(without_row)

    def within(self, what: object) -> Self:
        """Return the refusal that says of which class, part or fold it is."""
        within = (what, *self._within)
        return type(self)(self._words, hint=self.hint, place=self.place, within=within)

    def at(self, place: object) -> Self:
        """Return the refusal that says where the rows came from, if it does not say so yet."""
        if not str(place) or self.place is not None or "place" in self.fields:
            return self
        return type(self)(self._words, hint=self.hint, place=place, within=self._within)


def _public(words: str) -> str:
    """Return words without passwords; few have an address in them, and need to know how."""
    if "@" not in words and "passw" not in words.lower():
        return words
    from suffice.passwords import without_secrets_within

    return without_secrets_within(words)


def _rebuilt(
    kind: type[SufficeError], problem: str | Phrase, hint: str, place: object,
    within: tuple[object, ...],
) -> SufficeError:  # fmt: skip
    return kind(problem, hint=hint, place=place, within=within)


class BadRows(SufficeError):
    """Rows that cannot be read."""

    @classmethod
    def of_cell(
        cls, row: int | None, column: ColumnAt | str, what: str, *, hint: str, value: object = None
    ) -> Self:
        """Name the cell, and say what it is: `what` is a sentence about its value."""
        cell = CellAt(row, column)
        return cls(Phrase("{cell}: {what}", cell=cell, what=what, value=value), hint=hint)


class NotANumber(BadRows, TypeError):
    """A cell, or a whole column, that is no real number."""


class NotFinite(BadRows):
    """An infinite cell, or numbers whose squares leave the range of a double."""

    @classmethod
    def of(cls, row: int, column: ColumnAt | str, value: float) -> Self:
        """Name the cell. The sentence contains the phrases scikit-learn's checks look for."""
        return cls.of_cell(
            row,
            column,
            f"{value:g} is not a finite number (input contains infinity)",
            value=value,
            hint="drop the row, or leave the cell empty: missing values are marginalised",
        )

    @classmethod
    def of_range(cls, columns: Iterable[ColumnAt | str]) -> Self:
        """Name the columns whose spread cannot be squared in double precision."""
        said = "the spread of {columns} is too large to be squared in double precision"
        return cls(
            Phrase(said, columns=tuple(columns)),
            hint="divide the column by a power of ten: models do not depend on units",
        )


class ColumnMismatch(BadRows):
    """Columns that are not those the model knows."""


class BadLabels(SufficeError):
    """Labels that cannot name classes."""


class BadWeights(SufficeError):
    """Weights that cannot count rows."""


class BadSetting(SufficeError):
    """A setting outside its range, or one that does not belong here."""


class StatisticsMissing(BadSetting):
    """A model that was saved without its statistics, asked for what only they can say."""


class BadMatrix(SufficeError):
    """A matrix that is not a covariance."""


class DifferentKinds(SufficeError):
    """Statistics or models that cannot be merged."""


class ForgettingUnseen(SufficeError):
    """More is to be forgotten than was learned."""

    @classmethod
    def of(cls, held: float, asked: float, where: object = "") -> Self:
        """Compare what is there with what is to be taken away."""
        said = "cannot forget weight {asked:g} from statistics of weight {held:g}"
        said += " of {where}" if str(where) else ""
        return cls(
            Phrase(said, asked=asked, held=held, where=where),
            hint="only rows that were learned before can be removed",
        )


class NotLinear(SufficeError):
    """A boundary that is not flat."""


class NotADensity(SufficeError, AttributeError):
    """A classifier with scores, but without p(x | y) behind them."""

    @classmethod
    def of(cls, asked: str) -> Self:
        """Say what was asked for."""
        return cls(
            f"complement naive Bayes has no {asked}: its scores compare a row with the other "
            "classes, and are not a density",
            hint="use MultinomialNaiveBayes",
        )


class BadFile(SufficeError):
    """A file that is not a model file, or a damaged one; or a model that has no plain form."""


class FileInUse(SufficeError):
    """A file that somebody else is changing, or has changed meanwhile; it is left as it is."""


class TooManyPatterns(SufficeError):
    """More patterns of missing cells than one pass can hold."""


class SufficeWarning(UserWarning):
    """The answer stands, with this reservation; `fields` are what its sentence names."""

    def __init__(self, said: str | Phrase) -> None:
        self._words = said
        super().__init__(str(said))

    @property
    def fields(self) -> Mapping[str, object]:
        """What the sentence names: rows, columns, values."""
        return self._words.fields if isinstance(self._words, Phrase) else {}

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the trip between processes."""
        return type(self), (self._words,)


NOT_THE_CALLER = frozenset(
    {"suffice", "sklearn", "joblib", "contextlib", "functools", "threading", "concurrent"}
)
"""Packages whose lines are nobody's own: a warning is about the line that called them."""


def warn(said: str | Phrase | Warning, category: type[Warning] = SufficeWarning) -> None:
    """Warn about the line of the caller: the nearest one that is neither ours nor a library's.

    However deep inside, and by whichever way in, a warning was raised: nobody counts frames.
    """
    if isinstance(said, Warning):
        warning = said
    elif issubclass(category, SufficeWarning):
        warning = category(said)
    else:
        warning = category(str(said))
    level, frame = 2, sys._getframe(1)
    while frame.f_globals.get("__name__", "").partition(".")[0] in NOT_THE_CALLER:
        if frame.f_back is None:  # on a thread of ours: there is no caller
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)


class DegenerateData(SufficeWarning):
    """Columns or directions that say nothing, or too little."""


class UnitsMatter(SufficeWarning):
    """What was learned depends on the units of columns, and these are far apart."""


class RowsLeftOut(SufficeWarning):
    """Rows without a label, which nothing was learned from."""


class OneClass(SufficeWarning):
    """A classifier that has seen a single class."""


class LostDigits(SufficeWarning):
    """Forgetting has cancelled most of the digits."""


class OutsideSupport(SufficeWarning):
    """Cells that a law has no density for, in any class: they say nothing about the class."""


class NoPValue(SufficeWarning):
    """Too few rows for a p-value."""


class Approximation(SufficeWarning):
    """The exact answer would cost too much; the message says what was done instead."""


class DidNotConverge(SufficeWarning):
    """An iteration stopped before its tolerance was met."""


class SeparationWarning(SufficeWarning):
    """Classes that a plane parts: the likelihood rises for ever, and has no maximum."""


class SmallSample(SufficeWarning):
    """Forgetting has left few of the rows that a temperature or a calibration rests on."""


class StreamedRows(SufficeWarning):
    """Rows leave their database: what is asked for has no form in SQL."""


class RoundedNumbers(SufficeWarning):
    """Whole numbers that differ are one number in double precision."""


class OddCells(SufficeWarning):
    """A few cells that are not numbers make categories of a column of numbers."""


class GuessedEncoding(SufficeWarning):
    """A table of text that is not UTF-8 is read in the encoding that it seems to be in."""


class GuessedTable(SufficeWarning):
    """A sheet of a workbook has its table in a place that was found, or more than a table."""


class SimilarLabels(SufficeWarning):
    """Classes whose names differ in blanks or in the way letters are composed only."""
