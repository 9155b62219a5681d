"""Requests to learn and to forget, on their way to the log, and what is said about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice.serve.http.problems import HttpProblem
from suffice.serve.state.held_models import new_categories
from suffice.serve.state.log import ALREADY, FORGOTTEN, OTHER

if TYPE_CHECKING:
    import asyncio

    from suffice.serve.served_model import ServedModel
    from suffice.serve.state.entries import LogEntry, Row


@dataclass(slots=True, eq=False)
class LearnJob:
    """Rows to be learned, and who waits for that."""

    model: str
    entry: LogEntry
    answer: asyncio.Future[Any]


@dataclass(slots=True, eq=False)
class ForgetJob:
    """Rows to be forgotten: those of an id, or these."""

    model: str
    id: str | None
    rows: list[Row]
    labels: list[Any]
    answer: asyncio.Future[Any]
    from_file: bool = False
    """Whether rows that are not in the log are taken back from the model file that it began with:
    sums cannot tell whether they were ever in it."""


def not_in_log(missing: int, size: int) -> HttpProblem:
    """Return the refusal of rows that were never learned here."""
    return HttpProblem(
        409,
        f"{missing} of {size} rows are not in the log; nothing was changed",
        "they were not learned here, or were forgotten before; ?file=true takes back rows that the "
        "model file was fitted on",
    )


def fate_of(entry: LogEntry, fate: str, before: ServedModel) -> object:
    """Return what is said about an entry."""
    if fate == OTHER:
        return HttpProblem(
            409, f"the id {entry.id[:80]!r} was used for other rows", "give every request its own"
        )
    if fate == FORGOTTEN:
        return HttpProblem(
            409, f"what was learned under the id {entry.id[:80]!r} was forgotten",
            "to learn the rows again, give them another id",
        )  # fmt: skip
    known = set(before.classes)
    return {
        "id": entry.id,
        "rows": len(entry.rows),
        "already": fate == ALREADY,
        "new_classes": []
        if fate == ALREADY
        else [label for label in dict.fromkeys(entry.labels) if label not in known],
        "new_categories": [] if fate == ALREADY else new_categories(before, entry.rows),
    }


def tell_all(answers: list[tuple[asyncio.Future[object], object]]) -> None:
    """Tell those who wait what has become of their requests."""
    for answer, found in answers:
        if answer.done():
            continue
        if isinstance(found, BaseException):
            answer.set_exception(found)
        else:
            answer.set_result(found)
