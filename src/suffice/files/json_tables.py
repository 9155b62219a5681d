"""JSON lines: one object a row; what an object does not mention is blank."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from suffice.errors import BadFile, BadRows
from suffice.files.text_chunks import TextRows
from suffice.files.text_lines import TextLines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from suffice.files.table_bytes import TableBytes
    from suffice.files.text_chunks import Record


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
            with source.open() as file:
                for found in self._objects(TextLines(file, self._encoding, self.name)):
                    names.update(dict.fromkeys(found[1] if found else ()))
        else:
            names = dict.fromkeys((*_first_names(source), *expected))
        if not names:
            raise BadFile(f"{self.name} has no columns", hint="each line is an object with names")
        self.names = tuple(names)

    def records(self, lines: TextLines) -> Iterator[Record | None]:
        """Yield each row and the line it ends on; None where the next may have to be waited for."""
        for found in self._objects(lines):
            if found is None:
                yield None
                continue
            line, row = found
            yield line, [self._text(row.get(name), line, name) for name in self.names]

    def _objects(self, blocks: Iterable[list[str]]) -> Iterator[tuple[int, dict[str, Any]] | None]:
        """Yield objects with their lines, and None after each block of lines."""
        line = 0
        for block in blocks:
            for line, given in enumerate(block, start=line + 1):  # noqa: B020
                if given.isspace():
                    continue
                try:
                    row = json.loads(given, parse_constant=str, parse_int=str)  # of any length
                except (json.JSONDecodeError, RecursionError) as error:
                    raise BadRows(
                        f"{self.name}, line {line}: {str(error).partition(':')[0]}",
                        hint='one object a line, as in {"size": 1.5, "colour": "red"}; '
                        "a JSON array becomes lines by: jq -c '.[]'",
                    ) from None
                if not isinstance(row, dict):
                    raise BadRows(
                        f"{self.name}, line {line}: {given.strip()!r:.40} is no object",
                        hint='one row a line: {"size": 1.5, "colour": "red"}',
                    )
                yield line, row
            yield None

    def _text(self, value: Any, line: int, name: str) -> str:
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, float):
            return repr(value)
        raise BadRows(
            f"{self.name}, line {line}, {name}: a {type(value).__name__} is no cell",
            hint="a cell is a number, a text, true, false or null",
        )


def _first_names(source: TableBytes) -> tuple[str, ...]:
    """Return the names that the first row mentions."""
    start = source.look(1).decode("utf-8-sig", errors="ignore").lstrip()
    with suppress(ValueError):
        row, _ = json.JSONDecoder(parse_constant=str, parse_int=str).raw_decode(start)
        return tuple(row)
    return ()
