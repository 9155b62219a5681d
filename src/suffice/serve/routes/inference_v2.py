"""The Open Inference Protocol, version 2: what clients of KServe, Triton and MLServer speak."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice import __version__
from suffice.errors import BadRows, listed
from suffice.rows.cells import BOOLEAN, NUMBER
from suffice.serve.http.answers import ENCODE, JSON_TYPE, Answer, json_answer
from suffice.serve.http.application import OPEN, Route
from suffice.serve.http.json_bodies import json_of
from suffice.serve.http.problems import HttpProblem
from suffice.serve.served_model import known_labels, told_codes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.serve.http.application import Application
    from suffice.serve.http.requests import Request
    from suffice.serve.models import Models
    from suffice.serve.served_model import ServedModel

TYPES = {
    "BOOL": "?",
    "INT8": "<i1", "INT16": "<i2", "INT32": "<i4", "INT64": "<i8",
    "UINT8": "<u1", "UINT16": "<u2", "UINT32": "<u4", "UINT64": "<u8",
    "FP16": "<f2", "FP32": "<f4", "FP64": "<f8",
}  # fmt: skip
"""Types of tensors, as NumPy has them; BYTES is the one of texts."""
HEADER = b"inference-header-content-length"
"""How long the JSON is where tensors follow it as bytes."""
BINARY = b"application/octet-stream"
"""What such an answer is."""
LABELS, PROBABILITIES = "predict", "predict_proba"
"""The names of both outputs; MLServer's runtime of scikit-learn has the same."""
VERSION = "1"
"""The one version of every model: what it has learned since is no other."""
MOST_TENSORS = 100_000
"""Tensors of a request: one for each column."""


def add_v2_routes(app: Application, models: Models) -> None:
    """Let an application answer at the addresses of the protocol."""
    routes = _V2(app, models)
    app.add("/v2", Route("GET", routes.server, "/v2"))
    app.add("/v2/health/live", Route("GET", routes.live, "/v2/health/live", OPEN))
    app.add("/v2/health/ready", Route("GET", routes.ready, "/v2/health/ready", OPEN))
    app.add_family("/v2/models/", models.names)
    for name in models.names:
        one = _V2Model(app, models, name)
        template = "/v2/models/{name}"
        for place in (f"/v2/models/{name}", f"/v2/models/{name}/versions/{VERSION}"):
            app.add(place, Route("GET", one.metadata, template))
            app.add(f"{place}/ready", Route("GET", routes.ready, f"{template}/ready", OPEN))
            app.add(f"{place}/infer", Route("POST", one.infer, f"{template}/infer"))


class _V2:
    """What is asked of the server."""

    def __init__(self, app: Application, models: Models) -> None:
        self._app, self._models = app, models

    async def server(self, request: Request) -> Answer:
        del request
        return json_answer(
            {"name": "suffice", "version": __version__, "extensions": ["binary_tensor_data"]}
        )

    async def live(self, request: Request) -> Answer:
        del request
        return json_answer({"live": True})

    async def ready(self, request: Request) -> Answer:
        del request
        if not self._app.ready:
            raise HttpProblem(503, "the server is starting or stopping", "ask again")
        return json_answer({"ready": True})


