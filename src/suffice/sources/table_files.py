"""CSV, JSON lines and Arrow files: what each column holds is found out once, by all rows."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial, reduce
from operator import or_
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.columns.spellings.spelling import SpelledKind
from suffice.errors import (
    BadLabels,
    BadWeights,
    ColumnMismatch,
    GuessedEncoding,
    GuessedTable,
    OddCells,
    listed,
    warn,
)
from suffice.places import Place
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER
from suffice.sources.local import LocalSource, identity_of
from suffice.sources.source import Chunk, Wanted
from suffice.tables import table_file as table_files
from suffice.tables.csv.chunks import CHARACTERS
from suffice.tables.csv.spelled_cells import ColumnSpelling, UsualMarks, spelling_as_declared
from suffice.tables.table_file import open_table
from suffice.tables.table_reading import AS_WRITTEN, TableGuess

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from suffice.columns.spellings.spelling import Spelling
    from suffice.sources.local import Part
    from suffice.tables.csv.cells import ColumnEvidence


PLURALS = {NUMBER: "numbers", BOOLEAN: "true and false", CATEGORY: "text"}
"""Kinds of columns as refusals call them."""


class TableSource(LocalSource):
    """One file of text, or several with the same columns: a part for each file.

    `delimiter`, `header`, `expected`, `encoding` and `sheet` say how they are written, as for
    `open_table`.
    """

    def __init__(
        self,
        paths: Sequence[str | Path],
        name: str | None = None,
        *,
        delimiter: str | None = None,
        header: bool | None = None,
        expected: Collection[str] = (),
        encoding: str | None = None,
        sheet: str | None = None,
    ) -> None:
        self._paths = tuple(paths)
        self._reading = [delimiter, header, encoding, *(() if sheet is None else (sheet,))]
        self._guessed: list[str] = []
        self._files = [
            open_table(
                path, delimiter=delimiter, header=header, expected=expected, encoding=encoding,
                sheet=sheet, on_guess=self._guessed.append,
            )
            for path in paths
        ]  # fmt: skip
        self.name = name or self._files[0].name
        self.names = self._files[0].names
        for file in self._files[1:]:
            check_names(self.names, file.names, self._files[0].name, file.name)
        self._kinds: dict[str, str] | None = None
        self._evidence: dict[str, ColumnEvidence] = {}
        self._told: set[str] = set()
        self._spelled: dict[str, ColumnSpelling] = {}
        self._done = [False] * len(self._files)

    @property
    def stored(self) -> int:
        """Bytes of the files, packed as they are; of what comes by a pipe, none are known."""
        return sum(file.stored for file in self._files)

    @property
    def dates(self) -> Mapping[str, Spelling]:
        """Which columns are dates or times by their type; none of what is text."""
        return {name: one for file in self._files for name, one in file.dates.items()}

    @property
    def identity(self) -> object:
        """Which rows these are: the files, if they are files, how they are read and where cut."""
        if not all(file.is_lasting for file in self._files):
            return None
        cut = [table_files.CELLS, table_files.MOST_ROWS, CHARACTERS]
        return [*identity_of(self._paths), self._reading, cut]

    def share(self) -> float | None:
        """Return which part of the bytes has been read; None where that is not known."""
        stored = [file.stored for file in self._files]
        if not all(stored):
            return None
        shares = [
            1.0 if done else file.share() or 0.0
            for file, done in zip(self._files, self._done, strict=True)
        ]
        return sum(map(float.__mul__, map(float, stored), shares)) / sum(stored)

    def kinds(self, told: Callable[[int], None] | None = None) -> dict[str, str]:
        """Return what each column holds, by all rows of all files; `told` hears of rows read."""
        if self._kinds is None:
            found = [dict(zip(f.names, f.evidence(told), strict=True)) for f in self._files]
            joint = {name: reduce(or_, (seen[name] for seen in found)) for name in self.names}
            self._kinds = {name: seen.kind for name, seen in joint.items()}
            self._evidence = joint
            for file, seen in zip(self._files, found, strict=True):
                for name, kind in self._kinds.items():
                    if file.is_typed and seen[name].is_known and seen[name].kind != kind:
                        raise ColumnMismatch(
                            f"{file.name}: {name} holds {PLURALS[seen[name].kind]}, "
                            f"but {PLURALS[kind]} in other files",
                            hint="write the files again with one type for the column",
                        )
        return self._kinds

    def spell(
        self,
        names: Collection[str],
        decimal: str | None = None,
        declared: Mapping[str, str] | None = None,
    ) -> Mapping[str, ColumnSpelling]:
        """Read the texts of some columns as what they stand for, and return what was decided.

        Whoever asks for that keeps `spellings`: later rows are read by them. `decimal` is the
        decimal mark, where somebody has named it, and `declared` what columns are, by name: one
        that cannot be read as that is refused by its first cell.
        """
        kinds = self.kinds()
        if self.is_typed:
            dates = self.dates
            said = (declared or {}).get
            self._spelled = {
                name: ColumnSpelling(dates[name])
                for name in names
                if name in dates and said(name) not in AS_WRITTEN
            }
            return self._spelled
        seen = [self._evidence[name] for name in names]
        usual = UsualMarks.of(seen, {file.delimiter for file in self._files})
        self._spelled = {
            name: spelling_as_declared(
                self._evidence[name], name, (declared or {}).get(name), decimal, usual
            )
            for name in names
        }
        kinds.update({name: SpelledKind(one) for name, one in self.spellings.items()})
        return self._spelled

    @property
    def is_typed(self) -> bool:
        """Whether cells have types of their own."""
        return any(file.is_typed for file in self._files)

    @property
    def spellings(self) -> dict[str, Spelling]:
        """How the columns are written that are not plain."""
        found = {name: one.spelling for name, one in self._spelled.items()}
        return {name: spelling for name, spelling in found.items() if spelling is not None}

    def as_text(self) -> Self:
        """Return the same files with every cell of text as it is written.

        Files whose cells have types stay as they are.
        """
        kinds = self.kinds()
        if self.is_typed:
            return self
        found = copy(self)
        found._kinds, found._spelled = dict.fromkeys(kinds, CATEGORY), {}
        found._told = set(kinds)  # nothing is to be said of cells that are not read
        return found

    def guesses(self) -> list[str]:
        """Return what is to be said, once, of files that are not UTF-8, and of sheets."""
        self.kinds()
        said = self._guessed.copy()
        self._guessed.clear()
        return said

    def odd_cells(self, names: Collection[str]) -> list[str]:
        """Return what is to be said, once, of columns that a few odd cells made categories."""
        said = []
        self.kinds()
        spelled = self.spellings
        for name in names:
            known = name in self._told or name in spelled or self._doubts(name)
            found = None if known else self._evidence[name].odd
            if found is not None:
                first, count, total = found
                self._told.add(name)
                are = "is" if count == 1 else "are"
                said.append(
                    f"{name} is read as categories: {first.where}: {first.cell!r:.60} "
                    f"{first.what}; {count:,} of {total:,} cells that are not blank {are} not "
                    "numeric"
                )
        return said

    def _doubts(self, name: str) -> bool:
        """Whether something has been said already of why a column is one of categories."""
        found = self._spelled.get(name)
        return found is not None and bool(found.doubt)

    def parts(self, wanted: Wanted) -> Sequence[Part]:
        """Return every file, in order."""
        for said in self.guesses():
            warn(said, GuessedTable if isinstance(said, TableGuess) else GuessedEncoding)
        for said in self.odd_cells(wanted.all):
            warn(said, OddCells)
        self._done = [False] * len(self._files)
        return [partial(self._chunks, place, wanted) for place in range(len(self._files))]

    def _chunks(self, place: int, wanted: Wanted) -> Iterator[Chunk]:
        file, kinds = self._files[place], self.kinds()
        names, width, start = wanted.all, len(wanted.names), 1
        spelled = self.spellings
        whole = tuple(
            self._spelled[name].whole if name in spelled else self._evidence[name].is_whole
            for name in names
        )
        for given in file.chunks(names, [kinds[name] for name in names]):
            table = given if file.is_typed else replace(given, whole=whole)
            where = Place(file.name, start, start + table.size - 1)
            start += table.size
            labels = weights = None
            if wanted.target is not None:
                at = names.index(wanted.target)
                labels = labels_of_cells(table.exact(at), table.kinds[at], wanted.target, where)
            if wanted.weight is not None:
                at = names.index(wanted.weight)
                weights = weights_of_cells(table.column(at), table.kinds[at], wanted.weight, where)
            yield Chunk(table.take(range(width)), labels, weights, where)
        self._done[place] = True


def check_names(ours: Sequence[str], theirs: Sequence[str], file: str, another: str) -> None:
    """Refuse a file whose columns are not those of the first one."""
    known, given = set(ours), set(theirs)
    gone = [name for name in ours if name not in given]
    new = [name for name in theirs if name not in known]
    if gone or new:
        said = f"lacks {listed(gone)}" if gone else f"has {listed(new)} as well"
        raise ColumnMismatch(
            f"{another} {said}, unlike {file}", hint="all files of a source need the same columns"
        )


def labels_of_cells(
    cells: NDArray[np.generic], kind: str, name: str, place: Place
) -> NDArray[np.generic]:
    """Return labels in their own type: whole numbers are integers; blanks are refused."""
    if kind == NUMBER and cells.dtype.kind in "iu":
        return cells
    if kind == NUMBER and cells.dtype.kind == "f":
        blank = np.isnan(cells)
    elif kind == CATEGORY and all(cells.tolist()):  # words: quicker than to ask for None each time
        return cells
    else:
        blank = np.array([cell is None for cell in cells], dtype=bool)
    if blank.any():
        raise BadLabels(
            f"row {int(blank.argmax()) + 1} of these has no {name}",
            hint="leave out rows without a label: they cannot be used for training",
            place=place,
        )
    if kind == NUMBER and cells.dtype.kind == "f":
        whole = bool((cells == np.floor(cells)).all() and (np.abs(cells) < 2.0**53).all())
        return cells.astype(np.int64) if whole else cells
    if kind == BOOLEAN:
        return cells.astype(np.bool_)
    return cells


def weights_of_cells(
    cells: NDArray[np.generic], kind: str, name: str, place: Place
) -> NDArray[np.generic]:
    """Return weights, which must be numbers."""
    if kind != NUMBER:
        raise BadWeights(
            f"{name} holds no numbers", hint="name another column of weights", place=place
        )
    return np.asarray(cells, dtype=np.float64)
