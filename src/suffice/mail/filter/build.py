"""A mail filter made at once: from mailboxes, or of several filters; whole or not at all."""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from suffice.errors import BadFile, BadRows, FileInUse
from suffice.mail.filter.calibration import (
    calibration_of,
    documents_of,
    estimated,
    learner,
    statistics_of,
    stored_counts,
    write_sample,
)
from suffice.mail.filter.count_store import CountStore
from suffice.mail.filter.database import finished, is_database, made, refusals
from suffice.mail.filter.message_identity import letters
from suffice.mail.filter.state import NGRAMS, TERMS, MailState
from suffice.mail.filter.summary import LABELS, FilterSummary
from suffice.storage.atomic_writes import OF_SQLITE, file_beside, flush_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from suffice.mail.filter.message_identity import Letter
    from suffice.statistics.text_statistics import TextStatistics

BATCH: Final = 1 << 24
"""Bytes of mail that are read before they are counted."""


@dataclass(slots=True)
class Taken:
    """What became of the messages: learned in each class, there twice, there as ham and as spam."""

    learned: list[int]
    twice: int = 0
    both: int = 0


def write_filter(
    path: str | Path,
    messages: Iterable[tuple[bytes, int]],
    placing: AbstractContextManager[object] | None = None,
) -> Taken:
    """Learn raw messages of ham (0) and spam (1), and write the filter; one batch is in memory.

    A message that is there twice is learned once, as what it was called first. `placing` is entered
    while the filter takes its place: it holds the lock of `path`, and may refuse.
    """
    taken = Taken([0] * len(LABELS))
    with _new_file(path, placing) as connection:
        connection.execute("BEGIN")
        total: Any = None
        for batch in _batches(connection, messages, taken):
            found = learner().summarize(
                documents_of([letter for letter, _ in batch]),
                np.array([code for _, code in batch], dtype=np.intp),
                LABELS,
            )
            total = found if total is None else total + found
        missing = next((LABELS[code] for code, n in enumerate(taken.learned) if not n), None)
        if missing is not None:
            raise BadRows(
                f"there is no {missing} to learn from",
                hint="a filter needs messages of both kinds; each is learned once, with its first "
                "label",
            )
        _fill(connection, total)
        connection.execute("COMMIT")
    return taken


def merge_filters(path: str | Path, filters: Sequence[str | Path]) -> tuple[FilterSummary, int]:
    """Write one filter of what several have learned; return how many messages count twice.

    A message that two of them have learned is counted as often, and forgotten as often. Where
    `path` is one of them, the lock of it has to be held; a change by somebody who does not care
    about locks is noticed, and refused.
    """
    target = os.path.realpath(path)
    read: dict[str, FilterSummary] = {}
    with _new_file(path, check=lambda: _check_unchanged(path, read.get(target))) as connection:
        connection.execute("BEGIN")
        total: Any = None
        for place in filters:
            with MailState(place) as state, refusals(place), state.at_once():
                read[os.path.realpath(place)] = state.summary
                found = statistics_of(state)
                total = found if total is None else total + found
                connection.executemany(
                    "INSERT INTO seen VALUES (?, ?, ?) "
                    "ON CONFLICT (digest, label) DO UPDATE SET times = times + excluded.times",
                    state.connection.execute("SELECT digest, label, times FROM seen"),
                )
        summary = _fill(connection, total)
        connection.execute("COMMIT")
        (shared,) = connection.execute(
            "SELECT count(*) FROM (SELECT 1 FROM seen GROUP BY digest HAVING sum(times) > 1)"
        ).fetchone()
    return summary, shared


def _fill(connection: sqlite3.Connection, total: TextStatistics) -> FilterSummary:
    """Put statistics into a file that has nothing but what was seen."""
    model = estimated(total)
    terms, ngrams = stored_counts(total, model)
    CountStore(connection, TERMS).add(terms)
    CountStore(connection, NGRAMS).add(ngrams)
    write_sample(connection, total.sample)
    query = "SELECT label, sum(max(times, 1)), sum(times) FROM seen GROUP BY label"
    rows = {label: (told, learned) for label, told, learned in connection.execute(query)}
    told, learned = ([rows.get(code, (0, 0))[i] for code in range(2)] for i in range(2))
    totals = terms.counts.sum(axis=0).tolist()
    smoothing, factors, shifts = calibration_of(model)
    changes = sum(learned)
    calibrated = changes if min(learned) else 0  # what is not calibrated yet will be
    summary = FilterSummary(
        (learned[0], learned[1]), (told[0], told[1]), (totals[0], totals[1]), terms.size,
        smoothing, factors, shifts, changes, calibrated, total.sample.limit,
    )  # fmt: skip
    summary.write(connection)
    return summary


def _batches(
    connection: sqlite3.Connection, messages: Iterable[tuple[bytes, int]], taken: Taken
) -> Iterator[list[tuple[Letter, int]]]:
    """Yield new letters, some MB at a time, and note them as seen."""
    codes: list[int] = []

    def raws() -> Iterator[bytes]:
        for raw, code in messages:
            codes.append(code)
            yield raw

    batch: list[tuple[Letter, int]] = []
    size = 0
    for letter in letters(raws()):
        code = codes.pop()
        known = connection.execute("SELECT label FROM seen WHERE digest = ?", (letter.digest,))
        before = known.fetchone()
        if before is not None:
            taken.twice += before[0] == code
            taken.both += before[0] != code
            continue
        connection.execute("INSERT INTO seen VALUES (?, ?, 1)", (letter.digest, code))
        taken.learned[code] += 1
        batch.append((letter, code))
        size += len(letter.text) + len(letter.start)
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


@contextmanager
def _new_file(
    path: str | Path,
    placing: AbstractContextManager[object] | None = None,
    check: Callable[[], None] = lambda: None,
) -> Iterator[sqlite3.Connection]:
    """Yield a database beside its place, which it takes when the block ends without an error."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise BadFile(f"{path} is a folder", hint="name a file in it")
    if not target.parent.is_dir():
        raise BadFile(f"{path} is in a folder that does not exist", hint="make the folder first")
    with file_beside(target) as beside, refusals(path):
        connection = made(beside)
        try:
            yield connection
            finished(connection)
        finally:
            connection.close()
        with placing or nullcontext():
            check()
            _put(beside, target)


def _check_unchanged(path: str | Path, read: FilterSummary | None) -> None:
    """Refuse to replace a filter that is no longer what was read of it: every change is counted."""
    if read is None:
        return
    with MailState(path) as state:
        if state.summary != read:
            raise FileInUse(
                f"{path} was changed by another program after it was read",
                hint="it is left as it is: merge again",
            )


def _put(beside: Path, target: Path) -> None:
    """Let a file take its place: that of a filter in one transaction, any other by its name."""
    if is_database(target):
        # Others may have it open, and changes of its own may wait in the file beside it.
        new = sqlite3.connect(beside)
        try:
            with MailState(target, write=True) as old:
                new.backup(old.connection)
        finally:
            new.close()
        return
    with beside.open("rb+") as file:
        os.fsync(file.fileno())
    # Those of a filter that was here, and was removed without them: SQLite would bring the changes
    # of that one into this one.
    for rest in OF_SQLITE:
        target.with_name(f"{target.name}{rest}").unlink(missing_ok=True)
    beside.replace(target)
    flush_folder(target.parent)