class _V2Model:
    """What is asked of one model."""

    def __init__(self, app: Application, models: Models, name: str) -> None:
        self._app, self._models, self._name = app, models, name

    async def metadata(self, request: Request) -> Answer:
        del request
        model = self._models[self._name]
        columns = zip(model.reader.names, model.reader.kinds, strict=True)
        outputs = [{"name": LABELS, "datatype": _label_type(model), "shape": [-1, 1]}]
        if model.stored.estimator != "Perceptron":
            shape = [-1, len(model.classes)]
            outputs.append({"name": PROBABILITIES, "datatype": "FP64", "shape": shape})
        return json_answer(
            {
                "name": self._name,
                "versions": [VERSION],
                "platform": "suffice",
                "inputs": [
                    {"name": name, "datatype": _column_type(kind), "shape": [-1, 1]}
                    for name, kind in columns
                ],
                "outputs": outputs,
            }
        )

    async def infer(self, request: Request) -> Answer:
        if request.content_type not in ("application/json", "application/octet-stream", ""):
            raise HttpProblem(415, "a request of inference is JSON", "tensors may follow as bytes")
        body = await request.body()
        length = request.headers.get(HEADER)
        return await self._app.in_thread(self._inferred, self._models[self._name], body, length)

    def _inferred(self, model: ServedModel, body: bytes, length: bytes | None) -> Answer:
        size = len(body)
        if length is not None:
            if not length.isdigit() or int(length) > len(body):
                raise HttpProblem(400, "the length of the JSON is longer than the body")
            size = int(length)
        content = json_of(body[:size])
        if not isinstance(content, dict) or not isinstance(content.get("inputs"), list):
            raise HttpProblem(400, "the request has no inputs", '{"inputs": [{"name": …}]}')
        tensors = tensors_of(content["inputs"], memoryview(body)[size:])
        rows = _rows(tensors, model)
        if len(rows) > self._app.limits.rows:
            raise HttpProblem(413, f"there are {len(rows):,} rows", "send fewer at a time")
        tables, _ = model.reader.tables(rows)
        found = [model.predict(table) for table in tables]
        self._app.metrics.predicted[self._name] += len(rows)
        codes = np.concatenate([one.codes for one in found])
        outputs: dict[str, tuple[str, NDArray[np.generic] | list[object], list[int]]] = {}
        labels = told_codes(known_labels(model), codes)
        outputs[LABELS] = (_label_type(model), labels, [len(rows), 1])
        posteriors = [one.posterior for one in found if one.posterior is not None]
        if len(posteriors) == len(found):
            joined = np.concatenate(posteriors)
            outputs[PROBABILITIES] = ("FP64", joined, list(joined.shape))
        return _answered(model.name, content, outputs)


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """A tensor: its name, and its cells row by row, as JSON has them."""

    name: str
    shape: tuple[int, ...]
    cells: list[Any]


def tensors_of(given: Sequence[object], rest: memoryview) -> list[Tensor]:
    """Return the tensors of a request, be they JSON or bytes behind it."""
    if not 0 < len(given) <= MOST_TENSORS:
        raise HttpProblem(400, f"there are {len(given)} inputs")
    found = []
    at = 0
    for one in given:
        if not isinstance(one, dict):
            raise HttpProblem(400, "an input is not an object")
        name, kind, shape = one.get("name"), one.get("datatype"), one.get("shape")
        sound = isinstance(name, str) and isinstance(shape, list) and 1 <= len(shape) <= 2
        if not sound or not all(type(n) is int and 0 <= n < 2**31 for n in shape or ()):
            raise HttpProblem(
                400, f"input {name!r:.60} has the shape {shape!r:.40}",
                "one or two whole numbers: rows, and columns",
            )  # fmt: skip
        assert isinstance(shape, list)
        if kind != "BYTES" and kind not in TYPES:
            raise HttpProblem(
                400, f"input {name!r:.60} has the datatype {kind!r:.40}",
                f"use {', '.join(TYPES)} or BYTES",
            )  # fmt: skip
        count = int(np.prod(shape, dtype=np.int64))
        parameters = one.get("parameters")
        size = parameters.get("binary_data_size") if isinstance(parameters, dict) else None
        if size is None:
            cells = _flat(one.get("data"), count, str(name))
        else:
            if type(size) is not int or not 0 <= size <= len(rest) - at:
                raise HttpProblem(400, f"input {name!r:.60}: there are not as many bytes")
            cells = _of_bytes(rest[at : at + size], str(kind), count, str(name))
            at += size
        found.append(Tensor(str(name), tuple(shape), cells))
    if at != len(rest):
        raise HttpProblem(400, f"{len(rest) - at} bytes belong to no input")
    return found


def _flat(data: object, count: int, name: str) -> list[object]:
    """Return the cells of a tensor, which may be nested or not."""
    if not isinstance(data, list):
        raise HttpProblem(400, f"input {name!r:.60} has no data", "a list of cells")
    if data and isinstance(data[0], list):
        if not all(isinstance(row, list) for row in data):
            raise HttpProblem(
                400, f"input {name!r:.60}: give its rows either as lists or as cells, not both"
            )
        data = [cell for row in data for cell in row]
    if len(data) != count:
        raise HttpProblem(400, f"input {name!r:.60} has {len(data)} cells for {count} places")
    cells: list[object] = data
    return cells


