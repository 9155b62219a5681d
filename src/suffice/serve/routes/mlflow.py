"""The addresses of MLflow's scoring server: /invocations, /ping, /version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice import __version__
from suffice.errors import BadRows, listed
from suffice.serve.bodies import given_rows
from suffice.serve.http.answers import Answer, json_answer
from suffice.serve.http.application import OPEN, Route
from suffice.serve.http.json_bodies import json_of
from suffice.serve.http.problems import HttpProblem
from suffice.serve.http.requests import CSV, FORMATS, JSON
from suffice.serve.served_model import known_labels, told_codes

if TYPE_CHECKING:
    from suffice.serve.http.application import Application
    from suffice.serve.http.requests import Request
    from suffice.serve.models import Models
    from suffice.serve.served_model import ServedModel

SHAPES = ("dataframe_split", "dataframe_records", "instances", "inputs")
"""The ways in which MLflow's clients write rows; one of them is there."""
BESIDE = ("params",)
"""What may stand beside the rows, and has no meaning here."""
TEXT = b"text/plain; charset=utf-8"
"""What /ping and /version answer."""


def add_mlflow_routes(app: Application, models: Models) -> None:
    """Let an application answer as MLflow's scoring server does, by the first of the models."""
    routes = _Scoring(app, models)
    app.add("/invocations", Route("POST", routes.invocations, "/invocations"))
    for path in ("/ping", "/health"):
        app.add(path, Route("GET", routes.ping, path, OPEN))
    app.add("/version", Route("GET", routes.version, "/version", OPEN))


class _Scoring:
    """Answers as MLflow's server does."""

    def __init__(self, app: Application, models: Models) -> None:
        self._app, self._models = app, models

    async def ping(self, request: Request) -> Answer:
        del request
        if not self._app.ready:
            raise HttpProblem(503, "the server is starting or stopping", "ask again")
        return Answer(b"\n", TEXT)

    async def version(self, request: Request) -> Answer:
        del request
        return Answer(__version__.encode(), TEXT)

    async def invocations(self, request: Request) -> Answer:
        written = FORMATS.get(request.content_type)
        if written not in (JSON, CSV):
            raise HttpProblem(415, "rows are JSON or CSV here", "application/json, text/csv")
        body = await request.body()
        model = self._models[self._models.names[0]]
        return await self._app.in_thread(self._answered, model, body, written)

    def _answered(self, model: ServedModel, body: bytes, written: str) -> Answer:
        if written == CSV:
            given = given_rows(body, written, model, self._app.limits.rows)
        else:
            content = rows_of(json_of(body), model)
            given = given_rows(body, JSON, model, self._app.limits.rows, content=content)
        self._app.metrics.predicted[model.name] += given.size
        labels = known_labels(model)
        found = [
            label
            for table in given.tables
            for label in told_codes(labels, model.predict(table).codes)
        ]
        return json_answer({"predictions": found})


def rows_of(content: Any, model: ServedModel) -> dict[str, object]:
    """Return rows as our own bodies have them, from whichever way MLflow's clients write them."""
    there = [name for name in SHAPES if isinstance(content, dict) and name in content]
    if len(there) != 1 or set(content) - {*SHAPES, *BESIDE}:
        raise HttpProblem(
            400, "the body is not written as MLflow's clients write rows",
            f"it has one of {listed(SHAPES)}",
        )  # fmt: skip
    name = there[0]
    given = content[name]
    if name == "dataframe_split":
        return {"rows": _split(given, model)}
    if isinstance(given, dict) and name == "inputs":
        return {"columns": {key: _listed(cells) for key, cells in given.items()}}
    if not isinstance(given, list):
        raise BadRows(f"{name} is not a list of rows", hint="records, or lists of cells")
    return {"rows": given}


def _listed(cells: object) -> Any:
    """Return a column; tensors of one column may be nested."""
    if isinstance(cells, list) and all(isinstance(cell, list) and len(cell) == 1 for cell in cells):
        return [cell[0] for cell in cells]
    return cells if isinstance(cells, list) else [cells]


def _split(given: object, model: ServedModel) -> list[object]:
    data = given.get("data") if isinstance(given, dict) else None
    columns = given.get("columns") if isinstance(given, dict) else None
    if not isinstance(data, list) or not all(isinstance(row, list) for row in data):
        raise BadRows("dataframe_split has no data", hint='{"columns": ["size"], "data": [[1.5]]}')
    if columns is None or not model.reader.named:
        return data
    if not isinstance(columns, list) or any(len(row) != len(columns) for row in data):
        raise BadRows(
            "rows of dataframe_split have other cells than columns", hint="one for each column"
        )
    names = list(map(str, columns))
    return [dict(zip(names, row, strict=True)) for row in data]
