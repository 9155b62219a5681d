"""The routes of our own: models, predictions, explanations, typicality, samples, learning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice import __version__
from suffice.errors import BadSetting
from suffice.serve.bodies import check_keys, given_rows
from suffice.serve.http.answers import ENCODE, Answer, json_answer, table_answer
from suffice.serve.http.application import OPEN, Route
from suffice.serve.http.json_bodies import json_of
from suffice.serve.http.limits import FEW_ROWS, MOST_EXPLAINED, MOST_SAMPLED_CELLS, SMALL_BODY
from suffice.serve.http.metrics import METRICS_TYPE
from suffice.serve.http.problems import HttpProblem
from suffice.serve.http.requests import JSON
from suffice.serve.served_model import known_labels, told_codes
from suffice.serve.small_batches import SmallBatches
from suffice.training.target_labels import label_named, label_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from suffice.serve.http.application import Application
    from suffice.serve.http.requests import Request
    from suffice.serve.models import Models
    from suffice.serve.served_model import Predicted, ServedModel

TRUTHS = {"true": True, "1": True, "false": False, "0": False}
"""How yes and no are written in an address."""
LONG = 4096
"""Rows of an answer that are written by one call."""
MODEL_TYPE = b"application/vnd.suffice.model+zip"
"""The media type of model files: a name of our own for a zip."""


def add_routes(app: Application, models: Models) -> None:
    """Let an application answer at the addresses of version 1."""
    app.add("/health/live", Route("GET", _live, "/health/live", OPEN))
    routes = _Whole(app, models)
    app.add("/health/ready", Route("GET", routes.ready, "/health/ready", OPEN))
    app.add("/metrics", Route("GET", routes.metrics, "/metrics"))
    app.add("/v1/models", Route("GET", routes.listed, "/v1/models"))
    app.add_family("/v1/models/", models.names)
    for name in models.names:
        one = ModelRoutes(app, models, name)
        place, template = f"/v1/models/{name}", "/v1/models/{name}"
        app.add(place, Route("GET", one.described, template))
        app.add(f"{place}/file", Route("GET", one.file, f"{template}/file"))
        for what in ("predict", "explain", "typicality", "sample"):
            app.add(f"{place}/{what}", Route("POST", getattr(one, what), f"{template}/{what}"))


async def _live(request: Request) -> Answer:
    del request
    return json_answer({"live": True})


class _Whole:
    """What is asked of the server, and of no model of its own."""

    def __init__(self, app: Application, models: Models) -> None:
        self._app, self._models = app, models

    async def ready(self, request: Request) -> Answer:
        del request
        if not self._app.ready:
            raise HttpProblem(503, "the server is starting or stopping", "ask again")
        return json_answer({"ready": True})

    async def metrics(self, request: Request) -> Answer:
        request.query(())
        text = self._app.metrics.text(self._models.weights())
        return Answer(text.encode("utf-8"), METRICS_TYPE)

    async def listed(self, request: Request) -> Answer:
        request.query(())
        found = [
            {
                "name": name,
                "estimator": model.stored.estimator,
                "classes": known_labels(model),
                "learns": self._models.why_not(name) is None,
            }
            for name in self._models.names
            for model in (self._models[name],)
        ]
        return json_answer({"version": __version__, "models": found})


class ModelRoutes:
    """What one model is asked for."""

    def __init__(self, app: Application, models: Models, name: str) -> None:
        self._app, self._models, self._name = app, models, name
        self.batches = SmallBatches(lambda: models[name], app.threads)

    @property
    def model(self) -> ServedModel:
        """The model of now."""
        return self._models[self._name]

    async def described(self, request: Request) -> Answer:
        """Answer what `suffice inspect` says."""
        request.query(())
        found = await self._app.in_thread(self.model.described)
        why = self._models.why_not(self._name)
        return json_answer({**found, "learns": why is None, "learns_not": why})

    async def file(self, request: Request) -> Answer:
        """Answer with the model file of now."""
        statistics = truth(request.query(("statistics",)).get("statistics"), "statistics")
        model = self.model
        data = await self._app.in_thread(lambda: model.file_bytes(statistics=statistics))
        named = "".join(c if c.isalnum() and c.isascii() else "-" for c in self._name)
        disposition = f'attachment; filename="{named}.suffice"'.encode()
        return Answer(data, MODEL_TYPE, 200, ((b"content-disposition", disposition),))

    async def predict(self, request: Request) -> Answer:
        """Answer with classes and probabilities."""
        how = request.accepted()
        wanted = request.scope["query_string"] == b"" or truth(
            request.query(("probabilities",)).get("probabilities"), "probabilities"
        )
        written = request.format()
        body = await request.body()
        model = self.model
        content: object = None
        if written is JSON and len(body) <= SMALL_BODY:
            content = json_of(body)
            rows = content
            if type(content) is dict:
                rows = content.get("rows") if len(content) == 1 else None
            if type(rows) is list and 0 < len(rows) <= FEW_ROWS:
                plain = model.reader.plain_rows(rows)
                if plain is not None:
                    found = await self._app.in_time(self.batches.ask(plain))
                    self._app.metrics.predicted[self._name] += len(plain)
                    return predicted_answer(how, model, [found], (), wanted=wanted)
        return await self._app.in_thread(
            self._predicted, model, body, written, content, how, wanted
        )

    def _predicted(
        self, model: ServedModel, body: bytes, written: str, content: object, how: str, wanted: bool
    ) -> Answer:
        given = given_rows(body, written, model, self._app.limits.rows, content=content)
        found = [model.predict(table) for table in given.tables]
        self._app.metrics.predicted[self._name] += given.size
        return predicted_answer(how, model, found, given.notes, wanted=wanted)

    async def typicality(self, request: Request) -> Answer:
        """Answer, per class, with the p-value of each row."""
        how, written = request.accepted(), request.format()
        request.query(())
        body = await request.body()
        return await self._app.in_thread(self._typicality, self.model, body, written, how)

    def _typicality(self, model: ServedModel, body: bytes, written: str, how: str) -> Answer:
        given = given_rows(body, written, model, self._app.limits.rows)
        parts = [model.typicality(table) for table in given.tables]
        labels = known_labels(model)
        if parts[0].shape[1] != len(labels):
            labels = ["all"]  # of a mixture: how typical a row is of the whole
        if how == JSON:
            return _json_lists({"classes": labels}, given.notes, ("typicality", parts))
        columns = {
            f"t({_word(label)})": [v for part in parts for v in part[:, c].tolist()]
            for c, label in enumerate(labels)
        }
        return table_answer(how, columns, given.notes)

    async def explain(self, request: Request) -> Answer:
        """Answer with what each column adds to the log odds of two classes."""
        how, written = request.accepted(), request.format()
        query = request.query(("of", "against"))
        body = await request.body()
        return await self._app.in_thread(self._explained, self.model, body, written, query, how)

    def _explained(
        self, model: ServedModel, body: bytes, written: str, query: dict[str, str], how: str
    ) -> Answer:
        pair = {name: label_named(text, model.classes) for name, text in query.items()}
        most = min(MOST_EXPLAINED, self._app.limits.rows)
        given = given_rows(body, written, model, most)
        found = [
            one
            for table in given.tables
            for one in model.explain(table, pair.get("of"), pair.get("against"))
        ]
        if how == JSON:
            content: dict[str, object] = {"explanations": found}
            return json_answer({**content, "notes": given.notes} if given.notes else content)
        names = dict.fromkeys(name for one in found for name in one["contributions"])
        columns = {
            name: [one[name] for one in found] for name in ("of", "against", "log_odds", "baseline")
        }
        columns |= {
            f"part({name})": [one["contributions"].get(name, 0.0) for one in found]
            for name in names
        }
        return table_answer(how, columns, given.notes)

    async def sample(self, request: Request) -> Answer:
        """Answer with rows that the model makes up."""
        how = request.accepted()
        request.query(())
        if request.format() != JSON:
            raise HttpProblem(415, "the request must be JSON", '{"size": 10}')
        content = json_of(await request.body())
        return await self._app.in_thread(self._sampled, self.model, content, how)

    def _sampled(self, model: ServedModel, content: object, how: str) -> Answer:
        if not isinstance(content, dict):
            raise BadSetting(
                "the body is not an object", hint='{"size": 10, "class": null, "seed": 0}'
            )
        check_keys(content, ("size", "class", "seed"))
        size, seed, label = content.get("size", 10), content.get("seed", 0), content.get("class")
        for name, value in (("size", size), ("seed", seed)):
            if type(value) is not int or not 0 <= value < 2**63:
                raise BadSetting(f"{name}={value!r:.40} is not a whole number", hint="0 or more")
        if size * max(1, len(model.columns.names)) > MOST_SAMPLED_CELLS or (
            size > self._app.limits.rows
        ):
            raise HttpProblem(413, f"{size:,} rows are too many at a time", "ask for fewer")
        if isinstance(label, (dict, list)):
            raise BadSetting("class is not a label", hint="use null to draw from all classes")
        chosen = None if label is None else label_named(label_text(label) or "", model.classes)
        names, columns, labels = model.sample(size, chosen, seed)
        target = model.target or "class"
        if how != JSON:
            return table_answer(how, {**dict(zip(names, columns, strict=True)), target: labels})
        rows = [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]
        return json_answer({"rows": rows, "labels": labels})


def truth(text: str | None, name: str) -> bool:
    """Return what a setting of an address says; without it, yes."""
    if text is None:
        return True
    if text.lower() not in TRUTHS:
        raise BadSetting(
            f"?{name}={text!r:.40} is neither true nor false",
            hint="use true or false; true is usual",
        )
    return TRUTHS[text.lower()]


def _word(label: object) -> str:
    return label_text(label) or str(label)


def predicted_answer(
    how: str,
    model: ServedModel,
    found: Sequence[Predicted],
    notes: Sequence[str],
    *,
    wanted: bool = True,
) -> Answer:
    """Return predictions as they are sent: in JSON, a list of labels and one of probabilities."""
    labels = known_labels(model)
    posteriors = [one.posterior for one in found if one.posterior is not None]
    wanted = wanted and len(posteriors) == len(found)
    if how == JSON:
        if len(found) == 1 and len(found[0].codes) <= LONG:
            content = {"classes": labels, "predictions": told_codes(labels, found[0].codes)}
            if wanted:
                content["probabilities"] = posteriors[0].tolist()
            if notes:
                content["notes"] = notes
            return Answer(ENCODE(content))
        lists: list[tuple[str, list[object]]] = [
            ("predictions", [told_codes(labels, one.codes) for one in found])
        ]
        if wanted:
            lists.append(("probabilities", list(posteriors)))
        return _json_lists({"classes": labels}, notes, *lists)
    columns: dict[str, list[object]] = {
        "prediction": [label for one in found for label in told_codes(labels, one.codes)]
    }
    if wanted:
        for c, label in enumerate(labels):
            columns[f"p({_word(label)})"] = [p for part in posteriors for p in part[:, c].tolist()]
    return table_answer(how, columns, notes)


def _json_lists(
    begin: dict[str, Any], notes: Sequence[str], *lists: tuple[str, list[Any]]
) -> Answer:
    """Return an object with long lists, written some rows at a time: others are answered too."""
    parts = [ENCODE({**begin, **({"notes": list(notes)} if notes else {})})[:-1]]
    for name, chunks in lists:
        parts.append(b"," + ENCODE(name) + b":[")
        first = True
        for chunk in chunks:
            for start in range(0, len(chunk), LONG):
                some: Any = chunk[start : start + LONG]
                rows = some if isinstance(some, list) else _listed(some)
                parts.append((b"" if first else b",") + ENCODE(rows)[1:-1])
                first = False
        parts.append(b"]")
    parts.append(b"}")
    return Answer(b"".join(parts))


def _listed(rows: NDArray[np.float64]) -> list[object]:
    found: list[object] = rows.tolist()
    return found
