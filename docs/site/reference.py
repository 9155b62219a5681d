"""Pages that are made from code: the API reference from docstrings, and the code of the gallery."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

DOORS = (
    "suffice", "suffice.models", "suffice.families", "suffice.statistics", "suffice.text",
    "suffice.evaluation", "suffice.training", "suffice.report", "suffice.plots", "suffice.sources",
    "suffice.sql", "suffice.mail", "suffice.engines", "suffice.testing", "suffice.errors",
)  # fmt: skip
"""Modules whose public names have a page, in the order of the reference."""
SECTION = re.compile(
    r"(?m)^(Parameters|Returns|Attributes|Yields|Raises|Warns|Notes|Examples|See Also|References)"
    r"\n-{3,}$"
)
"""A section of a numpydoc docstring: to Markdown it would be a heading."""
WIDE = 80
"""Characters of a signature that fit on one line of a page; longer ones have a line a parameter."""
ENTRY = re.compile(r"^(\*{0,2}[A-Za-z_][\w, *]*)(?: : (.*))?$")
"""A parameter of such a section, and its type."""


def api_pages() -> dict[str, str]:
    """Return the pages of the reference: one a module, and one that lists them."""
    pages, listed, lines = {}, [], []
    for door in DOORS:
        module = importlib.import_module(door)
        names = public_names(module)
        if not names:
            continue
        page = f"api-{door.replace('.', '-')}"
        pages[page] = module_page(door, module, names)
        listed.append(page)
        first = (inspect.getdoc(module) or "").split("\n")[0]
        lines.append(f"- [`{door}`]({page}.md): {first}")
    hidden = "\n".join(listed)
    pages["api"] = (
        "# API reference\n\nEvery public name, from its docstring. Examples in docstrings are run "
        "by the tests.\n\n" + "\n".join(lines) + f"\n\n```{{toctree}}\n:hidden:\n\n{hidden}\n```\n"
    )
    return pages


def public_names(module: Any) -> list[str]:
    """Return the names of a module that have a docstring of their own, classes first."""
    found = getattr(module, "__all__", None) or [
        name for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]  # fmt: skip
    values = {name: getattr(module, name) for name in found}
    kept = [name for name, v in values.items() if inspect.isclass(v) or inspect.isroutine(v)]
    return sorted(kept, key=lambda name: (not inspect.isclass(values[name]), name))


def module_page(door: str, module: Any, names: list[str]) -> str:
    """Return the page of a module: its words, then every name."""
    parts = [f"# {door}", markdown(inspect.getdoc(module) or "")]
    for name in names:
        value = getattr(module, name)
        parts.append(f"## {name}")
        parts.append(f"```python\n{signature(f'{door}.{name}', value)}\n```")
        parts.append(markdown(inspect.getdoc(value) or ""))
        if inspect.isclass(value):
            parts += members(value)
    return "\n\n".join(part for part in parts if part) + "\n"


def members(value: type) -> list[str]:
    """Return the public methods and properties of a class, without those of other libraries."""
    parts = []
    for name in sorted(dir(value)):
        found = inspect.getattr_static(value, name, None)
        home = next((c for c in value.__mro__ if name in vars(c)), object)
        if name.startswith("_") or not home.__module__.startswith("suffice"):
            continue
        words = inspect.getdoc(getattr(value, name, None)) if found is not None else None
        if isinstance(found, property):
            parts.append(f"### {value.__name__}.{name}\n\n{markdown(words or '')}")
        elif words and (inspect.isfunction(found) or isinstance(found, classmethod | staticmethod)):
            called = signature(name, getattr(value, name))
            parts.append(
                f"### {value.__name__}.{name}\n\n```python\n{called}\n```\n\n{markdown(words)}"
            )
    return parts


def signature(name: str, value: Any) -> str:
    """Return how something is called, its types left to the words below."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    kept = [
        p.replace(annotation=inspect.Parameter.empty)
        for p in found.parameters.values()
        if p.name not in {"self", "cls"}
    ]
    plain = found.replace(parameters=kept, return_annotation=inspect.Signature.empty)
    words = re.sub(r" at 0x[0-9a-f]+", "", f"{name}{plain}")
    if len(words) <= WIDE:
        return words
    inside = ",\n".join(f"    {p}" for p in str(plain)[1:-1].split(", "))
    return re.sub(r" at 0x[0-9a-f]+", "", f"{name}(\n{inside},\n)")


def markdown(words: str) -> str:
    """Return a docstring as Markdown: examples become code, numpydoc sections lists."""
    words = SECTION.sub(lambda found: f"\x00{found[1]}", words)
    parts: list[str] = []
    listing = False
    for found in re.split(r"\n\s*\n", words):
        block = found
        if block.startswith("\x00"):
            head, _, block = block[1:].partition("\n")
            listing = head not in {"Notes", "Examples", "References"}
            parts.append(f"**{head}**")
            if not block:
                continue
        if block.lstrip().startswith(">>>"):
            parts.append(f"```python\n{inspect.cleandoc(block)}\n```")
        elif listing:
            parts.append(_entries(block))
        elif block.startswith("    ") or re.search(r"(?m)^\S.*? {2,}\S", block):
            parts.append(f"```text\n{block}\n```" if not block.startswith("|") else block)
        else:
            parts.append(block.replace("$", "\\$"))
    return "\n\n".join(parts)


def _entries(block: str) -> str:
    lines = []
    for line in block.split("\n"):
        found = None if line.startswith(" ") else ENTRY.match(line)
        if found:
            # A backslash ends the line: what follows is the description.
            lines.append(f"- `{found[1]}`" + (f" : {found[2]}" if found[2] else "") + "\\")
        else:
            lines.append(f"  {line.strip()}")
    return "\n".join(lines)


def gallery_page() -> str:
    """Return every picture of the gallery with the code that draws it."""
    from suffice.plots.gallery.__main__ import PICTURES

    parts = [
        "# The code of the gallery",
        "What draws each picture of the [gallery](gallery.md), one after the other.",
    ]
    for name, draw in PICTURES.items():
        code = inspect.getsource(draw).rstrip().rstrip(",")
        code = inspect.cleandoc("\n" + code)
        parts.append(f"## {name}\n\n![{name}](images/gallery/{name}.png)\n\n```python\n{code}\n```")
    return "\n\n".join(parts) + "\n"
