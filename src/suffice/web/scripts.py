"""ES modules put together into one script, and the policy that lets a browser run it alone."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import partial
from importlib.resources import files
from posixpath import join, normpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
"""The one form in which our modules import: names, from a file."""
EXPORT = re.compile(r"^export (async function|function\*?|class|const) (\w+)", re.MULTILINE)
"""The one form in which they export."""
COMMENT = re.compile(r"^[ \t]*(?:/\*\*(?:(?!\*/).)*\*/|//[^\n]*)[ \t]*\n", re.MULTILINE | re.DOTALL)
"""Comments that have lines of their own: a page does not need them."""
INLINE = re.compile(r"/\*\* @type \{(?:(?!\*/).)*\} \*/ ")
"""Types of expressions."""


def bundled(entry: str) -> str:
    """Return a module and all that it imports as one script that needs no modules.

    Browsers do not load modules from `file://`. Each becomes a function that is called once, in
    the order in which they need each other; names stay private to it.

    >>> script = bundled("engine/matrix.js")
    >>> "export" in script, script.count("const engine_matrix = (() => {")
    (False, 1)
    """
    parts = []
    for name in _in_order(entry, []):
        source = read(name)
        exports = [found[2] for found in EXPORT.finditer(source)]
        inner = IMPORT.sub(partial(_bound, importer=name), source)
        inner = EXPORT.sub(r"\1 \2", COMMENT.sub("", inner))
        inner = INLINE.sub("", inner)
        handed = f"return {{ {', '.join(exports)} }};"
        parts.append(f"const {_variable(name)} = (() => {{\n{inner}{handed}\n}})();\n")
    script = "".join(['"use strict";\n', *parts])
    return re.sub(r"\n\s*\n+", "\n", script)


def _bound(found: re.Match[str], importer: str) -> str:
    names = ", ".join(
        name.strip().replace(" as ", ": ") for name in found[1].split(",") if name.strip()
    )
    return f"const {{ {names} }} = {_variable(_target(importer, found[2]))};\n"


def _in_order(name: str, known: list[str]) -> list[str]:
    """Return a module after all that it imports."""
    for found in IMPORT.finditer(read(name)):
        inner = _target(name, found[2])
        if inner not in known:
            _in_order(inner, known)
    known.append(name)
    return known


def _target(importer: str, path: str) -> str:
    return normpath(join(importer, "..", path))


def _variable(name: str) -> str:
    return re.sub(r"\W", "_", name.removesuffix(".js"))


def read(name: str) -> str:
    """Return a file of this package: a module, a style sheet, a page."""
    return files("suffice.web").joinpath(name).read_text("utf-8")


def style(name: str) -> str:
    """Return a style sheet, without its comments."""
    return re.sub(r"/\*.*?\*/\s*", "", read(name), flags=re.DOTALL)


def fingerprint(text: str) -> str:
    """Return what stands in a policy for a script or a style that is in the page itself.

    >>> fingerprint("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def policy(script: str, sheet: str) -> str:
    """Return what a browser may load and run for a page: what is in it, and nothing else."""
    return (
        f"default-src 'none'; script-src {fingerprint(script)}; style-src {fingerprint(sheet)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def data_block(key: str, content: object) -> str:
    r"""Return content as JSON that no parser of HTML takes for anything else.

    >>> data_block("model", {"name": "</script>"})
    '<script type="application/json" id="model">{"name":"\\u003c/script>"}</script>'
    """
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Halves of surrogate pairs have no encoding; they are written out.
    plain = "".join(_written(text))
    return f'<script type="application/json" id="{key}">{plain}</script>'


def _written(text: str) -> Iterator[str]:
    for character in text:
        unsafe = character in "<\u2028\u2029\x00" or "\ud800" <= character <= "\udfff"
        yield f"\\u{ord(character):04x}" if unsafe else character


def html_page(*, title: str, body: str, sheet: str, script: str, blocks: str, footer: str) -> str:
    """Return one file: words, data, style and script; `title`, `body` and `footer` are HTML."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(script, sheet)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,">'
        f"<title>{title}</title><style>{sheet}</style></head><body>{body}{blocks}"
        f"<script>{script}</script><footer>{footer}</footer></body></html>\n"
    )
