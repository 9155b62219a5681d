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
  SmallSample                     forgetting has left few of the rows that a choice rests on
  StreamedRows                    rows leave their database, which cannot add them up itself
  RoundedNumbers                  whole numbers that differ, and are one number as doubles
  OddCells                        a few cells by which a column of numbers is one of categories
  SimilarLabels                   classes whose names look the same
"""

from __future__ import annotations

import re
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


# Patterns of addresses are texts: they are compiled when one is first met, and not at every start.
# They have bounds: a message may hold a million characters.
LIBPQ_SETTING = (
    r"(?:table|query|host|hostaddr|port|dbname|user|(?:ssl)?password|passfile|service|options|"
    r"ssl(?!password)\w+|gss\w+|krb\w+|keepalives\w*|tcp_\w+|(?:client|fallback)_\w+|replication|"
    r"connect_timeout|application_name|channel_binding|require_\w+|target_\w+|load_\w+|"
    r"m(?:in|ax)_protocol_version)="
)
"""What ends a password among the settings of an address; any other word may be part of it."""
_SECRET_SETTING = rf"(?is)([?&])(?:ssl)?passw(?:or)?d=.*?(?:&(?={LIBPQ_SETTING})|$)"
"""A password among the settings of an address, up to the next setting that libpq knows."""
_SCHEME = r"([A-Za-z][\w+.-]*):?/+"
"""How an address begins, also with a `:` or a `/` too few."""
_NO_PORT = r"[^:/?@\[\s]{2,}:(?!\d*(?:[/?,]|$))"
"""A user and a colon that no port follows: what follows it is a password."""
_DATABASES = ("postgresql", "postgres", "duckdb")
"""Schemes that are no user's name; before an `@` any other word may be one."""
_BEGUN = r"(?i)[a-z][\w+.-]{0,40}:/+[^\s:/@?#]{0,99}:(?!\d{1,5}(?:[/?\s,]|$))"
"""Where, within a sentence, an address has come to its password, and not to its port."""


def without_secrets(address: str) -> str:
    """Return an address, right or mistyped, without the password that it may hold.

    Everything between the first : behind the scheme and the last @ is left out, whatever it is.

    >>> without_secrets("postgresql://ada:secret@host/base?sslmode=require&password=secret")
    'postgresql://ada@host/base?sslmode=require'
    >>> without_secrets("postgre:/ada:s@cr/et@host/base"), without_secrets("data.csv")
    ('postgre:/ada@host/base', 'data.csv')
    """
    kept = re.sub(_SECRET_SETTING, r"\1", address)
    if kept != address:
        kept = kept.rstrip("?&")
    begun = re.match(_SCHEME, kept)
    scheme, rest = (kept[: begun.end()], kept[begun.end() :]) if begun else ("", kept)
    user, mark, place = rest.rpartition("@")
    encoded = re.match("[^/?]*%40", place) if mark else None
    if encoded:  # no host holds one: it is the @ of the address, or of the password
        place = place[encoded.end() :]
    if mark and (":" in user or encoded):
        return f"{scheme}{user.partition(':')[0]}@{place}"
    if mark and begun and ":/" in scheme and begun[1].lower() not in _DATABASES:
        return f"{scheme}…@{place}"  # what looks like a scheme may be the user
    if not mark and ":/" in scheme and re.match(_NO_PORT, rest):
        return f"{scheme}{rest.partition(':')[0]}:…"  # an @ was forgotten, or written as %40
    return kept


def without_secrets_within(text: str, given: Iterable[str] = ()) -> str:
    """Return a sentence in which no address shows a password; `given` are addresses it may quote.

    >>> without_secrets_within("postgre:/ada:s cr@t@host: no such file")
    'postgre:/ada@host: no such file'
    """
    for address in given:
        shown = without_secrets(address)
        if shown != address:
            text = text.replace(address, shown)
    if "@" not in text and "passw" not in text.lower():
        return text
    begun, end = re.search(_BEGUN, text), text.rfind("@") + 1
    if begun and begun.end() < end:  # it may hold spaces
        text = text[: begun.start()] + without_secrets(text[begun.start() : end]) + text[end:]
    return re.sub(r"\S+", _word_without_secrets, text)


def _word_without_secrets(found: re.Match[str]) -> str:
    word = found[0]
    begun = re.search("[^/]:[^/@]", word[: word.rfind("@") + 1]) or "passw" in word.lower()
    return without_secrets(word) if begun else word


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

    Passwords of addresses are left out, wherever the words come from.
    """

    def __init__(self, problem: str, *, hint: str) -> None:
        problem, hint = without_secrets_within(problem), without_secrets_within(hint)
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


class NotADensity(SufficeError, AttributeError):
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


class SmallSample(SufficeWarning):
    """Forgetting has left few of the rows that a temperature or a calibration rests on."""


class StreamedRows(SufficeWarning):
    """Rows leave their database: what is asked for has no form in SQL."""


class RoundedNumbers(SufficeWarning):
    """Whole numbers that differ are one number in double precision."""


class OddCells(SufficeWarning):
    """A few cells that are no numbers make categories of a column of numbers."""


class SimilarLabels(SufficeWarning):
    """Classes whose names differ in blanks or in the way letters are composed only."""
