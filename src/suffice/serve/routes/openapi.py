"""The OpenAPI document: what may be asked, of which models, and every answer that there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from suffice import __version__
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER
from suffice.serve.http.limits import MOST_EXPLAINED
from suffice.serve.http.problems import PROBLEM_TYPE
from suffice.serve.http.requests import ARROW, CSV, JSON
from suffice.serve.routes.inference_v2 import TYPES
from suffice.serve.routes.v1 import MODEL_TYPE
from suffice.serve.state.entries import LONGEST_ID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.serve.http.limits import ServerLimits
    from suffice.serve.models import Models
    from suffice.serve.served_model import ServedModel

WORDS = {
    400: "The request cannot be read.",
    401: "A token is needed.",
    403: "The token is for something else, or the request comes from a page of another place.",
    404: "There is no such model, or nothing at this address.",
    405: "This method is not allowed here.",
    406: "The answer cannot be written in the requested format.",
    408: "The request took too long to arrive.",
    409: "The model cannot do this, or the rows were never learned; nothing was changed.",
    413: "The body is too large, or there are too many rows.",
    415: "The content type is not supported.",
    422: "The rows, labels or settings do not fit the model.",
    429: "Too many requests; try again.",
    431: "The headers are too large.",
    503: "The server is busy, starting or stopping; try again.",
    507: "The disk is full: nothing was learned, but predictions still work.",
}
"""What each refusal means."""
ALWAYS = (400, 401, 403, 404, 405, 408, 429, 431, 503)
"""Refusals that may come from anywhere."""
CELL: dict[str, object] = {"type": ["number", "string", "boolean", "null"]}
"""Any cell."""
LABEL: dict[str, Any] = {"type": ["string", "number", "boolean"]}
"""Any label."""


def document(models: Models, limits: ServerLimits, *, tokens: bool) -> dict[str, object]:
    """Return the document of a server with these models."""
    paths: dict[str, Any] = {
        "/health/live": {"get": _get("Whether the process is running.", _flag("live"))},
        "/health/ready": {"get": _get("Whether it is ready.", _flag("ready"))},
        "/metrics": {"get": _get("Counts, as Prometheus reads them.", None, "text/plain")},
        "/openapi.json": {"get": _get("This document.", {"type": "object"})},
        "/docs": {"get": _get("A page about this server.", None, "text/html")},
        "/v1/models": {"get": _get("All models.", _listed())},
        "/v2": {"get": _get("Open Inference Protocol: the server.", {"type": "object"})},
        "/v2/health/live": {"get": _get("Open Inference Protocol: live.", _flag("live"))},
        "/v2/health/ready": {"get": _get("Open Inference Protocol: ready.", _flag("ready"))},
        "/ping": {"get": _get("MLflow: whether it answers.", None, "text/plain")},
        "/health": {"get": _get("MLflow: whether it answers.", None, "text/plain")},
        "/version": {"get": _get("MLflow: the version.", None, "text/plain")},
    }
    for name in models.names:
        paths |= _model_paths(models[name], f"/v1/models/{quote(name)}", limits)
        place = f"/v2/models/{quote(name)}"
        paths[place] = {
            "get": _get("Open Inference Protocol: the model.", {"type": "object"}),
        }
        paths[f"{place}/ready"] = {"get": _get("Open Inference Protocol: ready.", _flag("ready"))}
        paths[f"{place}/infer"] = {"post": _infer()}
    paths["/invocations"] = {"post": _invocations(models[models.names[0]])}
    found: dict[str, object] = {
        "openapi": "3.1.0",
        "info": {
            "title": "suffice serve",
            "version": __version__,
            "license": {"name": "MIT", "identifier": "MIT"},
            "description": "Models that answer, learn and forget. What was acknowledged is "
            "durable, and what was forgotten is gone.",
        },
        "paths": paths,
    }
    if tokens:
        found["components"] = {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}}
        found["security"] = [{"token": []}]
        for path in paths:
            if "health" in path or path in ("/ping", "/version") or path.endswith("/ready"):
                for said in paths[path].values():
                    said["security"] = []
    return found


def _refusals(*more: int) -> dict[str, object]:
    schema = {
        "type": "object",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "hint": {"type": "string"},
        },
    }
    media = PROBLEM_TYPE.decode()
    return {
        str(status): {"description": WORDS[status], "content": {media: {"schema": schema}}}
        for status in sorted({*ALWAYS, *more})
    }


def _get(summary: str, schema: dict[str, object] | None, media: str = JSON) -> dict[str, object]:
    content = {media: {"schema": schema or {"type": "string"}}}
    return {
        "summary": summary,
        "responses": {"200": {"description": summary, "content": content}, **_refusals(422)},
    }


def _flag(name: str) -> dict[str, object]:
    return {"type": "object", "required": [name], "properties": {name: {"type": "boolean"}}}


def _listed() -> dict[str, Any]:
    one = {
        "type": "object",
        "required": ["name", "estimator", "classes", "learns"],
        "properties": {
            "name": {"type": "string"},
            "estimator": {"type": "string"},
            "classes": {"type": "array", "items": LABEL},
            "learns": {"type": "boolean"},
        },
    }
    return {
        "type": "object",
        "required": ["version", "models"],
        "properties": {"version": {"type": "string"}, "models": {"type": "array", "items": one}},
    }


def _cell(model: ServedModel, column: int) -> dict[str, Any]:
    kind = model.reader.kinds[column]
    if kind == NUMBER:
        return {"type": ["number", "string", "null"]}
    if kind == BOOLEAN:
        return {"type": ["boolean", "null"]}
    return {**CELL, "description": "a category"} if kind == CATEGORY else CELL


def _example(model: ServedModel) -> dict[str, object]:
    """Return a row that the model knows how to read."""
    reader = model.reader
    row: dict[str, object] = {}
    for name, kind, levels in zip(reader.names, reader.kinds, reader.levels, strict=True):
        known = sorted((one for one in levels or () if isinstance(one, str)), key=str)
        plain: object = {NUMBER: 1.5, BOOLEAN: True}.get(kind, "a text")
        row[name] = known[0] if known else plain
    return row


def _rows(model: ServedModel, limits: ServerLimits) -> dict[str, Any]:
    names = model.reader.names
    cells = {name: _cell(model, j) for j, name in enumerate(names[:1000])}
    record = {"type": "object", "properties": cells, "required": list(names[:1000])}
    rows = {"type": "array", "items": record, "minItems": 1, "maxItems": limits.rows}
    return {
        "oneOf": [
            {"type": "object", "required": ["rows"], "properties": {"rows": rows},
             "additionalProperties": False},
            {"type": "object", "required": ["columns"], "additionalProperties": False,
             "properties": {"columns": {"type": "object", "required": list(names[:1000]),
             "properties": {n: {"type": "array", "items": one} for n, one in cells.items()}}}},
        ]
    }  # fmt: skip


def _body(schema: dict[str, object], example: object, *, tables: bool = True) -> dict[str, object]:
    content: dict[str, object] = {JSON: {"schema": schema, "example": example}}
    if tables:
        content[CSV] = {"schema": {"type": "string"}}
        content[ARROW] = {"schema": {"type": "string", "format": "binary"}}
    return {"required": True, "content": content}


def _answers(
    schema: dict[str, Any], summary: str, *more: int, tables: bool = True
) -> dict[str, object]:
    content: dict[str, object] = {JSON: {"schema": schema}}
    if tables:
        content[CSV] = {"schema": {"type": "string"}}
        content[ARROW] = {"schema": {"type": "string", "format": "binary"}}
    return {
        "200": {"description": summary, "content": content},
        **_refusals(406, 413, 415, 422, *more),
    }


def _setting(name: str, schema: dict[str, Any], words: str) -> dict[str, object]:
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": words}


def _lists(*names: str) -> dict[str, object]:
    inner: dict[str, object] = {"type": "array"}
    return {
        "type": "object",
        "required": list(names),
        "properties": dict.fromkeys((*names, "notes", "probabilities"), inner),
    }


def _model_paths(model: ServedModel, place: str, limits: ServerLimits) -> dict[str, object]:
    rows = _rows(model, limits)
    row = _example(model)
    asked = _body(rows, {"rows": [row]})
    boolean = {"type": "boolean"}
    labelled = {"rows": [row], "labels": [model.classes[0]]}
    identity = {"type": "string", "minLength": 1, "maxLength": LONGEST_ID}
    learned: dict[str, Any] = {
        "type": "object", "required": ["rows", "labels"], "additionalProperties": False,
        "properties": {"id": identity, "labels": {"type": "array", "items": LABEL},
                       **rows["oneOf"][0]["properties"]},
    }  # fmt: skip
    by_id = {
        "type": "object", "required": ["id"], "additionalProperties": False,
        "properties": {"id": identity},
    }  # fmt: skip
    without_id = {k: v for k, v in learned["properties"].items() if k != "id"}
    by_rows = {**learned, "properties": without_id}
    told = {"type": "object", "required": ["rows"], "properties": {"rows": {"type": "integer"}}}
    idempotent = _setting(
        "id", identity, "The id of the request: sent twice, its rows are learned once."
    )
    few = _rows(model, limits)
    return {
        place: {"get": _get("What suffice inspect prints.", {"type": "object"})},
        f"{place}/predict": {"post": {
            "summary": "The class of each row, and the probability of every class.",
            "parameters": [_setting("probabilities", boolean, "Whether to include them.")],
            "requestBody": asked,
            "responses": _answers(_lists("classes", "predictions"), "Predictions.", 409)}},
        f"{place}/explain": {"post": {
            "summary": "What each column adds to the log odds of two classes; "
                       f"{MOST_EXPLAINED:,} rows at most.",
            "parameters": [_setting(n, {"type": "string"}, "A class.") for n in ("of", "against")],
            "requestBody": _body(few, {"rows": [row]}),
            "responses": _answers(_lists("explanations"), "Explanations.", 409)}},
        f"{place}/typicality": {"post": {
            "summary": "How typical each row is of each class: a p-value.",
            "requestBody": asked,
            "responses": _answers(_lists("classes", "typicality"), "Typicality.", 409)}},
        f"{place}/sample": {"post": {
            "summary": "Rows generated by the model.",
            "requestBody": _body({
                "type": "object", "additionalProperties": False,
                "properties": {"size": {"type": "integer", "minimum": 0, "maximum": 10_000},
                               "seed": {"type": "integer", "minimum": 0, "maximum": 2**53},
                               "class": {**LABEL, "type": [*LABEL["type"], "null"]}}},
                {"size": 3, "seed": 0}, tables=False),
            "responses": _answers(_lists("rows", "labels"), "Rows.", 409)}},
        f"{place}/learn": {"post": {
            "summary": "Learn rows; answered when they are in the log, and synced.",
            "parameters": [idempotent],
            "requestBody": _body(learned, {"id": "2026-11-16/17", **labelled}),
            "responses": _answers(told, "Learned.", 409, 507, tables=False)}},
        f"{place}/forget": {"post": {
            "summary": "Forget what was learned under an id, or rows.",
            "parameters": [_setting("id", identity, "What to forget."),
                           _setting("file", boolean, "Also remove rows of the model file.")],
            "requestBody": _body({"oneOf": [by_id, by_rows]}, {"id": "2026-11-16/17"}),
            "responses": _answers(told, "Forgotten.", 409, 507, tables=False)}},
        f"{place}/file": {"get": {
            "summary": "The current model file.",
            "parameters": [_setting("statistics", boolean, "Whether it can learn more.")],
            "responses": {"200": {"description": "The file.", "content": {
                MODEL_TYPE.decode(): {"schema": {"type": "string", "format": "binary"}}}},
                **_refusals(409, 422)}}},
    }  # fmt: skip


def _infer() -> dict[str, object]:
    tensor = {
        "type": "object",
        "required": ["name", "shape", "datatype", "data"],
        "properties": {
            "name": {"type": "string"},
            "shape": {"type": "array", "items": {"type": "integer", "minimum": 0}},
            "datatype": {"enum": [*TYPES, "BYTES"]},
            "data": {"type": "array", "items": CELL},
        },
    }
    schema = {
        "type": "object", "required": ["inputs"],
        "properties": {"id": {"type": "string"}, "inputs": {"type": "array", "items": tensor}},
    }  # fmt: skip
    return {
        "summary": "Open Inference Protocol: predict.",
        "requestBody": {"required": True, "content": {JSON: {"schema": schema}}},
        "responses": _answers(
            {"type": "object", "required": ["model_name", "outputs"]}, "Outputs.", 409, tables=False
        ),
    }


def _invocations(model: ServedModel) -> dict[str, object]:
    row = _example(model)
    records = {"type": "array", "items": {"type": "object"}}
    schema = {"type": "object", "properties": {"dataframe_records": records}}
    content: dict[str, Sequence[object] | object] = {
        JSON: {"schema": schema, "example": {"dataframe_records": [row]}},
        CSV: {"schema": {"type": "string"}},
    }
    return {
        "summary": "MLflow: predict, by the first of the models.",
        "requestBody": {"required": True, "content": content},
        "responses": _answers(_lists("predictions"), "Predictions.", 409, tables=False),
    }
