"""Reservations about a fit: what was degenerate, and what was done about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suffice.errors import DegenerateData, SufficeWarning, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.rows import Label

STAND_IN = "1/weight of the pooled variance is used instead"
"""What is done about variances that nothing is known of: several notes end so."""


@dataclass(frozen=True, slots=True)
class Note:
    """One reservation, with the columns and classes it is about, by position."""

    problem: str
    done: str
    columns: tuple[int, ...] = ()
    classes: tuple[int, ...] = ()
    silent: bool = False
    """Whether it concerns only directions that say nothing, so that no answer depends on it."""
    category: type[SufficeWarning] = DegenerateData

    def sentence(self, names: Sequence[str], labels: Sequence[Label]) -> str:
        """Return the note as a sentence that names columns and classes."""
        text = self.problem
        if self.columns:
            text += f": {listed(names[j] for j in self.columns)}"
        if self.classes:
            text += f" (class {listed(labels[c] for c in self.classes)})"
        return f"{text}; {self.done}"
