"""How far the counts of a filter are to be believed: its sample, and counts as statistics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.kernels.ngrams.texts import mask
from suffice.mail.filter.count_store import Damage, Entries
from suffice.mail.filter.database import refusals
from suffice.mail.filter.message_identity import LEVEL, LIMIT, ORDER, TOKENS, leveled
from suffice.mail.filter.summary import LABELS
from suffice.models.text.documents import Documents
from suffice.models.text.language import Language
from suffice.models.text.learner import TextLearner
from suffice.models.text.terms import TermIndex, Terms
from suffice.models.text.witten_bell import levels_of
from suffice.rows.row_hashes import joined_hashes, label_hashes
from suffice.statistics.by_class import ByClass
from suffice.statistics.keyed_counts import NgramCounts, TermCounts
from suffice.statistics.row_sample import MOST, RowSample, SampledRow
from suffice.statistics.text_statistics import TextStatistics

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from suffice.mail.filter.message_identity import Letter
    from suffice.mail.filter.state import MailState
    from suffice.mail.filter.summary import FilterSummary
    from suffice.models.text.model import TextModel
    from suffice.rows import Label


Pair = tuple[float, float]


def learner() -> TextLearner:
    """Return what a filter is: Boolean terms and the language of the first bytes, calibrated."""
    return TextLearner(Terms("boolean", TOKENS), Language(ORDER, LIMIT))


def calibration_of(model: TextModel | None) -> tuple[float, Pair, Pair]:
    """Return α, the factors and the shifts; of a single class there is nothing to calibrate."""
    if model is None or model.calibration is None:
        return 1.0, (1.0, 1.0), (0.0, 0.0)
    factors, shifts = model.calibration.factors.tolist(), model.calibration.shifts.tolist()
    return model.smoothing, (factors[0], factors[1]), (shifts[0], shifts[1])


def estimated(statistics: TextStatistics) -> TextModel | None:
    """Return the model of a filter, calibrated; None without both classes."""
    return learner().estimate(statistics) if len(statistics.labels) == len(LABELS) else None


def calibrate(state: MailState) -> None:
    """Calibrate a filter; others may write meanwhile, and what they do counts as done later.

    Whoever has calibrated or replaced it meanwhile knows better: theirs stays.
    """
    with refusals(state.path):
        with state.at_once():
            summary = state.summary
            statistics = None if summary.missing else statistics_of(state)
        if statistics is None:
            return
        smoothing, factors, shifts = calibration_of(estimated(statistics))
        with state.changing():
            now = state.summary
            if _calibration(now) == _calibration(summary):
                replace(
                    now,
                    smoothing=smoothing,
                    factors=factors,
                    shifts=shifts,
                    calibrated=summary.changes,
                ).write(state.connection)


def model_of(state: MailState) -> tuple[TextModel, TextStatistics]:
    """Return a filter as a model in memory, with its own calibration and priors."""
    import numpy as np

    from suffice.models.text.calibration import Calibration

    with refusals(state.path), state.at_once():
        summary, statistics = state.summary, statistics_of(state)
    model = learner().estimate(statistics)
    told = np.log(np.array(summary.told, dtype=np.float64))
    calibration = Calibration(np.array(summary.factors), np.array(summary.shifts))
    found = replace(
        model,
        smoothing=summary.smoothing,
        calibration=calibration,
        log_priors=told - np.log(sum(summary.told)),
    )
    return found, statistics


def _calibration(summary: FilterSummary) -> tuple[object, ...]:
    return summary.smoothing, summary.factors, summary.shifts, summary.calibrated


MIDDLE = 1 << 63
"""SQLite's numbers have a sign: the smallest hash is the smallest number."""


def documents_of(some: Sequence[Letter]) -> Documents:
    r"""Return letters as models read them.

    >>> from suffice.mail.filter.message_identity import letter_of
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
                raise Damage("the sample holds something that does not belong there")
    except (TypeError, ValueError, IndexError):
        raise Damage("the sample holds something that is not a message") from None
    return RowSample(rows, limit)


def stored_counts(
    statistics: TextStatistics, model: TextModel | None = None
) -> tuple[Entries, Entries]:
    """Return the counts of terms, and those of n-grams of every length, as a filter holds them.

    A model of these statistics has them side by side already.
    """
    assert statistics.terms is not None
    assert statistics.ngrams is not None
    if model is not None and model.terms is not None and model.language is not None:
        index, levels = model.terms.index, model.language.levels
    else:
        found = statistics.terms.groups, statistics.ngrams.groups
        index = TermIndex.of([found[0].get(label, TermCounts.empty()) for label in LABELS])
        levels = levels_of([found[1].get(label, NgramCounts.empty(ORDER)) for label in LABELS])
    terms = np.zeros((index.width, len(LABELS)), dtype=np.int64)
    terms[np.repeat(np.arange(index.width), np.diff(index.starts)), index.classes] = index.counts
    keys = np.concatenate([leveled(level.keys, m) for m, level in enumerate(levels) if m])
    counts = np.concatenate([level.counts for level in levels[1:]]).astype(np.int64)
    return Entries(index.keys, terms), Entries.of(keys, counts)


def statistics_of(state: MailState) -> TextStatistics:
    """Return what a filter has learned; its shorter n-grams follow from the longest."""
    with refusals(state.path):
        return _statistics_of(state)


def _statistics_of(state: MailState) -> TextStatistics:
    summary = state.summary
    terms = state.terms.every()
    # No key is longer: those of the highest level are all that come after its first.
    first = np.array([ORDER << LEVEL], dtype=np.uint64)
    top = state.ngrams.within(first, first | np.uint64(mask(ORDER)))
    term_groups: dict[Label, TermCounts] = {}
    ngram_groups: dict[Label, NgramCounts] = {}
    for code, label in enumerate(LABELS):
        weight = float(summary.documents[code])
        if weight > 0.0:
            term_groups[label] = TermCounts(weight, *_of_class(terms, code))
            keys, counts = _of_class(top, code)
            ngram_groups[label] = NgramCounts(ORDER, weight, keys & np.uint64(mask(ORDER)), counts)
    return TextStatistics(
        ByClass(term_groups),
        ByClass(ngram_groups),
        read_sample(state.connection, summary.sample_limit),
    )


def _of_class(entries: Entries, code: int) -> tuple[np.ndarray, np.ndarray]:
    here = entries.counts[:, code] > 0
    return entries.keys[here], entries.counts[here, code].astype(np.float64)
