"""Answers as they are sent: JSON, CSV or an Arrow stream."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

import msgspec

from suffice.serve.http.requests import ARROW, CSV, JSON
from suffice.tables.csv.inert_cells import inert

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ENCODE = msgspec.json.Encoder().encode
"""Writes JSON; made once."""
JSON_TYPE = b"application/json"
"""The media type of most answers, as bytes."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What is sent: a status, bytes, and what they are."""

    body: bytes
    media: bytes = JSON_TYPE
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()


def json_answer(content: object, status: int = 200) -> Answer:
    """Return an answer in JSON."""
    return Answer(ENCODE(content), JSON_TYPE, status)


def table_answer(
    how: str, columns: Mapping[str, Sequence[object]], notes: Sequence[str] = ()
) -> Answer:
    """Return a table as CSV or as an Arrow stream; notes are in a header.

    >>> print(table_answer(CSV, {"prediction": ["a"], "p(a)": [0.25]}).body.decode(), end="")
    prediction,p(a)
    a,0.25
    """
    assert how != JSON
    headers = tuple((b"suffice-note", _latin(note)) for note in notes)
    if how == ARROW:
        return Answer(_arrow(columns), ARROW.encode(), 200, headers)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([inert(name) for name in columns])
    writer.writerows([_cell(cell) for cell in row] for row in zip(*columns.values(), strict=True))
    return Answer(out.getvalue().encode("utf-8"), f"{CSV}; charset=utf-8".encode(), 200, headers)


def _arrow(columns: Mapping[str, Sequence[object]]) -> bytes:
    pa = import_module("pyarrow")
    arrays = []
    for cells in columns.values():
        try:
            arrays.append(pa.array(cells))
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # numbers beside texts
            arrays.append(pa.array([None if cell is None else str(cell) for cell in cells]))
    table = pa.Table.from_arrays(arrays, names=list(columns))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def _cell(cell: object) -> str:
    """Return a cell as CSV has it, with all its digits; no spreadsheet takes it for a formula."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return inert(cell) if isinstance(cell, str) else repr(cell)


def _latin(note: str) -> bytes:
    """Return a note as a header may have it."""
    return "".join(c if " " <= c <= "~" else "?" for c in note[:400]).encode("ascii")
