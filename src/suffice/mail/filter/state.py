"""A mail filter on disk: it learns and forgets messages one by one, each wholly or not at all.

Every change is one transaction. When it returns, the change is on the disk, and survives whatever
happens to the process; two processes wait for each other. Whoever changes a filter holds the lock
of the file as well (`locks.py`), as those do that replace it by what they have read before.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from suffice.errors import BadFile, BadLabels, FileInUse, ForgettingUnseen
from suffice.mail.filter.count_store import CountStore
from suffice.mail.filter.database import opened, refusals, transaction
from suffice.mail.filter.message_identity import ngram_entries, term_entries
from suffice.mail.filter.summary import LABELS, FilterSummary, changed
from suffice.storage.locks import PATIENCE, locked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from suffice.mail.filter.count_store import Entries
    from suffice.mail.filter.message_identity import Letter

TERMS, NGRAMS = "terms", "ngrams"


@dataclass(frozen=True, slots=True, eq=False)
class HeldState:
    """The counts of a filter as they were at one moment: it can be asked, and not taught."""

    path: str | Path
    summary: FilterSummary
    terms: Entries
    ngrams: Entries


class MailState:
    r"""An open filter. Use it in a `with` block, which closes it.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from suffice.mail.filter.build import write_filter
    >>> from suffice.mail.filter.message_identity import letter_of
    >>> place = Path(tempfile.mkdtemp()) / "filter.db"
    >>> _ = write_filter(place, [(b"To: me\n\nlunch?", 0), (b"To: me\n\ncheap pills", 1)])
    >>> with MailState(place, write=True) as state:
    ...     state.learn(letter_of(b"To: me\n\ncheap watches"), 1)
    ...     state.summary.documents
    'learned'
    (1, 2)
    """

    def __init__(
        self,
        path: str | Path,
        *,
        write: bool = False,
        wait: float = PATIENCE,
        waiting: Callable[[], None] | None = None,
    ) -> None:
        """Open a filter; `wait` and `waiting` are for its lock, which every change takes."""
        self.path = path
        self.wait, self.waiting = wait, waiting
        self._file = _file_at(path)
        self.connection = opened(path, write=write)
        self.terms = CountStore(self.connection, TERMS)
        self.ngrams = CountStore(self.connection, NGRAMS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        with refusals(self.path):
            self.connection.close()

    @property
    def summary(self) -> FilterSummary:
        """What the filter says about itself."""
        with refusals(self.path):
            return FilterSummary.read(self.connection, self.path)

    def at_once(self) -> AbstractContextManager[None]:
        """Read everything in the block as it is at one moment."""
        return transaction(self.connection, write=False)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Do all of the block or nothing, while nobody else changes or replaces the filter."""
        with refusals(self.path), locked(self.path, self.wait, self.waiting):
            if _file_at(self.path) != self._file:
                raise FileInUse(
                    f"{self.path} has been replaced by another program",
                    hint="try again; the message was not learned or forgotten",
                )
            with transaction(self.connection):
                yield

    def in_memory(self) -> HeldState:
        """Return all counts of this moment in memory: quicker where many letters are judged."""
        with refusals(self.path), self.at_once():
            return HeldState(self.path, self.summary, self.terms.every(), self.ngrams.every())

    def learned_as(self, letter: Letter) -> dict[int, int]:
        """Return as what a letter is known, and how many times it was learned as that.

        None at all is a letter that was judged right, and by the policy left alone.
        """
        query = "SELECT label, times FROM seen WHERE digest = ?"
        with refusals(self.path):
            return dict(self.connection.execute(query, (letter.digest,)))

    def learn(self, letter: Letter, code: int, wanted: Callable[[], bool] = lambda: True) -> str:
        """Learn a letter as ham or spam; what it was learned as before is forgotten.

        `wanted` is asked whether to learn a letter that is new. Returns "learned", "moved" or
        "skipped"; a letter that was learned as the same is refused.
        """
        with self.changing():
            known = self.learned_as(letter)
            summary = self.summary
            if known.get(code):
                raise BadLabels(
                    f"the message was learned as {LABELS[code]} before",
                    hint=f"nothing changed; --forget takes it back, --{LABELS[1 - code]} moves it",
                )
            before = known.pop(1 - code, None)
            if before is not None:
                summary = self._counted(letter, 1 - code, -before, summary)
                summary = replace(summary, told=changed(summary.told, 1 - code, -max(before, 1)))
            if code not in known:
                summary = replace(summary, told=changed(summary.told, code, 1))
            moved = bool(before)
            times = 1 if moved or wanted() else 0
            if times:
                summary = self._counted(letter, code, 1, summary)
            self._note(letter, {code: times})
            summary.write(self.connection)
        return "moved" if moved else "learned" if times else "skipped"

    def forget(self, letter: Letter) -> str:
        """Forget a letter, however often it was learned; return as what it was known."""
        with self.changing():
            known = self.learned_as(letter)
            if not known:
                raise ForgettingUnseen(
                    "the message was never learned, so it cannot be forgotten",
                    hint="give the message exactly as it was learned: body and all header fields "
                    "must be the same",
                )
            summary = self.summary
            for code, times in known.items():
                summary = self._counted(letter, code, -times, summary)
                summary = replace(summary, told=changed(summary.told, code, -max(times, 1)))
            self._note(letter, {})
            summary.write(self.connection)
        return " and ".join(LABELS[code] for code in sorted(known))

    def _note(self, letter: Letter, known: dict[int, int]) -> None:
        self.connection.execute("DELETE FROM seen WHERE digest = ?", (letter.digest,))
        self.connection.executemany(
            "INSERT INTO seen VALUES (?, ?, ?)",
            [(letter.digest, code, times) for code, times in known.items()],
        )

    def _counted(
        self, letter: Letter, code: int, times: int, summary: FilterSummary
    ) -> FilterSummary:
        """Count a letter so many times more, or fewer, and return the summary of that."""
        if not times:
            return summary
        from suffice.mail.filter.calibration import sampled

        terms = term_entries(letter, code).times(times)
        before = self.terms.of_keys(terms.keys)
        after = before + terms.counts
        documents = changed(summary.documents, code, times)
        if (after < 0).any() or min(documents) < 0:
            raise BadFile(
                f"{self.path} has learned this message, but counts fewer terms than the message "
                "has",
                hint="it is damaged: take a copy that was saved, or fit a new one",
            )
        self.terms.add(terms)
        self.ngrams.add(ngram_entries(letter, code).times(times))
        new = (after.sum(axis=1) > 0).sum() - (before.sum(axis=1) > 0).sum()
        return replace(
            summary,
            documents=documents,
            totals=changed(summary.totals, code, times * terms.size),
            width=summary.width + int(new),
            changes=summary.changes + abs(times),
            sample_limit=sampled(self.connection, letter, code, times, summary.sample_limit),
        )


def _file_at(path: str | Path) -> tuple[int, int] | None:
    """Return which file is at a place; None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116  a link leads to the file that SQLite has open
    except OSError:
        return None
    return found.st_dev, found.st_ino
