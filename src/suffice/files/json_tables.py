"""JSON lines: one object a row; what an object does not mention is blank."""

from __future__ import annotations

import io
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from suffice.errors import BadFile, BadRows
from suffice.files.text_chunks import TextChunk, TextRows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from suffice.files.table_bytes import TableBytes


class JsonTable(TextRows):
    r"""A table of JSON lines. Cells are read as in CSV: `1`, `1.0` and `"1"` are one number.

    The columns are those of all rows, in the order in which they are first mentioned. With
    `expected`, where a stream cannot be read twice, they are these and those of the first row.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from suffice.files.table_bytes import TableBytes
    >>> place = Path(tempfile.mkdtemp()) / "a.jsonl"
    >>> _ = place.write_text('{"size": 1.5}\n{"size": null, "colour": "red"}\n')
    >>> table = JsonTable(TableBytes(place))
    >>> table.names
    ('size', 'colour')
    >>> [chunk.columns for chunk in table.text_chunks(100)]
    [[['1.5', ''], ['', 'red']]]
    """

    def __init__(self, source: TableBytes, *, expected: Collection[str] | None = None) -> None:
        super().__init__(source)
        names: dict[str, None] = {}
        if expected is None:
            for _, row in self._rows():
                names.update(dict.fromkeys(row))
        else:
            names = dict.fromkeys((*_first_names(source), *expected))
        if not names:
            raise BadFile(f"{self.name} has no columns", hint="each line is an object with names")
        self.names = tuple(names)

    def text_chunks(self, size: int) -> Iterator[TextChunk]:
        """Yield the rows, `size` at a time, cut into columns of text."""
        known = dict.fromkeys(self.names)
        columns: list[list[str]] = [[] for _ in known]
        lines: list[int] = []
        for line, row in self._rows():
            for name, column in zip(known, columns, strict=True):
                column.append(self._text(row.get(name), line, name))
            lines.append(line)
            if len(lines) >= size:
                yield TextChunk(columns, lines)
                columns, lines = [[] for _ in known], []
        if lines:
            yield TextChunk(columns, lines)

    def _rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        with io.TextIOWrapper(self._source.open(), "utf-8-sig", errors="strict") as text:
            line = 0
            try:
                for line, given in enumerate(text, start=1):
                    if given.isspace():
                        continue
                    row = json.loads(given, parse_constant=str)
                    if not isinstance(row, dict):
                        raise BadRows(
                            f"{self.name}, line {line}: {given.strip()!r:.40} is no object",
                            hint='one row a line: {"size": 1.5, "colour": "red"}',
                        )
                    yield line, row
            except (json.JSONDecodeError, RecursionError) as error:
                raise BadRows(
                    f"{self.name}, line {line}: {str(error).partition(':')[0]}",
                    hint='one object a line, as in {"size": 1.5, "colour": "red"}; '
                    "a JSON array becomes lines by: jq -c '.[]'",
                ) from None
            except UnicodeDecodeError as error:
                raise BadRows(
                    f"{self.name}, line {line + 1}: the byte "
                    f"0x{error.object[error.start]:02x} is not UTF-8",
                    hint="JSON is written in UTF-8",
                ) from None

    def _text(self, value: Any, line: int, name: str) -> str:
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, float)):
            return repr(value)
        raise BadRows(
            f"{self.name}, line {line}, {name}: a {type(value).__name__} is no cell",
            hint="a cell is a number, a text, true, false or null",
        )


def _first_names(source: TableBytes) -> tuple[str, ...]:
    """Return the names that the first row mentions."""
    start = source.beginning.decode("utf-8-sig", errors="ignore").lstrip()
    with suppress(ValueError):
        row, _ = json.JSONDecoder(parse_constant=str).raw_decode(start)
        return tuple(row)
    return ()
