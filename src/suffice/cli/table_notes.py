"""What a model file says about the table that it was learned from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice.errors import BadFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.estimators.filled_columns import FilledColumns

STATE = "table"
"""Under which name it is kept beside what was learned."""


@dataclass(frozen=True, slots=True)
class TableNotes:
    """How rows of a table become rows of the model.

    target   the column that holds the labels; None where it is not known
    filled   what stands for blank numbers, where the model cannot do without
    dropped  columns that were left out, and are left out again without a word
    """

    target: str | None = None
    filled: FilledColumns | None = None
    dropped: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "target": self.target,
            "filled": None if self.filled is None else self.filled.to_dict(),
            "dropped": list(self.dropped),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> TableNotes:
        """Return what a model file says, if it says anything."""
        held = state.get(STATE)
        if held is None:
            return cls()
        try:
            target, dropped, filled = held["target"], held["dropped"], held["filled"]
            sound = (target is None or isinstance(target, str)) and all(
                isinstance(name, str) for name in dropped
            )
        except (KeyError, TypeError):
            sound = False
        if not sound:
            raise BadFile(
                "the model file does not say how its table is read", hint="it is damaged: fit again"
            )
        if filled is not None:
            from suffice.estimators.filled_columns import FilledColumns

            filled = FilledColumns.from_dict(filled)
        return cls(target, filled, tuple(dropped))
