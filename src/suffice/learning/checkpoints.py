"""A collection that can be killed and goes on: what was learned, and how far it has come."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.engines.parts import Carries, Progress
from suffice.errors import BadFile, BadSetting
from suffice.learning.label_types import class_array, label_kind, restored_dtype, stored_dtype
from suffice.sources.local import LocalSource
from suffice.storage.model_file import no_model, read_checkpoint, write_checkpoint

if TYPE_CHECKING:
    from suffice.learning.learned import Learned
    from suffice.learning.learner import Learner
    from suffice.sources import Source, Wanted

EVERY = 10.0
"""Seconds between two writings."""


@dataclass(slots=True, eq=False)
class Checkpoint:
    """Writes down, every so often, what was collected of a source, and begins where that ended.

    What is collected does not depend on it: parts and chunks are cut in the same places and merged
    in the same order, so that a run that was killed ten times ends at the same bits.

    identity  which rows, columns and settings it belongs to; of others it is refused
    """

    path: Path
    learner: Learner
    source: LocalSource
    wanted: Wanted
    identity: dict[str, Any] = field(init=False)
    last: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        """Describe what is collected."""
        settings = {k: repr(v) for k, v in self.learner.settings().items()}
        self.identity = {
            "estimator": self.learner.name,
            "settings": settings,
            "source": self.source.identity,
            "columns": list(self.wanted.names),
            "target": self.wanted.target,
            "weight": self.wanted.weight,
        }

    @classmethod
    def of(cls, path: str | Path, learner: Learner, source: Source, wanted: Wanted) -> Checkpoint:
        """Return the checkpoint of a source that is read here; others look after themselves."""
        if not isinstance(source, LocalSource) or source.identity is None:
            raise BadSetting(
                f"{source.name} cannot be read from the middle, so there is no checkpoint",
                hint="checkpoints are for files; clusters retry on their own",
            )
        return cls(Path(path), learner, source, wanted)

    def read(self) -> Progress[Any] | None:
        """Return how far an earlier run has come; None where there was none."""
        if not self.path.exists():
            return None
        held = read_checkpoint(self.path)
        if not isinstance(held.get("identity"), dict):
            raise no_model(self.path, KeyError("identity"))
        for name, ours in self.identity.items():
            theirs = held["identity"].get(name)
            if theirs != ours:
                raise BadFile(
                    f"{self.path} belongs to another {name}: {theirs!r:.80}, not {ours!r:.80}",
                    hint="delete it to start again, or name another file",
                )
        try:
            chosen = self.learner.restored_choice(held["chosen"])
            self.learner = self.learner.deciding(chosen)
            return Progress(
                _count(held["parts"]),
                Carries([self._learned(one) for one in held["whole"]]),
                _count(held["batches"]),
                Carries([self._learned(one) for one in held["begun"]]),
            )
        except Exception as error:  # noqa: BLE001  whatever it is, it is no checkpoint
            raise no_model(self.path, error) from None

    def write_if_due(self, progress: Progress[Any]) -> None:
        """Write how far it has come, if the last writing was a while ago."""
        if time.monotonic() - self.last >= EVERY:
            self.write(progress)

    def write(self, progress: Progress[Any]) -> None:
        """Write how far it has come."""
        write_checkpoint(
            self.path,
            {
                "identity": self.identity,
                "chosen": self.learner.stored_choice(),
                "parts": progress.parts,
                "batches": progress.batches,
                "whole": [self._plain(*one) for one in progress.whole.held],
                "begun": [self._plain(*one) for one in progress.begun.held],
            },
        )
        self.last = time.monotonic()

    def _plain(self, rank: int, learned: Learned) -> dict[str, object]:
        return {
            "rank": rank,
            "columns": learned.columns,
            "statistics": learned.statistics,
            "labels": stored_dtype(learned.dtype),
            "frame": learned.frame,
        }

    def _learned(self, held: dict[str, Any]) -> tuple[int, Learned]:
        statistics, dtype = held["statistics"], restored_dtype(held["labels"])
        kind = label_kind(class_array(tuple(statistics.labels), dtype))
        kept = self.learner.keeping(held["columns"], statistics, dtype, kind, held["frame"])
        return _count(held["rank"]), kept


def _count(value: object) -> int:
    if type(value) is not int or value < 0:
        raise BadFile(f"{value!r:.30} is not a count", hint="delete the file to start again")
    return value
