"""Counts of terms and of bytes, packed so that a page can hold them; the rarest go first.

Keys are sorted and written as differences, counts class by class, seven bits a byte, deflated, in
base64. Of a term's number the first 48 bits are kept: 256 million million terms are told apart.
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting
from suffice.models.text.term_events import BERNOULLI

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.text.learner import TextRecord
    from suffice.rows import FloatArray

ROOM = 880_000
"""Bytes that packed counts may take: with engine and form the page stays below a megabyte."""
DROPPED = 16
"""Bits of a term's number that are left out."""
LONGEST = 5
"""Bytes of the longest n-gram that a page looks up: six do not fit into a JavaScript number."""


@dataclass(frozen=True, slots=True, eq=False)
class PackedText:
    """What a page holds of a text model.

    least   how often a term, or a run of bytes, was seen in all classes together to be here
    kept    terms and runs of bytes that are here; `every` that were learned
    """

    terms: dict[str, Any] | None
    language: dict[str, Any] | None
    least: int
    kept: tuple[int, int]
    every: tuple[int, int]


def packed_text(record: TextRecord, room: int = ROOM) -> PackedText:
    """Return counts that fit: those seen least often are left out, until they do."""
    if record.language is not None and record.language.order > LONGEST:
        raise BadSetting(
            f"this model looks at {record.language.order} bytes at a time, a page at {LONGEST}",
            hint=f"fit it with order={LONGEST} or less",
        )
    terms = None if record.terms is None else _Counts.of(_groups(record, record.term_counts))
    grams = None if record.language is None else _Counts.of(_groups(record, record.ngram_counts))
    least = 1
    while True:
        found = [None if one is None else one.packed(least, cut) for one, cut in
                 ((terms, DROPPED), (grams, 0))]  # fmt: skip
        size = sum(len(p["keys"]) + len(p["counts"]) for p in found if p is not None)
        if size <= room:
            break
        least = max(least + 1, int(least * 1.25))
    kept = tuple(0 if p is None else int(p["many"]) for p in found)
    every = tuple(0 if one is None else len(one.keys) for one in (terms, grams))
    return PackedText(
        None if found[0] is None else {**_terms(record, terms), "packed": found[0]},
        None
        if found[1] is None or record.language is None
        else {"order": record.language.order, "limit": record.language.limit, "packed": found[1]},
        least,
        (kept[0], kept[1]),
        (every[0], every[1]),
    )


def _groups(record: TextRecord, counts: Any) -> list[Any]:
    return [counts.groups[label] for label in record.labels]


def _terms(record: TextRecord, counts: _Counts | None) -> dict[str, object]:
    family, laws = record.terms, record.model.terms
    assert family is not None
    assert laws is not None
    assert counts is not None
    documents, alpha = laws.index.documents, record.smoothing
    absent = np.zeros(len(documents))
    if family.event == BERNOULLI:
        for c, n in enumerate(documents):
            held = counts.table[:, c]
            held = held[held > 0.0]
            absent[c] = np.sum(np.log(np.maximum(n - held, 0.0) + alpha) - np.log(n + alpha))
    return {
        "event": family.event,
        "ngrams": list(family.tokens.ngrams),
        "lower": family.tokens.lower,
        "smoothing": float(alpha),
        "documents": documents.tolist(),
        "classTotals": laws.index.class_totals.tolist(),
        "vocabulary": len(counts.keys),
        "absent": absent.tolist(),
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    """Keys of all classes, sorted, and how often each class has them, (n, k)."""

    keys: NDArray[np.uint64]
    table: FloatArray

    @classmethod
    def of(cls, groups: Sequence[Any]) -> _Counts:
        keys = np.unique(np.concatenate([group.keys for group in groups]))
        table = np.zeros((len(keys), len(groups)))
        for c, group in enumerate(groups):
            table[np.searchsorted(keys, group.keys), c] = group.counts
        return cls(keys, table)

    def packed(self, least: int, dropped: int) -> dict[str, Any]:
        """Return those that were seen so often, as the page holds them."""
        here = self.table.sum(axis=1) >= least if least > 1 else np.ones(len(self.keys), bool)
        keys, table = self.keys[here] >> np.uint64(dropped), self.table[here]
        first = np.append(True, keys[1:] != keys[:-1]) if len(keys) else np.zeros(0, bool)
        keys, table = keys[first], table[first]  # of two that agree in all bits, the first
        whole = bool((table == np.floor(table)).all() and table.max(initial=0.0) < 2.0**50)
        columns = table.T.ravel()
        counts = seven_bits(columns.astype(np.uint64)) if whole else columns.astype("<f8").tobytes()
        return {
            "many": len(keys),
            "keys": _deflated(seven_bits(np.diff(keys, prepend=np.uint64(0)))),
            "counts": _deflated(counts),
            "whole": whole,
        }


def _deflated(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 9)).decode("ascii")


def seven_bits(values: NDArray[np.uint64]) -> bytes:
    """Return whole numbers with seven bits a byte, the lowest first; the last byte is below 128.

    >>> list(seven_bits(np.array([1, 300], dtype=np.uint64)))
    [1, 172, 2]
    """
    values = np.asarray(values, dtype=np.uint64)
    lengths = np.ones(len(values), dtype=np.intp)
    for power in range(1, 10):
        lengths += values >= np.uint64(1 << (7 * power))
    out = np.zeros(int(lengths.sum()), dtype=np.uint8)
    starts = np.cumsum(lengths) - lengths
    for place in range(int(lengths.max(initial=0))):
        here = lengths > place
        part = (values[here] >> np.uint64(7 * place)) & np.uint64(127)
        more = (lengths[here] > place + 1).astype(np.uint8) << 7
        out[starts[here] + place] = part.astype(np.uint8) | more
    return out.tobytes()
