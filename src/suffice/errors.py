"""Every refusal and every warning, in one place.

SufficeError (ValueError)         what is wrong, with the values and the place; then what to do
  BadRows                         rows that cannot be read: ragged, empty, of the wrong width
    NotANumber (TypeError)        a cell, or a whole column, that is no real number
    NotFinite                     an infinite cell, or numbers too large to be squared
    ColumnMismatch                columns that are not those the model knows
  BadLabels                       labels that cannot name classes
  BadWeights                      weights that cannot count rows
  BadSetting                      a setting outside its range, or one that does not belong here
  BadMatrix                       a matrix that is no covariance
  DifferentKinds                  statistics or models that cannot be merged
  ForgettingUnseen                more is to be forgotten than was learned
  NotLinear                       a boundary that is not flat
  NotADensity                     a classifier with scores, but without p(x | y) behind them
  BadFile                         a file that is no model file, or a damaged one
  FileInUse                       a file that somebody else is changing, or has changed meanwhile
  TooManyPatterns                 more patterns of missing cells than one pass can hold

SufficeWarning (UserWarning)      the answer stands, with this reservation
  DegenerateData                  columns or directions that say nothing, or too little
  OneClass                        a classifier that has seen a single class
  LostDigits                      forgetting has cancelled most of the digits
  OutsideSupport                  cells that a law has no density for, and that are not counted
  NoPValue                        too few rows for a p-value
  Approximation                   the exact answer would cost too much; this is how far off it is
  DidNotConverge                  an iteration stopped before its tolerance was met
  SeparationWarning               classes that a plane parts: no maximum of the likelihood exists
  StreamedRows                    rows leave their database, which cannot add them up itself
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable

SHOWN = 8
"""How many names a message lists before it says how many more there are."""
LONGEST = 200
"""Characters of one name in a message."""


def listed(names: Iterable[object]) -> str:
    """Return names as one readable phrase, cut short when there are many.

    >>> listed(["a", "b"])
    'a, b'
    """
    words = [
        text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…" for text in map(str, names)
    ]
    if len(words) <= SHOWN:
        return ", ".join(words)
    return ", ".join(words[:SHOWN]) + f" and {len(words) - SHOWN} more"


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
    """A refusal: what is wrong, with the offending values, and how to go on."""

    def __init__(self, problem: str, *, hint: str) -> None:
        super().__init__(f"{problem}\nHint: {hint}")
        self.problem = problem
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the trip between processes: the hint is keyword-only."""
        return _rebuilt, (type(self), self.problem, self.hint)


def _rebuilt(kind: type[SufficeError], problem: str, hint: str) -> SufficeError:
    return kind(problem, hint=hint)


class BadRows(SufficeError):
    """Rows that cannot be read."""


class NotANumber(BadRows, TypeError):
    """A cell, or a whole column, that is no real number."""


class NotFinite(BadRows):
    """An infinite cell, or numbers whose squares leave the range of a double."""

    @classmethod
    def of(cls, row: int, column: object, value: float) -> Self:
        """Name the cell. The sentence contains the phrases scikit-learn's checks look for."""
        return cls(
            f"row {row}, {column}: {value:g} is not a finite number (input contains infinity)",
            hint="drop the row, or leave the cell empty: missing values are marginalised",
        )

    @classmethod
    def of_range(cls, columns: Iterable[object]) -> Self:
        """Name the columns whose spread cannot be squared in double precision."""
        return cls(
            f"the spread of {listed(columns)} is too large to be squared in double precision",
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


class BadMatrix(SufficeError):
    """A matrix that is no covariance."""


class DifferentKinds(SufficeError):
    """Statistics or models that cannot be merged."""


class ForgettingUnseen(SufficeError):
    """More is to be forgotten than was learned."""

    @classmethod
    def of(cls, held: float, asked: float, place: str = "") -> Self:
        """Compare what is there with what is to be taken away."""
        where = f" of {place}" if place else ""
        return cls(
            f"cannot forget weight {asked:g} from statistics of weight {held:g}{where}",
            hint="subtract only what was merged in before: (a + b) - b",
        )


class NotLinear(SufficeError):
    """A boundary that is not flat."""


class NotADensity(SufficeError):
    """A classifier with scores, but without p(x | y) behind them."""

    @classmethod
    def of(cls, asked: str) -> Self:
        """Say what was asked for."""
        return cls(
            f"complement naive Bayes has no {asked}: its scores compare a row with the other "
            "classes, and are no density",
            hint="MultinomialNaiveBayes has one",
        )


class BadFile(SufficeError):
    """A file that is no model file, or a damaged one; or a model that has no plain form."""


class FileInUse(SufficeError):
    """A file that somebody else is changing, or has changed meanwhile; it is left as it is."""


class TooManyPatterns(SufficeError):
    """More patterns of missing cells than one pass can hold."""


class SufficeWarning(UserWarning):
    """The answer stands, with this reservation."""


class DegenerateData(SufficeWarning):
    """Columns or directions that say nothing, or too little."""


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


class StreamedRows(SufficeWarning):
    """Rows leave their database: what is asked for has no form in SQL."""
