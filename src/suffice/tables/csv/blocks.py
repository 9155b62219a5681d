"""Large CSV files, read by pyarrow in blocks: the same cells, ten times as fast.

Whatever pyarrow cannot read, or what is to be refused, is read again by the ordinary reader, from
the row where this one stopped: it knows the lines.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.columns.spellings.spelling import level_of, spelling_of
from suffice.errors import SufficeError
from suffice.rows.cells import CATEGORY, NUMBER
from suffice.rows.tables import Table, table_of_columns
from suffice.tables.csv.cells import DIGITS, LOOK, ColumnEvidence, is_code
from suffice.tables.csv.inert_cells import plain_text
from suffice.tables.csv.quotes import CheckedQuotes, UnsoundQuotes
from suffice.tables.csv.typed_cells import typed_cells

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from suffice.tables.csv.dialect import Dialect
    from suffice.tables.table_bytes import TableBytes

BLOCK = 1 << 22
"""Bytes that are cut into cells at a time."""


class CsvBlocks:
    """A CSV file as blocks of text columns.

    `vouched`: whether its quotation marks are known to be sound; `codeless`: columns of which it
    is known that no cell is a code. Both are known once `evidence` has looked at all cells.
    """

    def __init__(
        self,
        source: TableBytes,
        dialect: Dialect,
        names: Sequence[str],
        *,
        vouched: bool = False,
        codeless: Collection[str] = (),
    ) -> None:
        self._source = source
        self._vouched = vouched
        self.codeless = frozenset(codeless)
        self._dialect = dialect
        self._names = list(names)
        self._pa: Any = import_module("pyarrow")
        self._compute: Any = import_module("pyarrow.compute")

    def _blocks(self, coded: Collection[str] = ()) -> Iterator[Any]:
        """Yield batches of strings, blank cells null; some columns with each text once."""
        pa, reader = self._pa, import_module("pyarrow.csv")
        made: Any = reader
        types = dict.fromkeys(self._names, pa.string())
        types.update(dict.fromkeys(coded, pa.dictionary(pa.int32(), pa.string())))
        with self._source.open() as file:
            checked = CheckedQuotes(
                file,
                self._dialect.delimiter,
                len(self._names),
                longest=BLOCK,
                vouched=self._vouched,
            )
            yield from made.open_csv(
                pa.PythonFile(checked, mode="r"),
                made.ReadOptions(
                    block_size=BLOCK,
                    column_names=self._names,
                    skip_rows_after_names=1 if self._dialect.header else 0,
                    use_threads=False,
                ),
                made.ParseOptions(delimiter=self._dialect.delimiter, newlines_in_values=True),
                made.ConvertOptions(
                    column_types=types,
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=True,
                ),
            )

    def evidence(self, told: Callable[[int], None]) -> list[ColumnEvidence] | None:
        """Return what the cells of each column are; None where the ordinary reader has to look."""
        evidence = [ColumnEvidence() for _ in self._names]
        done, others = 0, set()
        try:
            for block in self._blocks():
                for name, cells, seen in zip(self._names, block.columns, evidence, strict=True):
                    if not self._see(cells, seen, done):
                        others.add(name)
                told(block.num_rows)
                done += block.num_rows
        except (self._pa.ArrowException, UnsoundQuotes):
            return None
        self.codeless = frozenset(self._names) - others
        return evidence

    def _see(self, cells: Any, seen: ColumnEvidence, done: int) -> bool:
        """Look at the cells of one column; return whether all are plain numbers, or blank."""
        if cells.null_count == len(cells):
            return True
        numbers = self._numbers(cells) if seen.may_be_numbers else None
        if numbers is not None:
            # A fraction is told by its value: in a file as large as this there would be one.
            fraction = seen.is_whole_yet and bool((numbers - np.floor(numbers) > 0.0).any())
            seen.see_numbers(len(cells) - cells.null_count, decimal=fraction)
            if not seen.shows_point and _has_points(cells):
                seen.see_points(_texts(cells.slice(0, LOOK)))
                if not seen.shows_point:
                    seen.see_points(_texts(cells))
            return True
        head = _texts(cells.slice(0, LOOK))
        some = _texts(cells.take(self._pa.array(range(0, len(cells), 1 + len(cells) // LOOK))))
        if not seen.are_words(head, some, len(cells)):
            counted = self._compute.value_counts(cells.drop_null())
            pairs = zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True)
            seen.see_counts(
                {plain_text(cell): times for cell, times in pairs},
                lambda cell: done + 1 + self._compute.index(cells, cell).as_py(),
            )
        return False

    def _numbers(self, cells: Any, *, codeless: bool = False) -> NDArray[np.float64] | None:
        """Return cells as numbers, NaN where blank; None where any is no plain number."""
        try:
            found = self._compute.cast(cells, self._pa.float64())
        except self._pa.ArrowException:
            return None
        numbers: NDArray[np.float64] = found.to_numpy(zero_copy_only=False)
        plain = np.isfinite(numbers).sum() + cells.null_count == len(cells)  # "nan" is a word
        return numbers if plain and (codeless or not self._holds_codes(cells, numbers)) else None

    def _holds_codes(self, cells: Any, numbers: NDArray[np.float64]) -> bool:
        """Whether any of these numbers is a code: begins with a zero, or has too many digits."""
        size = np.abs(numbers)
        suspects = size >= 10.0**DIGITS
        _, ends, held = cells.buffers()
        if held is not None and held.size:
            # Looked up where they lie: that is ten times as fast as asking for each beginning.
            text = np.frombuffer(held, np.uint8)
            edges = np.frombuffer(ends, np.int32, len(cells) + 1, 4 * cells.offset)
            at = edges[:-1]
            first = text.take(at, mode="clip")
            minus = first == ord("-")
            if minus.any():
                at = at + minus
                first = text.take(at, mode="clip")
            zeros = first == ord("0")
            if zeros.any():  # 0.5 begins with a zero, and so does 0
                second = text.take(at + 1, mode="clip") == ord("0")
                suspects |= zeros & ((size >= 1.0) | (second & (edges[1:] - at > 1)))
        return bool(suspects.any()) and any(map(is_code, _texts(cells.filter(suspects))))

    def tables(
        self, names: Sequence[str], kinds: Sequence[str]
    ) -> Iterator[tuple[int, Table | None]]:
        """Yield how many rows came before, and the next; None where another has to go on."""
        place = {name: j for j, name in enumerate(self._names)}
        places = [place[name] for name in names]
        done = 0
        try:
            words = [name for name, kind in zip(names, kinds, strict=True) if kind == CATEGORY]
            for block in self._blocks(words):
                columns = [
                    (str(kind), self._column(block.column(at), kind, name))
                    for at, name, kind in zip(places, names, kinds, strict=True)
                ]
                yield done, table_of_columns(columns, tuple(names), None)
                done += block.num_rows
        except (self._pa.ArrowException, UnsoundQuotes, SufficeError):
            yield done, None

    def _column(self, cells: Any, kind: str, name: str) -> NDArray[Any]:
        if kind == NUMBER and spelling_of(kind) is None:
            found = self._numbers(cells, codeless=name in self.codeless)
            if found is not None:
                return found
        coded = cells if kind == CATEGORY else cells.dictionary_encode()
        words = coded.dictionary.to_pylist()
        if kind == CATEGORY:
            known = [None if word.isspace() else plain_text(word) for word in words]
            if spelling_of(kind) is not None:
                known = [level_of(word) for word in known]
            levels = np.array([*known, None], dtype=object)
        else:
            held = typed_cells(words, kind, name, str)
            levels = np.append(held, [None if held.dtype == object else np.nan])
        codes = coded.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)
        column: NDArray[Any] = levels[codes]
        return column


def _has_points(cells: Any) -> bool:
    """Whether a point is anywhere in some texts."""
    held = cells.buffers()[2]
    return held is not None and b"." in memoryview(held).tobytes()


def _texts(cells: Any) -> list[str]:
    return [cell for cell in cells.to_pylist() if cell is not None]
