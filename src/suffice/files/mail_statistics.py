"""The counts of a filter as statistics, and back: bit for bit those of the same messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.models.text.witten_bell import levels_of
from suffice.files.mail_database import refusals
from suffice.files.mail_entries import Entries
from suffice.files.mail_letters import LEVEL, ORDER, leveled
from suffice.files.mail_sample import read_sample
from suffice.files.mail_summary import LABELS
from suffice.kernels.ngrams.texts import mask
from suffice.statistics.by_class import ByClass
from suffice.statistics.keyed_counts import NgramCounts
from suffice.statistics.keyed_counts import TermCounts
from suffice.statistics.text_statistics import TextStatistics

if TYPE_CHECKING:
    from suffice.files.mail_state import MailState
    from suffice.rows import Label


def stored_counts(statistics: TextStatistics) -> tuple[Entries, Entries]:
    """Return the counts of terms, and those of n-grams of every length, as a filter holds them."""
    assert statistics.terms is not None
    assert statistics.ngrams is not None
    terms = Entries.empty()
    for code, label in enumerate(LABELS):
        group = statistics.terms.groups.get(label)
        if group is not None:
            terms = terms + Entries.of_class(group.keys, group.counts.astype(np.int64), code)
    groups = [statistics.ngrams.groups.get(label, NgramCounts.empty(ORDER)) for label in LABELS]
    levels = levels_of(groups)[1:]
    keys = np.concatenate([leveled(level.keys, m) for m, level in enumerate(levels, 1)])
    counts = np.concatenate([level.counts for level in levels]).astype(np.int64)
    return terms, Entries.of(keys, counts)


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
