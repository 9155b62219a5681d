"""What the server says about itself: an OpenAPI document, and a page made of it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from suffice.serve.http.answers import Answer, json_answer
from suffice.serve.http.application import Route
from suffice.serve.routes.openapi import document

if TYPE_CHECKING:
    from suffice.serve.http.application import Application
    from suffice.serve.http.requests import Request
    from suffice.serve.models import Models

POLICY = (
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"),
)
"""The page loads nothing, from here or elsewhere, and runs nothing."""
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem;
       color: #1c2430; background: #fff; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
code, pre { font: 14px/1.45 ui-monospace, monospace; background: #f2f4f7; border-radius: 4px; }
code { padding: 0 .25em; } pre { padding: .8rem; overflow-x: auto; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .15rem 1rem .15rem 0;
       vertical-align: top; }
.method { font-weight: 600; }
@media (prefers-color-scheme: dark) { body { color: #dfe5ee; background: #14181f; }
       code, pre { background: #222935; } a { color: #8ab4ff; } }
"""
"""How the page looks, by day and by night."""
HTML = b"text/html; charset=utf-8"
"""The media type of the page."""


def add_documentation(app: Application, models: Models) -> None:
    """Let an application answer at /openapi.json and /docs, and at /."""
    routes = _Documentation(app, models)
    app.add("/openapi.json", Route("GET", routes.openapi, "/openapi.json"))
    for path in ("/", "/docs"):
        app.add(path, Route("GET", routes.page, "/docs"))


class _Documentation:
    """The document of the models that are served, and the page."""

    def __init__(self, app: Application, models: Models) -> None:
        self._app, self._models = app, models

    def _document(self) -> dict[str, object]:
        return document(self._models, self._app.limits, tokens=self._app.tokens is not None)

    async def openapi(self, request: Request) -> Answer:
        request.query(())
        return json_answer(self._document())

    async def page(self, request: Request) -> Answer:
        request.query(())
        host = request.headers.get(b"host", b"127.0.0.1:8000").decode("latin-1")
        text = page_of(self._document(), self._models, host)
        return Answer(text.encode("utf-8"), HTML, 200, POLICY)


def page_of(content: dict[str, Any], models: Models, host: str) -> str:
    """Return the page of a document; it is one file, and has no script."""
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        "<meta name=viewport content='width=device-width, initial-scale=1'>",
        f"<title>suffice serve</title><style>{STYLE}</style>",
        "<h1>suffice serve</h1>",
        f"<p>{escape(content['info']['description'])}</p>",
        "<h2>Models</h2><table><tr><th>name<th>what it is<th>classes<th>learns",
    ]
    for model in models:
        classes = ", ".join(map(str, model.classes[:8])) + ("…" if len(model.classes) > 8 else "")
        learns = "no" if models.why_not(model.name) else "yes"
        parts.append(
            f"<tr><td><a href='/v1/models/{quote(model.name)}'>{escape(model.name)}</a>"
            f"<td>{escape(model.stored.estimator)}<td>{escape(classes)}<td>{learns}"
        )
    parts.append("</table>")
    first = models.names[0]
    predict = content["paths"][f"/v1/models/{quote(first)}/predict"]["post"]
    example = predict["requestBody"]["content"]["application/json"]["example"]
    from suffice.serve.http.answers import ENCODE

    body = ENCODE(example).decode().replace("'", "'\\''")
    curl = (
        f"curl http://{host}/v1/models/{quote(first)}/predict \\\n"
        f"  -H 'Content-Type: application/json' \\\n  -d '{body}'"
    )
    parts.append(f"<h2>A first question</h2><pre>{escape(curl)}</pre>")
    parts.append("<h2>Addresses</h2>")
    for path, methods in content["paths"].items():
        for method, said in methods.items():
            parts.append(
                f"<p><span class=method>{method.upper()}</span> <code>{escape(path)}</code><br>"
                f"{escape(said['summary'])}</p>"
            )
    parts.append(
        "<p>Everything in detail: <a href='/openapi.json'>openapi.json</a>. Refusals are problems "
        "as RFC 9457 has them, with a hint.</p>"
    )
    return "\n".join(parts) + "\n"
