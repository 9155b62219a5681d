"""When a snapshot of a model is due, and how much of the log is in it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suffice.serve.served_model import ServedModel
    from suffice.serve.state.entries import LogPosition

SNAPSHOT_ROWS = 20_000
"""Rows after which a snapshot is made: a server that starts reads no more of the log than that, and
what was learned while the last one was written."""
SNAPSHOT_SECONDS = 300.0
"""Seconds after which one is made in any case, if something was learned."""


@dataclass(slots=True, eq=False)
class Snapshot:
    """A model file with its place in the log; it has no content before it was packed."""

    model: str
    generation: int
    position: LogPosition
    content: bytes | None = None


@dataclass(slots=True, eq=False)
class HeldPosition:
    """What is known of a model besides itself.

    base        the model that the log began with
    position    how much of the log is in the model
    generation  how often something was forgotten
    rows_since  rows of the log beyond the last snapshot. Those that were read to open the model
                count: a server that is killed again and again would else read all that it has
                learned since a snapshot which none of its lives is long enough to reach
    """

    base: ServedModel
    position: LogPosition
    generation: int
    rows_since: int
    time_since: float = field(default_factory=time.monotonic)
    making: bool = False

    def is_due(self) -> bool:
        """Whether a snapshot is to be made."""
        late = time.monotonic() - self.time_since > SNAPSHOT_SECONDS
        return self.rows_since >= SNAPSHOT_ROWS or bool(self.rows_since and late)

    def begun(self, name: str) -> Snapshot:
        """Return a snapshot that is to be packed; rows are counted from here."""
        self.making, self.rows_since = True, 0
        self.time_since = time.monotonic()
        return Snapshot(name, self.generation, self.position.copy())
