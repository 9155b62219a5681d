"""JSON as it arrives: a small body at once, a large one a row at a time.

A body of 64 MB takes a second to read, in which nobody else would be answered: the interpreter is
held as long as one call lasts. So large ones are read by a thread, element by element.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from suffice.serve.http.limits import SMALL_BODY
from suffice.serve.http.problems import HttpProblem

if TYPE_CHECKING:
    from collections.abc import Iterator

SPACE = re.compile(r"[ \t\n\r]*")
"""What may stand between the parts of a JSON text."""
SMALL = msgspec.json.Decoder()
"""Reads small bodies; it refuses NaN and Infinity, which are no JSON."""
MOST_KEYS = 100_000
"""Names in an object that is read piece by piece: as many as a table may have columns."""


def json_of(body: bytes) -> Any:
    r"""Return what a JSON text says, or refuse it.

    >>> json_of(b'{"rows": [[1, null]]}')
    {'rows': [[1, None]]}
    >>> json_of(b"[NaN]")
    Traceback (most recent call last):
    suffice.serve.http.problems.HttpProblem: the body is not JSON: ...
    """
    if len(body) <= SMALL_BODY:
        try:
            return SMALL.decode(body)
        except msgspec.DecodeError as error:
            raise _no_json(str(error)) from None
        except (UnicodeDecodeError, RecursionError):
            raise _no_json("it is not UTF-8, or nested too deeply") from None
    try:
        return _LongText(body.decode("utf-8")).value()
    except UnicodeDecodeError:
        raise _no_json("it is not UTF-8") from None
    except RecursionError:
        raise _no_json("it is nested too deeply") from None
    except ValueError as error:
        raise _no_json(str(error)) from None


def _no_json(why: str) -> HttpProblem:
    return HttpProblem(
        400, f"the body is not JSON: {why[:200]}",
        "numbers are finite, and null stands for a blank cell",
    )  # fmt: skip


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number that JSON allows")


class _LongText:
    """A long JSON text: the lists and objects at its top are read one element after the other."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._decoder = json.JSONDecoder(parse_constant=_refuse_constant)

    def value(self) -> Any:
        found = self._part(0)
        self._skip()
        if self._at != len(self._text):
            raise ValueError(f"there is more after its end, at character {self._at}")
        return found

    def _part(self, depth: int) -> Any:
        """Return a list or an object that is near the top, or anything else in one go."""
        self._skip()
        mark = self._text[self._at : self._at + 1]
        if depth < 3 and mark == "[":  # rows; columns of cells
            return list(self._elements("]", depth))
        if depth < 2 and mark == "{":
            found: dict[str, object] = {}
            for name in self._elements("}", depth):
                if not isinstance(name, str):
                    raise ValueError(  # noqa: TRY004
                        f"a name is expected at character {self._at}"
                    )
                self._expect(":")
                found[name] = self._part(depth + 1)
                if len(found) > MOST_KEYS:
                    raise ValueError(f"an object has more than {MOST_KEYS:,} names")
            return found
        value, self._at = self._decoder.raw_decode(self._text, self._at)
        return value

    def _elements(self, end: str, depth: int) -> Iterator[object]:
        self._at += 1
        self._skip()
        if self._text[self._at : self._at + 1] == end:
            self._at += 1
            return
        while True:
            self._skip()
            if end == "}":
                value, self._at = self._decoder.raw_decode(self._text, self._at)
                yield value
            else:
                yield self._part(depth + 1)
            self._skip()
            mark = self._text[self._at : self._at + 1]
            self._at += 1
            if mark == end:
                return
            if mark != ",":
                raise ValueError(f"a comma or {end} is expected at character {self._at - 1}")

    def _expect(self, mark: str) -> None:
        self._skip()
        if self._text[self._at : self._at + 1] != mark:
            raise ValueError(f"{mark} is expected at character {self._at}")
        self._at += 1

    def _skip(self) -> None:
        found = SPACE.match(self._text, self._at)
        assert found is not None
        self._at = found.end()
