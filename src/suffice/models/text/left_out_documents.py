"""Documents that are kept to judge what was learned, each as if it had not been: which of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.linear_algebra import normalized
from suffice.models.text.calibration import fitted, relative
from suffice.models.text.documents import Documents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.models.text.calibration import Calibration
    from suffice.models.text.terms import TermLaws
    from suffice.rows import FloatArray, IntArray, Label
    from suffice.statistics.row_sample import RowSample

MUCH = 1 << 20
"""Bytes of kept documents that are all judged by a language model: as many take a quarter of a
second. Messages of 80 bytes, 2,048 of them, are all judged."""
DOUBTFUL, OTHERS = 384, 128
"""Of more than that: documents that are judged because their terms leave them in doubt, and others
beside them. On four corpora of messages such a choice gave the factors and shifts of all documents
to two digits, and one that is drawn at random, of 512, other ones (docs/spam.md)."""
FIRST_LOOK = 0.1
"""The smoothing by which documents are chosen, near what is found for most corpora; which one it is
hardly matters for who is near the border."""
AT_ONCE = 256
"""Documents whose terms are held at once while they are looked at."""


@dataclass(frozen=True, slots=True, eq=False)
class LeftOutDocuments:
    """Documents of the sample, to be judged by what all others say.

    `weights` are how often they were learned; `counted` is how much each is worth here: more, if it
    stands for others that are not judged.
    """

    documents: Documents
    codes: IntArray
    weights: FloatArray
    counted: FloatArray
    log_priors: FloatArray

    @classmethod
    def of(cls, sample: RowSample, labels: Sequence[Label], log_priors: FloatArray) -> Self | None:
        """Return the documents of a sample; None where there is nothing to be judged."""
        if not sample.rows or len(labels) < 2:
            return None
        rows = [sample.rows[h] for h in sorted(sample.rows)]
        places = {label: code for code, label in enumerate(labels)}
        weights = np.array([row.weight for row in rows])
        return cls(
            Documents(
                [row.cells[0] for row in rows], [row.cells[1].encode("latin-1") for row in rows]
            ),
            np.array([places[row.label] for row in rows], dtype=np.intp),
            weights,
            weights,
            log_priors,
        )

    @property
    def are_long(self) -> bool:
        """Whether judging all of them byte by byte would take longer than counting them did."""
        long = sum(map(len, self.documents.starts)) > MUCH
        return long and self.documents.size > DOUBTFUL + OTHERS

    def telling(self, terms: TermLaws) -> Self:
        """Return the documents that tell the most, and some of the others, which stand for all.

        Factors and shifts are decided by documents near the border, and by those on its wrong side:
        what is far on the right side adds hardly anything to the loss. So those that their terms
        put least clearly into their class are all judged, and of the others one in so many, in the
        order of their hashes, each worth as many: in the mean the loss is that of all.
        """
        every = np.arange(self.documents.size)
        blocks = [every[at : at + AT_ONCE] for at in range(0, len(every), AT_ONCE)]
        doubtful = np.argsort(
            np.concatenate([self.taken(some)._margins(terms) for some in blocks]), kind="stable"
        )[:DOUBTFUL]
        rest = np.delete(every, doubtful)
        others = rest[np.arange(OTHERS) * len(rest) // OTHERS]
        worth = self.counted.copy()
        worth[others] *= self.weights[rest].sum() / self.weights[others].sum()
        chosen = np.sort(np.concatenate([doubtful, others]))
        return replace(self.taken(chosen), counted=worth[chosen])

    def taken(self, which: IntArray) -> Self:
        """Return some of the documents."""
        return type(self)(
            self.documents.taken(which),
            self.codes[which],
            self.weights[which],
            self.counted[which],
            self.log_priors,
        )

    def _margins(self, terms: TermLaws) -> FloatArray:
        """Return by how much the terms of documents prefer their class to any other."""
        left_out = terms.left_out(self.documents.texts, self.codes, self.weights)
        said = relative(left_out.at(FIRST_LOOK), left_out.lengths())
        every = np.arange(self.documents.size)
        own = said[every, self.codes]
        said[every, self.codes] = -np.inf
        margins: FloatArray = own - said.max(axis=1)
        return margins

    def loss(self, scores: FloatArray) -> float:
        """Return the mean log-loss of scores that are taken at their word."""
        found = normalized(self.log_priors + scores)[np.arange(len(self.codes)), self.codes]
        return -float(np.average(found, weights=self.counted))

    def fitted(
        self, scores: list[FloatArray], lengths: list[FloatArray]
    ) -> tuple[Calibration, float]:
        """Return the calibration of some scores, and its mean log-loss."""
        return fitted(self.log_priors, scores, lengths, self.codes, self.counted)
