"""Tables in files and on standard input: one way to read them, whatever they are written in.

    open_table("a.csv")     CSV, TSV and the like; .gz, .bz2 and .xz too
    open_table("a.parquet") Parquet, Arrow, Feather
    open_table("a.jsonl")   JSON lines, or an array of objects
    open_table("a.xlsx")    a sheet of a workbook
    open_table("-")         standard input, in any of these

What a column holds is decided once, by all its rows: `kinds()` reads the table through, and
`chunks` reads it again. So a table means the same in one piece and in many, and a column that turns
into text in its last row was text from the first. Where the kinds are known already, from a model,
one reading is enough, and a cell that is of another kind is refused by its line.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from suffice.errors import (
    BadFile,
    BadSetting,
    ColumnMismatch,
    GuessedEncoding,
    GuessedTable,
    listed,
    warn,
)
from suffice.tables.csv.chunks import TextRows
from suffice.tables.csv.table import CsvTable
from suffice.tables.encodings import encoding_of
from suffice.tables.table_bytes import KNOWN, ZIP, TableBytes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from suffice.columns.spellings.spelling import Spelling
    from suffice.rows.tables import Table
    from suffice.tables.arrow import ArrowTable
    from suffice.tables.csv.cells import ColumnEvidence
    from suffice.tables.workbooks.sheet import SheetTable

CELLS = 1_000_000
"""Cells that are held as text at a time."""
MOST_ROWS = 65_536
"""Rows of one chunk, at most."""
NUMBERED = 1_000_000
"""Rows that are read again to find the line of one."""


class TableFile:
    r"""A table that is read in chunks; its memory does not grow with its rows.

    >>> import tempfile
    >>> from pathlib import Path
    >>> place = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = place.write_text("size,colour\n1.5,red\n?,blue\n")
    >>> table = open_table(place)
    >>> table.names, table.kinds()
    (('size', 'colour'), ('number', 'category'))
    >>> [chunk.cells for chunk in table.chunks()]
    [(array([1.5, nan]), array(['red', 'blue'], dtype=object))]
    """

    def __init__(self, held: TextRows | ArrowTable) -> None:
        self._held = held
        self._evidence: list[ColumnEvidence] | None = None

    @property
    def name(self) -> str:
        """How the table is called in a refusal."""
        return self._held.name

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._held.names

    def share(self) -> float | None:
        """Return which part of the file has been read; None where that is not known."""
        return self._held.share()

    @property
    def chunk_size(self) -> int:
        """How many rows are read at a time."""
        return max(1, min(MOST_ROWS, CELLS // len(self.names)))

    def kinds(self, told: Callable[[int], None] | None = None) -> tuple[str, ...]:
        """Return what each column holds, by all its rows; `told` hears how many were read."""
        return tuple(seen.kind for seen in self.evidence(told))

    def evidence(self, told: Callable[[int], None] | None = None) -> list[ColumnEvidence]:
        """Return what the cells of each column are; of several tables it can be joined."""
        if self._evidence is None:
            self._evidence = self._held.evidence(self.chunk_size, told or (lambda _: None))
            for seen in self._evidence:
                seen.located(self._place)
        return self._evidence

    def _place(self, row: int) -> str:
        """Return where a row stands; far down its number has to do."""
        if not isinstance(self._held, TextRows) or row > NUMBERED:
            return f"{self.name}, row {row:,}"
        return self._held.lines_of([row], self.chunk_size)[row]

    @property
    def delimiter(self) -> str | None:
        """What stands between cells of text; None where nothing does."""
        return self._held.dialect.delimiter if isinstance(self._held, CsvTable) else None

    @property
    def is_typed(self) -> bool:
        """Whether columns have types of their own, which no other table can change."""
        return not isinstance(self._held, TextRows)

    @property
    def dates(self) -> Mapping[str, Spelling]:
        """Which columns are dates or times by their type; none of what is text."""
        return {} if isinstance(self._held, TextRows) else self._held.dates

    @property
    def is_lasting(self) -> bool:
        """Whether it is a file, and will be there for another process as well."""
        return self._held.is_lasting

    @property
    def stored(self) -> int:
        """How many bytes the table has; 0 where that is not known."""
        return self._held.stored

    def chunks(
        self, names: Sequence[str] | None = None, kinds: Sequence[str] | None = None
    ) -> Iterator[Table]:
        """Yield the rows of some columns, in this order and as these kinds.

        Without kinds they are those of the table itself.
        """
        wanted = self.names if names is None else tuple(names)
        there = set(self.names)
        lacking = [name for name in wanted if name not in there]
        if lacking:
            raise missing_columns(self.name, lacking, self.names)
        if kinds is None:
            found = dict(zip(self.names, self.kinds(), strict=True))
            kinds = [found[name] for name in wanted]
        yield from self._held.tables(wanted, kinds, self.chunk_size)


def open_table(
    source: str | Path,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    expected: Collection[str] = (),
    encoding: str | None = None,
    sheet: str | None = None,
    on_guess: Callable[[str], object] | None = None,
    once: bool = False,
    called: str | None = None,
) -> TableFile:
    """Open a table. `expected` are names of columns that help to tell a header from a row.

    `encoding` says how characters are written; without it that is found out, and `on_guess` hears
    of what bytes cannot tell for certain, as soon as they are read. If nobody is there to hear, a
    warning is given (`GuessedEncoding`).

    With `once`, standard input and other pipes are read as they come, and only once: there is no
    time to ask for `kinds`. Refusals name the table as it is `called`, if not by its path.
    """
    held = TableBytes(source, again=not once, called=called)
    if held.beginning.startswith(KNOWN):
        from suffice.tables.arrow import ArrowTable, is_arrow

        if is_arrow(held.beginning):
            held.set_aside()  # its end has to be known before its beginning
            return TableFile(ArrowTable(held))
    if held.beginning.startswith(ZIP):
        return TableFile(_sheet_of(held, sheet, header, expected, on_guess))
    if sheet is not None:
        raise BadSetting(
            f"{held.name} is not a workbook: it has no sheet {sheet!r:.60}",
            hint="only .xlsx files have sheets",
        )
    named = None if encoding is None else encoding_of(encoding)
    held.read_as_text(
        named, partial(warn, category=GuessedEncoding) if on_guess is None else on_guess
    )
    start = b"".join(held.beginning.lstrip(b"\xef\xbb\xbf").split())[:2]
    if start[:1] == b"{":
        from suffice.tables.json.lines import JsonTable

        return TableFile(JsonTable(held, expected=expected if once and held.is_live else None))
    if start in (b"[{", b"[]"):
        from suffice.tables.json.arrays import JsonArrayTable

        return TableFile(JsonArrayTable(held, expected=expected if once and held.is_live else None))
    told = partial(warn, category=GuessedTable) if on_guess is None else on_guess
    return TableFile(
        CsvTable(held, delimiter=delimiter, header=header, expected=expected, note=told)
    )


def _sheet_of(
    held: TableBytes,
    sheet: str | None,
    header: bool | None,
    expected: Collection[str],
    on_guess: Callable[[str], object] | None,
) -> SheetTable:
    """Return a sheet of a workbook; other archives are refused."""
    from suffice.tables.workbooks.archive import is_workbook
    from suffice.tables.workbooks.sheet import SheetTable

    held.set_aside()  # what comes by a pipe: an archive is read from its end
    with held.open() as file:
        known = is_workbook(file, held.name)
    if not known:
        raise BadFile(
            f"{held.name} is a zip file (such as a model) and not a workbook (.xlsx), so not a "
            f"table",
            hint="tables are CSV, Parquet, Arrow, JSON or .xlsx; save or export it as one",
        )
    told = partial(warn, category=GuessedTable) if on_guess is None else on_guess
    return SheetTable(held, sheet=sheet, header=header, expected=expected, note=told)


def missing_columns(
    table: str, lacking: Sequence[str], there: Sequence[str], otherwise: str | None = None
) -> ColumnMismatch:
    """Return the refusal of a table that lacks columns; names that are near are offered.

    `otherwise` is the hint where none is near; None lists the columns that are there.
    """
    from difflib import get_close_matches

    few = [repr(name) for name in lacking[:3]]
    more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
    near = [(name, get_close_matches(name, there, n=3)) for name in lacking[:3]]
    meant = [f"{' or '.join(map(repr, names))}" for _, names in near if names]
    if otherwise is None:
        otherwise = f"it has {listed(there)}"
    hint = f"did you mean {'; '.join(meant)}?" if meant else otherwise
    return ColumnMismatch(f"{table} has no column {', '.join(few)}{more}", hint=hint)
