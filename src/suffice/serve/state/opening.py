"""A state by its name: a folder, or an address of PostgreSQL; and the model of a moment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from suffice.errors import BadFile, BadSetting, listed, meant
from suffice.serve.served_model import ServedModel
from suffice.serve.state.entries import COPY, written_time
from suffice.serve.state.held_models import learned_log
from suffice.serve.state.log import StateUnavailable
from suffice.serve.state.sqlite_log import SqliteLog

if TYPE_CHECKING:
    from datetime import datetime

    from suffice.serve.state.log import StateLog

SERVERS = ("postgresql://", "postgres://")
"""How addresses of states begin that several servers share."""


def open_log(state: str, *, reading: bool = False) -> StateLog:
    """Open a state; a folder is made if it is not there."""
    if state.startswith(SERVERS):
        from suffice.serve.state.postgres_log import PostgresLog

        return PostgresLog(state, reading=reading)
    if "://" in state:
        raise BadSetting(
            "a state is a folder, or a database of PostgreSQL", hint="postgresql://user@host/base"
        )
    return SqliteLog(Path(state), reading=reading)


@dataclass(frozen=True, slots=True, eq=False)
class Replayed:
    """The model of a moment, without what was forgotten since.

    requests   how many are in it
    rows       how many rows of the log
    forgotten  how many requests were forgotten, wholly, after the moment
    """

    model: ServedModel
    requests: int
    rows: int
    forgotten: int


def unreadable(log: StateLog, error: StateUnavailable) -> BadFile:
    """Return the refusal of a state that was opened, and cannot be read all the same."""
    return BadFile(f"{log.place} cannot be read: {error}", hint=COPY)


def replayed(log: StateLog, name: str | None, until: datetime) -> Replayed:
    """Return the model of a moment: the one that it began with, and the log up to then."""
    try:
        return _replayed(log, name, until)
    except StateUnavailable as error:
        raise unreadable(log, error) from None


def _replayed(log: StateLog, name: str | None, until: datetime) -> Replayed:
    names = log.models()
    if name is None and len(names) == 1:
        name = names[0]
    if name is None or name not in names:
        raise BadSetting(
            f"{log.place} holds no model {name!r}" if name else f"{log.place} holds several models",
            hint=f"{meant(name, names) if name else ''}--model names one of {listed(names)}",
        )
    held = log.model_state(name)
    assert held is not None
    moment = written_time(until)
    entries = list(log.entries(name, moment))
    base = ServedModel.of_bytes(name, held.base, f"{name} in {log.place}")
    model = learned_log(base, entries)
    rows = sum(len(entry.rows) for entry in entries)
    return Replayed(model, len(entries), rows, log.forgotten_since(name, moment))
