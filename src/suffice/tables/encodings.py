"""How characters are written: text in any encoding becomes UTF-8, in pieces.

Where nobody says how, a byte order mark does, and else the first character that is not ASCII: up to
there the encodings are the same. If it is UTF-8, so is the table, strictly. If it is not, the whole
table is looked at (of a pipe, what comes), and is read as Windows-1252, which Latin-1 is a part of,
if that is possible and plausible:

* every byte from there on is defined in it, and is no control character
* most letters beyond ASCII stand by themselves, as they do in western languages. In other alphabets
  they stand together, and in damaged UTF-8 too: there each is two bytes or more.
"""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from suffice.errors import BadRows, BadSetting
from suffice.tables.byte_streams import BytePieces

if TYPE_CHECKING:
    from collections.abc import Callable

UTF8, WESTERN = "utf-8", "windows-1252"
"""What a table is written in, where nobody says so."""
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # begins like that of UTF-16
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Byte order marks; that of UTF-8 says nothing new."""
NOT_FOR_TABLES = ("idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "utf-7")
"""Codecs of Python by which ASCII is not read as it stands, or nothing can be read in pieces."""
BLOCK = 1 << 18
"""Bytes that are read at a time, where nobody says how many."""
WORD = 20
"""Bytes on each side of the one that decided that a note shows, at most."""
LONGEST_CHARACTER = 4
"""Bytes of a character in UTF-8, at most."""
ASCII, BEYOND = bytes(range(128)), bytes(range(128, 256))
"""The bytes that are the same in all of these encodings, and the others."""
FIRST_BEYOND = re.compile(rb"[\x80-\xff]")
"""The byte that decides: up to it nothing can be told."""
IMPOSSIBLE = re.compile(rb"[\x00-\x08\x0e-\x19\x1b-\x1f\x7f\x81\x8d\x8f\x90\x9d]")
"""What no text in Windows-1252 holds: bytes without a meaning, and controls other than blanks and
0x1a, by which old programs end a file."""
TOGETHER = re.compile(rb"[\xc0-\xff][\x80-\xff]+")
"""A letter with other characters beyond ASCII behind it."""
BEFORE, AFTER = re.compile(rb"[^\s,;|\"]*\Z"), re.compile(rb"[^\s,;|\"]*")
"""The rest of a word, on either side."""

OTHERWISE = (
    "is it another kind of file, or damaged? If it uses another encoding, name "
    "it: --encoding windows-1252, for instance"
)
"""The hint of a refusal of bytes that are no characters."""


def encoding_of(given: str) -> str:
    """Return the name of an encoding as Python knows it; one that is not known is refused.

    >>> encoding_of("Latin1"), encoding_of("UTF8"), encoding_of("windows-1252")
    ('iso8859-1', 'utf-8', 'cp1252')
    """
    try:
        found = codecs.lookup(given)
        "a".encode(given)  # a LookupError where it is not an encoding of text: hex, zip, rot13
        known = found.incrementaldecoder is not None
        if known and found.name.replace("_", "-") not in {
            name.replace("_", "-") for name in NOT_FOR_TABLES
        }:
            return UTF8 if found.name == "utf-8-sig" else str(found.name)
    except (LookupError, ValueError):  # a name with NUL in it is a ValueError
        pass
    raise BadSetting(
        f"{given!r:.40} is not a known text encoding",
        hint="utf-8, windows-1252, latin-1, utf-16, windows-1250, shift_jis and so on",
    )


def marked_encoding(head: bytes) -> str | None:
    r"""Return the encoding that a byte order mark names.

    >>> marked_encoding("a".encode("utf-16")), marked_encoding(b"a,b\n")
    ('utf-16', None)
    """
    return next((name for mark, name in MARKS.items() if head.startswith(mark)), None)


class LineCount:
    r"""How many lines have ended, by `\n`, `\r\n` or `\r`.

    >>> lines = LineCount()
    >>> lines.see(b"a\r")
    >>> lines.see(b"\nb\rc\n")
    >>> lines.done
    3
    """

    def __init__(self) -> None:
        self.done = 0
        self._half = False

    def see(self, text: bytes) -> None:
        """Count the lines that end in the bytes that come next."""
        if text:
            self.done += text.count(b"\n") - (self._half and text.startswith(b"\n"))
            returns = text.count(b"\r")
            if returns:
                self.done += returns - text.count(b"\r\n")
            self._half = text.endswith(b"\r")


class WesternText:
    r"""What speaks for bytes, not UTF-8, being Windows-1252, as far as they have been seen.

    >>> seen = WesternText()
    >>> seen.see(b"a,b\n1,caf\xe9\n")
    >>> seen.is_plausible, seen.line, seen.word
    (True, 2, 'café')
    >>> seen = WesternText()
    >>> seen.see("a,b\n1,кофе\n".encode("windows-1251"))
    >>> seen.is_plausible
    False
    """

    def __init__(self) -> None:
        self.line = 0
        """The line of the first character beyond ASCII; 0 before it has come."""
        self.word = ""
        """The word that it is in."""
        self.impossible: int | None = None
        """A byte that no such text holds."""
        self._lines = LineCount()
        self._beyond = self._together = 0
        self._rest = b""

    @property
    def is_plausible(self) -> bool:
        """Whether it can be such a text, and looks like one."""
        together = self._together + sum(map(len, TOGETHER.findall(self._rest)))
        return self.impossible is None and 2 * together < self._beyond

    def see(self, block: bytes) -> None:
        """Look at the bytes that come next."""
        if not self.line:
            found = FIRST_BEYOND.search(block)
            if found is None:
                self._lines.see(block)
                return
            at = found.start()
            self._lines.see(block[:at])
            self.line = self._lines.done + 1
            self.word = _word(block, at)
            block = block[at:]
        wrong = IMPOSSIBLE.search(block)
        if wrong is not None and self.impossible is None:
            self.impossible = block[wrong.start()]
        self._beyond += len(block.translate(None, ASCII))
        data = self._rest + block
        self._rest = data[len(data.rstrip(BEYOND)) :]
        if len(self._rest) > BLOCK:  # no word is as long
            self.impossible = self._rest[0]
            self._rest = b""
        self._together += sum(map(len, TOGETHER.findall(data[: len(data) - len(self._rest)])))


def _word(block: bytes, at: int) -> str:
    before, after = BEFORE.search(block[max(0, at - WORD) : at]), AFTER.match(block[at : at + WORD])
    assert before is not None
    assert after is not None
    return (before.group() + after.group()).decode(WESTERN, "replace")


class Utf8Bytes(BytePieces):
    r"""Text in UTF-8, from bytes that are written in some way.

    Without an `encoding` the first character beyond ASCII decides. `survey` looks at the whole
    table then, and is None where that comes only once; `settled` hears what was decided.

    >>> import io
    >>> Utf8Bytes(io.BytesIO("a,é\n".encode("utf-16")), "a.csv", "utf-16").read().decode()
    'a,é\n'
    >>> said = []
    >>> file = io.BytesIO(b"a,\xe9\n")
    >>> Utf8Bytes(file, "a.csv", settled=lambda name, seen: said.append(name)).read().decode(), said
    ('a,é\n', ['windows-1252'])
    """

    def __init__(
        self,
        held: Any,
        name: str,
        encoding: str | None = None,
        *,
        survey: Callable[[], WesternText] | None = None,
        settled: Callable[[str, WesternText], object] | None = None,
    ) -> None:
        self._held, self._name, self._encoding = held, name, encoding
        self._survey, self._settled = survey, settled
        self._decoder: Any = None
        self._seen = WesternText()
        self._awaits_end = False  # whether what was decided may yet turn out to be wrong
        self._lines = LineCount()
        self._kept = self._ready = b""
        self._wrong: BadRows | None = None
        self._ended = False
        if encoding is not None:
            self._decoder = codecs.getincrementaldecoder(encoding)("strict")

    def waits(self, seconds: float) -> bool:
        """Whether a reader would have to wait for longer than this."""
        if self._ready or self._ended:
            return False
        inner = getattr(self._held, "waits", None)
        return inner is not None and bool(inner(seconds))

    def read1(self, size: int = -1, /) -> bytes:
        """Return what can be read without waiting; wait only if nothing can."""
        while not self._ready:
            if self._wrong is not None:
                raise self._wrong
            if self._encoding == UTF8:
                found: bytes = self._held.read1(size)
                return found
            if self._ended or not size:
                return b""
            block = self._held.read1(BLOCK if size < 0 else size)
            self._ended = not block
            if self._decoder is None:
                self._ready = self._undecided(block)
            else:
                self._ready = (self._guessed if self._awaits_end else self._decoded)(block)
        if size < 0 or size >= len(self._ready):
            given, self._ready = self._ready, b""
        else:
            given, self._ready = self._ready[:size], self._ready[size:]
        return given

    def _undecided(self, block: bytes) -> bytes:
        """Return what can be given of bytes before, or with, the first that are not ASCII."""
        data = self._kept + block
        found = FIRST_BEYOND.search(data) if not data.isascii() else None
        if found is None:
            self._note_seen(data)
            return data
        at = found.start()
        try:
            start = data[at : at + LONGEST_CHARACTER]
            whole = codecs.utf_8_decode(start, "strict", self._ended)[1] > 0
        except UnicodeDecodeError as error:
            whole = error.start > 0
            if not whole:
                return self._not_utf8(data)
        if not whole:  # more of the character has to come
            self._kept = data[at:]
            self._note_seen(data[:at])
            return data[:at]
        self._settle(UTF8)
        return data

    def _note_seen(self, block: bytes) -> None:
        """Count lines, where they cannot be read again."""
        if self._survey is None:
            self._lines.see(block)
            self._seen.see(block)

    def _not_utf8(self, data: bytes) -> bytes:
        """Return how bytes go on that have to be something else."""
        if self._survey is not None:
            self._seen = self._survey()
            plausible = self._seen.is_plausible
        else:  # what has not come yet is looked at when it does
            self._seen.see(data)
            plausible = self._seen.impossible is None
        self._settle(WESTERN if plausible else UTF8)
        if not plausible:
            return data  # the reader refuses it by its line
        self._decoder = codecs.getincrementaldecoder(WESTERN)("strict")
        self._awaits_end = self._survey is None
        return self._decoded(data)

    def _settle(self, encoding: str) -> None:
        self._encoding = encoding
        self._kept = b""
        if self._settled is not None:
            self._settled(encoding, self._seen)

    def _guessed(self, block: bytes) -> bytes:
        """Return bytes that come later as UTF-8, unless they speak against what was decided."""
        end = len(block)
        if block:
            self._seen.see(block)
            wrong = IMPOSSIBLE.search(block)
            end = end if wrong is None else wrong.start()
        given = self._decoded(block[:end]) if end else b""
        if end < len(block):
            self._wrong = self._refusal(f"the byte 0x{block[end]:02x} is not {WESTERN}")
        elif not block and not self._seen.is_plausible:
            self._wrong = BadRows(
                f"{self._name}, line {self._seen.line}: {self._seen.word!r:.40} is not utf-8, and "
                f"what follows is not text in {WESTERN}: non-ASCII letters occur side by side",
                hint=OTHERWISE,
            )
        return given

    def _decoded(self, block: bytes) -> bytes:
        """Return bytes as UTF-8; at a wrong one, those before it."""
        try:
            given: bytes = self._decoder.decode(block, not block).encode()
        except UnicodeDecodeError as error:
            wrong = f"the byte 0x{error.object[error.start]:02x} is not {self._encoding}"
            sound = len(block) - (len(error.object) - error.start)
            given = b""
            with suppress(UnicodeDecodeError):
                given = self._decoder.decode(block[: max(0, sound)]).encode()
            self._lines.see(given)
            self._wrong = self._refusal(wrong)
            return given
        self._lines.see(given)
        return given

    def _refusal(self, words: str) -> BadRows:
        return BadRows(f"{self._name}, line {self._lines.done + 1}: {words}", hint=OTHERWISE)

    def close(self) -> None:
        """Close what is read too."""
        if not self.closed:
            self._held.close()
        super().close()
