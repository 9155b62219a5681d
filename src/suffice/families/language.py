"""A language model for each class: the probability of a text, byte by byte."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suffice.engines.uneven_blocks import count_by_class
from suffice.errors import BadSetting, DifferentKinds
from suffice.families.language_laws import LanguageLaws
from suffice.families.witten_bell import score_table
from suffice.kernels.ngrams.texts import Texts
from suffice.statistics.keyed_counts import checked_limit, checked_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.rows import FloatArray, IntArray
    from suffice.statistics.keyed_counts import NgramCounts


@dataclass(frozen=True, slots=True)
class Language:
    """Each byte depends on the order - 1 before it; interpolated as Witten and Bell did.

    No words, no vocabulary and no alphabet: a document is bytes. `limit` is how many bytes of a
    document are looked at; None is all. Where a document goes on, the model says how probable its
    beginning is.

    >>> import numpy as np
    >>> family = Language(order=3)
    >>> documents = [b"buy cheap pills", b"cheap watches", b"see you at lunch", b"lunch at one?"]
    >>> laws = family.estimate(family.summarize(documents, np.array([0, 0, 1, 1]), 2))
    >>> laws.log_density([b"cheap lunch", b"watch pills"]).argmax(axis=1)
    array([1, 0])
    """

    order: int = 5
    limit: int | None = None

    def __post_init__(self) -> None:
        """Refuse settings out of range."""
        checked_order(self.order)
        checked_limit(self.limit)

    def summarize(
        self,
        documents: Sequence[bytes],
        codes: IntArray,
        size: int,
        weights: FloatArray | None = None,
    ) -> list[NgramCounts]:
        """Return the counts of each class 0 … size - 1; a weight counts repetitions."""
        texts = Texts.of(documents, self.limit)
        return count_by_class(texts, self.order, codes, size, weights)

    def estimate(self, groups: Sequence[NgramCounts]) -> LanguageLaws:
        """Return the laws of all classes; one without documents has all texts of a length alike."""
        if not groups:
            raise BadSetting("there is no class to learn", hint="give the counts of at least one")
        strange = next((group for group in groups if group.order != self.order), None)
        if strange is not None:
            raise DifferentKinds(
                f"n-grams of {strange.order} symbols are no model of order {self.order}",
                hint="count all documents with the same order",
            )
        return LanguageLaws(self.order, self.limit, tuple(groups), score_table(groups))
