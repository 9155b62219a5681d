"""Explanations of documents: the words for and against."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.text.model import Part
    from suffice.rows import FloatArray

    Reasons = list[tuple[str, float]]


@dataclass(frozen=True, slots=True, eq=False)
class TextExplanation:
    """Log odds split by piece: `log_odds[i] = baseline[i] + sum of the parts of document i`.

    of, against   the two classes compared, for each document
    baseline      the log odds before any word is looked at: priors and shifts
    parts         for each document (kind, piece, log odds): its terms, and its bytes word by word

    >>> from suffice import TextClassifier
    >>> texts = ["cheap pills", "cheap watches", "lunch at one?", "see you at lunch"]
    >>> model = TextClassifier("boolean").fit(texts, ["spam", "spam", "ham", "ham"])
    >>> found = model.explain(["cheap lunch"], of="spam")
    >>> found.columns, bool(found.contributions[0, 0] > 0 > found.contributions[0, 1])
    (('cheap', 'lunch'), True)
    """

    of: NDArray[Any]
    against: NDArray[Any]
    baseline: FloatArray
    parts: tuple[tuple[Part, ...], ...]

    @property
    def log_odds(self) -> FloatArray:
        """What the parts add up to."""
        added = np.array([sum(p.log_odds for p in parts) for parts in self.parts], dtype=float)
        found: FloatArray = self.baseline + added
        return found

    @property
    def columns(self) -> tuple[str, ...]:
        """All words of all documents, each once."""
        words = (part.word for parts in self.parts for part in parts)
        return tuple(dict.fromkeys(words))

    @property
    def contributions(self) -> FloatArray:
        """What each word adds in each document, one column for each of `columns`."""
        places = {word: j for j, word in enumerate(self.columns)}
        found = np.zeros((len(self.parts), len(places)))
        for i, parts in enumerate(self.parts):
            for part in parts:
                found[i, places[part.word]] += part.log_odds
        return found

    def reasons(self, row: int = 0, most: int = 5) -> tuple[Reasons, Reasons]:
        """Return the words of one document that speak most for its class, and those against it.

        What a word says as a term and by its bytes is added up.
        """
        if not -len(self.of) <= row < len(self.of):
            raise BadSetting(
                f"there is no document {row} among {len(self.of)} explained",
                hint="documents are counted from 0, in the order they were given",
            )
        total: dict[str, float] = {}
        for part in self.parts[row]:
            total[part.word] = total.get(part.word, 0.0) + part.log_odds
        order = sorted(total, key=lambda name: -total[name])
        top = [(name, total[name]) for name in order[:most] if total[name] > 0.0]
        low = [(name, total[name]) for name in order[::-1][:most] if total[name] < 0.0]
        return top, low

    def __str__(self) -> str:
        """Return the first documents as text, the strongest words first."""
        lines = []
        for i in range(min(5, len(self.of))):
            lines.append(
                f"document {i}: log odds of {self.of[i]} against {self.against[i]} "
                f"{self.log_odds[i]:+.3f} = {self.baseline[i]:+.3f}"
            )
            found = sorted(chain(*self.reasons(i)), key=lambda reason: -abs(reason[1]))
            lines += [f"    {value:+10.3f}  {name}" for name, value in found]
        return "\n".join(lines)
