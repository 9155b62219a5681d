"""The sample of messages in a filter: kept as `RowSample` keeps rows, by the smallest hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.files.mail_entries import Damage
from suffice.files.mail_summary import LABELS
from suffice.rows.row_hashes import joined_hashes, label_hashes
from suffice.statistics.row_sample import MOST, RowSample, SampledRow
from suffice.models.text.documents import Documents

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from suffice.files.mail_letters import Letter

MIDDLE = 1 << 63
"""SQLite's numbers have a sign: the smallest hash is the smallest number."""


def documents_of(some: Sequence[Letter]) -> Documents:
    r"""Return letters as models read them.

    >>> from suffice.files.mail_letters import letter_of
    >>> documents_of([letter_of(b"To: bob\n\nHi")]).starts
    [b'To: bob\n\nHi\n']
    """
    return Documents([letter.text for letter in some], [letter.start for letter in some])


def sampled(
    connection: sqlite3.Connection, letter: Letter, code: int, times: int, limit: int
) -> int:
    """Count a letter so many times more, or fewer, in the sample; return its new limit."""
    hashes = joined_hashes([documents_of([letter]).hashes(), label_hashes([LABELS[code]])])
    place = int(hashes[0]) - MIDDLE
    if place + MIDDLE >= limit:
        return limit
    connection.execute(
        "INSERT INTO sample VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (hash) DO UPDATE SET weight = weight + excluded.weight",
        (place, code, times, letter.text.encode("utf-8", "surrogatepass"), letter.start),
    )
    connection.execute("DELETE FROM sample WHERE hash = ? AND weight <= 0", (place,))
    if connection.execute("SELECT count(*) FROM sample").fetchone()[0] <= MOST:
        return limit
    (largest,) = connection.execute("SELECT max(hash) FROM sample").fetchone()
    connection.execute("DELETE FROM sample WHERE hash = ?", (largest,))
    return int(largest) + MIDDLE


def write_sample(connection: sqlite3.Connection, sample: RowSample) -> None:
    """Put the messages of a sample into a filter that has none."""
    connection.executemany(
        "INSERT INTO sample VALUES (?, ?, ?, ?, ?)",
        (
            (
                place - MIDDLE,
                LABELS.index(str(row.label)),
                int(row.weight),
                row.cells[0].encode("utf-8", "surrogatepass"),
                row.cells[1].encode("latin-1"),
            )
            for place, row in sorted(sample.rows.items())
        ),
    )


def read_sample(connection: sqlite3.Connection, limit: int) -> RowSample:
    """Return the sample of a filter."""
    rows = {}
    try:
        for place, code, weight, text, start in connection.execute("SELECT * FROM sample"):
            cells = (bytes(text).decode("utf-8", "surrogatepass"), bytes(start).decode("latin-1"))
            rows[place + MIDDLE] = SampledRow(cells, LABELS[code], float(weight))
            if not (place + MIDDLE < limit and weight > 0):
                raise Damage("the sample holds what does not belong there")
    except (TypeError, ValueError, IndexError):
        raise Damage("the sample holds what is no message") from None
    return RowSample(rows, limit)
