"""Lines of text, in blocks: of a file as they are read, of a pipe as they come."""

from __future__ import annotations

import codecs
import io
import time
from sys import getsizeof
from typing import IO, TYPE_CHECKING

from suffice.errors import BadRows
from suffice.files.live_bytes import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 1 << 18
"""Bytes that are read at a time."""
LONGEST_RECORD = 1 << 23
"""Characters of one row, its line or its lines together.

The longest novels have six million. A row has to be in memory at once, in several copies: a small
packed file could otherwise take all there is."""


class TextLines:
    r"""Whole lines, as many at a time as there are; ends of lines stay as they are.

    >>> list(TextLines(io.BytesIO(b"a,b\r\n1,2"), "utf-8-sig", "a.csv"))
    [['a,b\r\n'], ['1,2']]
    """

    def __init__(self, file: IO[bytes], encoding: str, name: str) -> None:
        self._file = file
        self._encoding = encoding
        self._name = name
        self.given = 0
        """How many bytes of memory the characters take that have come."""

    def __iter__(self) -> Iterator[list[str]]:
        decoder = codecs.getincrementaldecoder(self._encoding)(errors="strict")
        begun: list[str] = []  # of a line that has not ended yet
        held = 0  # its characters
        done = 0
        block = b" "
        while block:
            block = self._file.read1(BLOCK)  # type: ignore[attr-defined]
            wrong = ""
            try:
                text = decoder.decode(block, not block)
            except UnicodeDecodeError as error:
                wrong = (
                    f"the byte 0x{error.object[error.start]:02x} is not "
                    f"{self._encoding.removesuffix('-sig')}"
                )
                sound = len(block) - (len(error.object) - error.start)
                text = decoder.decode(block[: max(0, sound)])
            if "\0" in text:
                wrong = "the character NUL is no text"
                text = text[: text.index("\0")]
            self.given += len(text) if text.isascii() else getsizeof(text)
            end = end_of_lines(text)
            if end:
                lines = split_lines("".join((*begun, text[:end])))
                if held + end > LONGEST_RECORD:  # else none of them can be as long
                    self._refuse_long(lines, done)
                begun, held = [], 0
                done += len(lines)
                yield lines
            begun.append(text[end:])
            held += len(text) - end
            if held > LONGEST_RECORD:
                raise too_long(f"{self._name}, line {done + 1}")
            if wrong:
                raise BadRows(
                    f"{self._name}, line {done + 1}: {wrong}",
                    hint="is it another kind of file, or damaged? If its characters are written "
                    f"in another way, convert it first: iconv -f latin1 -t utf-8 {self._name}",
                )
        rest = split_lines("".join(begun))
        if rest:
            yield rest

    def _refuse_long(self, lines: list[str], done: int) -> None:
        for number, line in enumerate(lines, start=done + 1):
            if len(line) > LONGEST_RECORD:
                raise too_long(f"{self._name}, line {number}")

    def pause(self, since: float) -> bool:
        """Whether nothing more has come for a while, now or some time after `since`."""
        waits = getattr(self._file, "waits", None)
        return waits is not None and bool(waits(since + PATIENCE - time.monotonic()))


def too_long(place: str) -> BadRows:
    """Return the refusal of a row that is longer than any row should be."""
    return BadRows(
        f"{place}: a row has more than {LONGEST_RECORD:,} characters",
        hint="is a line break or a quotation mark missing? Longer texts can be read from Parquet",
    )


def end_of_lines(text: str) -> int:
    r"""Return where the last whole line ends; after a `\r` that is last, a `\n` may come.

    >>> end_of_lines("a\nb"), end_of_lines("a\r\nb\r"), end_of_lines("a")
    (2, 3, 0)
    """
    return max(text.rfind("\n"), text.rfind("\r", 0, -1)) + 1


def split_lines(text: str) -> list[str]:
    r"""Return the lines of a text, parted by `\n`, `\r\n` or `\r` and nothing else.

    >>> split_lines("a\r\nb\x0bc\rd")
    ['a\r\n', 'b\x0bc\r', 'd']
    """
    return list(io.StringIO(text, newline=""))
