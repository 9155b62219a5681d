"""The routes that change a model: learn and forget."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any

from suffice.errors import BadRows
from suffice.serve.bodies import given_rows
from suffice.serve.http.answers import Answer, json_answer
from suffice.serve.http.application import Route
from suffice.serve.http.json_bodies import json_of
from suffice.serve.http.limits import FEW_ROWS, SMALL_BODY
from suffice.serve.http.problems import HttpProblem
from suffice.serve.http.requests import CLOSE, JSON
from suffice.serve.http.tokens import LEARN
from suffice.serve.records import UNSEEN
from suffice.serve.routes.v1 import truth
from suffice.serve.state.entries import LONGEST_ID, LogEntry, cells_of
from suffice.serve.state.jobs import ForgetJob, LearnJob

if TYPE_CHECKING:
    from suffice.serve.http.application import Application
    from suffice.serve.http.requests import Request
    from suffice.serve.models import Models
    from suffice.serve.served_model import ServedModel
    from suffice.serve.state.entries import Row
    from suffice.serve.state.learning import Learning

PLAIN_KEYS = {"id", "rows", "labels"}
"""What the body of a plain request to learn has."""
KEYS = ("id", "rows", "columns")
"""What the body of a request to learn may have, besides labels."""


def add_learning_routes(app: Application, models: Models, learning: Learning | None) -> None:
    """Let an application learn and forget; without a log, it says why it does not."""
    for name in models.names:
        one = LearningRoutes(app, models, name, learning)
        for what, handler in (("learn", one.learn), ("forget", one.forget)):
            template = f"/v1/models/{{name}}/{what}"
            app.add(f"/v1/models/{name}/{what}", Route("POST", handler, template, LEARN))


class LearningRoutes:
    """What changes one model."""

    def __init__(
        self, app: Application, models: Models, name: str, learning: Learning | None
    ) -> None:
        self._app, self._models, self._name, self._learning = app, models, name, learning

    def _writer(self, what: str) -> Learning:
        why = self._models.why_not(self._name)
        if why is not None or self._learning is None:
            hint = "start it with --state FOLDER" if "--state" in (why or "") else (
                "fit a model that can learn, with its statistics: gda, qda, naive-bayes, text"
            )  # fmt: skip
            raise HttpProblem(409, f"nothing can be {what}: {why}", hint, (CLOSE,))
        return self._learning

    async def learn(self, request: Request) -> Answer:
        """Learn rows; the answer comes when they are in the log, and synced."""
        writer = self._writer("learned")
        query = request.query(("id",))
        written = request.format()
        body = await request.body()
        model = self._models[self._name]
        content = json_of(body) if written == JSON and len(body) <= SMALL_BODY else None
        if content is not None:
            found = self._read(model, body, written, content)
        else:
            found = await self._app.in_thread(self._read, model, body, written, None)
        rows, labels, identity, notes = found
        identity = self._identity(identity, query.get("id"), request)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        writer.put(LearnJob(self._name, LogEntry(identity, rows, labels), answer))
        told = await self._app.in_time(answer)
        return json_answer({**told, "notes": notes} if notes else told)

    async def forget(self, request: Request) -> Answer:
        """Forget rows; the answer comes when they are gone."""
        writer = self._writer("forgotten")
        query = request.query(("id", "file"))
        from_file = "file" in query and truth(query["file"], "file")
        written = request.format()
        body = await request.body()
        model = self._models[self._name]
        rows: list[Row] = []
        labels: list[Any] = []
        identity = query.get("id")
        notes: list[str] = []
        if written == JSON:
            content = await self._app.in_thread(json_of, body)
            if isinstance(content, dict) and "id" in content:
                if len(content) > 1 or identity is not None:
                    raise BadRows("an id and something else", hint='{"id": …}, or rows with labels')
                identity = content["id"]
                if type(identity) is not str:
                    raise BadRows("the id is not text", hint='{"id": "2026-11-16/17"}')
            elif identity is None:
                rows, labels, _, notes = await self._app.in_thread(
                    self._read, model, body, written, content
                )
        elif identity is None:
            rows, labels, _, notes = await self._app.in_thread(
                self._read, model, body, written, None
            )
        if identity is not None:
            _check_id(identity)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        writer.put(ForgetJob(self._name, identity, rows, labels, answer, from_file))
        told = await self._app.in_time(answer)
        if notes:
            told = {**told, "notes": [*told.get("notes", ()), *notes]}
        return json_answer(told)

    def _read(
        self, model: ServedModel, body: bytes, written: str, content: object
    ) -> tuple[list[Row], list[Any], Any, list[str]]:
        """Return rows and labels as the log has them, the id of the body, and notes."""
        if written == JSON and content is None:
            content = json_of(body)
        plain = _plain(model, content) if written == JSON else None
        if plain is not None:
            return (*plain, content.get("id"), [])  # type: ignore[attr-defined]
        given = given_rows(
            body, written, model, self._app.limits.rows, labelled=True, content=content, known=KEYS
        )
        assert given.labels is not None
        rows = [row for table in given.tables for row in cells_of(table)]
        identity = content.get("id") if isinstance(content, dict) else None
        # New categories are learned here, and not only noted.
        notes = [note for note in given.notes if not note.startswith(UNSEEN)]
        return rows, given.labels.tolist(), identity, notes

    def _identity(self, given: object, asked: str | None, request: Request) -> str:
        """Return the id of a request: of its body, address or headers, or a new one."""
        header = request.headers.get(b"idempotency-key")
        found = [one for one in (given, asked, header) if one is not None]
        if not found:
            return secrets.token_hex(16)
        one = found[0]
        identity = one.decode("latin-1") if isinstance(one, bytes) else one
        if type(identity) is int:
            identity = str(identity)
        if type(identity) is not str:
            raise BadRows("the id is not text", hint='{"id": "2026-11-16/17", "rows": […]}')
        _check_id(identity)
        return identity


def _plain(model: ServedModel, content: object) -> tuple[list[Row], list[Any]] | None:
    """Return rows and labels of which none needs a second look, as the usual way reads them."""
    if type(content) is not dict or not content.keys() <= PLAIN_KEYS:
        return None
    rows, labels = content.get("rows"), content.get("labels")
    if type(rows) is not list or type(labels) is not list or not 0 < len(rows) == len(labels):
        return None
    known = model.reader
    if len(rows) > FEW_ROWS or not all(type(one) is str and one in model.classes for one in labels):
        return None
    cells = known.plain_rows(rows)
    if cells is None:
        return None
    try:
        return [known.logged(row) for row in cells], labels
    except OverflowError:  # a whole number beyond all doubles: said in words
        return None


def _check_id(identity: str) -> None:
    if not 0 < len(identity) <= LONGEST_ID or not identity.isprintable():
        raise BadRows(
            f"an id has {len(identity)} characters, or some that cannot be seen",
            hint=f"1 to {LONGEST_ID} characters: a UUID, or the number of a message",
        )