def _of_bytes(data: memoryview, kind: str, count: int, name: str) -> list[object]:
    if kind != "BYTES":
        dtype = np.dtype(TYPES[kind])
        if len(data) != count * dtype.itemsize:
            raise HttpProblem(400, f"input {name!r:.60} has {len(data)} bytes for {count} cells")
        values = np.frombuffer(data, dtype)
        if dtype.kind == "f":
            values = values.astype(np.float64)
            if np.isinf(values).any():
                raise BadRows(f"input {name!r:.60} holds infinity", hint="numbers are finite")
            return [None if np.isnan(v) else v for v in values.tolist()]  # NaN is blank
        found: list[object] = values.tolist()
        return found
    cells: list[object] = []
    at = 0
    try:
        while at < len(data):
            (size,) = struct.unpack_from("<I", data, at)
            if at + 4 + size > len(data):
                raise HttpProblem(400, f"input {name!r:.60}: a text is cut short")
            cells.append(bytes(data[at + 4 : at + 4 + size]).decode("utf-8"))
            at += 4 + size
    except (struct.error, UnicodeDecodeError):
        raise HttpProblem(400, f"input {name!r:.60} holds no texts in UTF-8") from None
    if len(cells) != count:
        raise HttpProblem(400, f"input {name!r:.60} has {len(cells)} texts for {count} cells")
    return cells


def _rows(tensors: Sequence[Tensor], model: ServedModel) -> list[object]:
    """Return rows: of one tensor with all columns, or of one tensor for each column."""
    names = model.reader.names
    first = tensors[0]
    width = first.shape[1] if len(first.shape) == 2 else 1
    if len(tensors) == 1 and (first.name not in names or width == len(names) != 1):
        if len(first.shape) == 1 and len(names) > 1:
            return [first.cells]  # one row
        return [first.cells[i : i + width] for i in range(0, len(first.cells), max(1, width))]
    size = first.shape[0]
    for one in tensors:
        if one.shape not in ((size,), (size, 1)):
            raise HttpProblem(
                400, f"input {one.name!r:.60} has the shape {list(one.shape)}",
                f"a tensor for each column, of the shape [{size}, 1]; columns are {listed(names)}",
            )  # fmt: skip
    given = {one.name: one.cells for one in tensors}
    return [dict(zip(given, cells, strict=True)) for cells in zip(*given.values(), strict=True)]


def _answered(
    name: str, content: Mapping[str, object], outputs: Mapping[str, tuple[str, Any, list[int]]]
) -> Answer:
    asked = content.get("outputs")
    shared = content.get("parameters")
    every = isinstance(shared, dict) and shared.get("binary_data_output") is True
    wanted: dict[str, bool] = dict.fromkeys(outputs, every)
    if isinstance(asked, list) and asked:
        wanted = {}
        for one in asked:
            which = one.get("name") if isinstance(one, dict) else None
            if not isinstance(which, str) or which not in outputs:
                raise HttpProblem(
                    400, f"there is no output {which!r:.60}", f"there is {', '.join(outputs)}"
                )
            parameters = one.get("parameters")
            binary = parameters.get("binary_data") if isinstance(parameters, dict) else None
            wanted[which] = every if binary is None else binary is True
    told, rest = [], []
    for which, binary in wanted.items():
        kind, cells, shape = outputs[which]
        output: dict[str, object] = {"name": which, "datatype": kind, "shape": shape}
        if binary:
            packed = _packed(kind, cells)
            output["parameters"] = {"binary_data_size": len(packed)}
            rest.append(packed)
        else:
            output["data"] = cells if isinstance(cells, list) else cells.ravel().tolist()
        told.append(output)
    answer: dict[str, object] = {"model_name": name, "model_version": VERSION, "outputs": told}
    if isinstance(content.get("id"), str):
        answer["id"] = content["id"]
    text = ENCODE(answer)
    if not rest:
        return Answer(text, JSON_TYPE)
    length = ((HEADER, b"%d" % len(text)),)
    return Answer(b"".join((text, *rest)), BINARY, 200, length)


def _packed(kind: str, cells: NDArray[np.generic]) -> bytes:
    if kind == "BYTES":
        texts = [str(cell).encode("utf-8") for cell in cells]
        return b"".join(struct.pack("<I", len(text)) + text for text in texts)
    return np.ascontiguousarray(cells, dtype=TYPES[kind]).tobytes()


def _column_type(kind: str) -> str:
    return {NUMBER: "FP64", BOOLEAN: "BOOL"}.get(kind, "BYTES")


def _label_type(model: ServedModel) -> str:
    labels = known_labels(model)
    if all(isinstance(label, bool) for label in labels):
        return "BOOL"
    if all(isinstance(label, int) for label in labels):
        return "INT64"
    return "FP64" if all(isinstance(label, (int, float)) for label in labels) else "BYTES"
