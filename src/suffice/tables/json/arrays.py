"""JSON arrays: one array of objects, an object a row, read as they come."""

from __future__ import annotations

import codecs
import json
from sys import getsizeof
from typing import IO, TYPE_CHECKING, Any

from suffice.errors import BadRows
from suffice.tables.csv.chunks import BLOCK, LONGEST_RECORD, TextLines, too_long
from suffice.tables.encodings import OTHERWISE
from suffice.tables.json.lines import JsonTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

SPACE = " \t\r\n"
"""What may stand between the objects of an array."""


class ArrayObjects(TextLines):
    """The objects of an array with their lines, as many at a time as there are.

    No more than one object and a block are held as text.
    """

    def __init__(
        self, file: IO[bytes], encoding: str, name: str, decoder: json.JSONDecoder
    ) -> None:
        super().__init__(file, encoding, name)
        self._decoder = decoder

    def objects_found(
        self, unreadable: Callable[[int, Exception], BadRows]
    ) -> Iterator[list[tuple[int, Any, str]]]:
        """Yield the line on which each object ends, the object, and its text."""
        text, at, line, begun, ended, comma = "", 0, 1, False, False, False
        decoder = codecs.getincrementaldecoder(self._encoding)(errors="strict")
        last = False
        while not last:
            block = self._file.read1(BLOCK)  # type: ignore[attr-defined]
            last = not block
            text, at = text[at:] + self._decoded(decoder, block, line), 0
            rows: list[tuple[int, object, str]] = []
            while True:
                start = at
                while at < len(text) and text[at] in SPACE:
                    at += 1
                line += text.count("\n", start, at)
                if at == len(text):
                    break
                mark = text[at]
                if ended:
                    raise BadRows(
                        f"{self._name}, line {line}: {text[at : at + 20]!r} comes after the end of "
                        "the array",
                        hint="a table is one array of objects, or one object per line",
                    )
                if not begun or (comma and mark in ",]") or (mark == "]" and not comma):
                    begun, ended, comma = True, mark == "]", False
                    at += 1
                    continue
                if comma or mark != "{":
                    what = "not a comma" if comma else "not an object"
                    raise BadRows(
                        f"{self._name}, line {line}: {text[at : at + 20]!r} is {what}",
                        hint='an array of objects is [{"size": 1.5}, {"size": 2}]',
                    )
                try:
                    row, end = self._decoder.raw_decode(text, at)
                except (ValueError, RecursionError) as error:
                    held = len(text) - at
                    if last or held > LONGEST_RECORD or not isinstance(error, json.JSONDecodeError):
                        raise unreadable(line, error) from None
                    break  # the object goes on in the next block
                if end - at > LONGEST_RECORD:
                    raise too_long(f"{self._name}, line {line}")
                line += text.count("\n", at, end)
                rows.append((line, row, text[at:end]))
                at, comma = end, True
            yield rows
        if not ended:
            raise BadRows(
                f"{self._name}, line {line}: the array has no end", hint="is the file cut short?"
            )

    def _decoded(self, decoder: Any, block: bytes, line: int) -> str:
        try:
            text: str = decoder.decode(block, not block)
        except UnicodeDecodeError as error:
            raise BadRows(
                f"{self._name}, beyond line {line}: the byte 0x{error.object[error.start]:02x} is "
                f"not {self._encoding.removesuffix('-sig')}",
                hint=OTHERWISE,
            ) from None
        self.given += len(text) if text.isascii() else getsizeof(text)
        return text


class JsonArrayTable(JsonTable):
    r"""A table that is one JSON array of objects.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from suffice.tables.table_bytes import TableBytes
    >>> place = Path(tempfile.mkdtemp()) / "a.json"
    >>> _ = place.write_text('[{"size": 1.5},\n {"size": null, "colour": "red"}]')
    >>> table = JsonArrayTable(TableBytes(place))
    >>> [chunk.columns for chunk in table.text_chunks(100)]
    [[['1.5', ''], ['', 'red']]]
    """

    def lines(self, file: IO[bytes]) -> TextLines:
        """Return the objects of a file."""
        return ArrayObjects(file, self._encoding, self.name, self._decoder)

    def objects(
        self, blocks: Iterable[list[str]]
    ) -> Iterator[tuple[int, dict[str, object]] | None]:
        """Yield objects with their lines, and None after each block."""
        assert isinstance(blocks, ArrayObjects)
        for rows in blocks.objects_found(self.unreadable):
            for line, row, text in rows:
                yield line, self.whole_row(row, line, text)
            yield None
