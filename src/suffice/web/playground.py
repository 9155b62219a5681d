"""The playground: points of some classes on a plane, and what models make of them."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from pathlib import Path

from suffice import __version__
from suffice.plots.palette import COLOURS
from suffice.storage.atomic_writes import whole_file
from suffice.web.scripts import bundled, data_block, html_page, read, style


def playground() -> str:
    """Return the playground as one HTML page that needs nothing else.

    >>> html = playground()
    >>> html[:15], len(html) < 250_000, html.count("<script>")
    ('<!DOCTYPE html>', True, 1)
    """
    return html_page(
        title="suffice: the playground",
        body=read("play/play.html"),
        sheet=style("pages/page.css") + style("play/play.css"),
        script=bundled("play/main.js"),
        blocks=data_block("palette", {"colours": list(COLOURS)}),
        footer=f"Made by suffice {escape(__version__)}. This page needs no network, and sends "
        "nothing anywhere.",
    )


def playground_file() -> Path:
    """Return where the playground is in the installed package: a page that can be opened.

    >>> playground_file().name
    'playground.html'
    """
    return Path(str(files("suffice.web").joinpath("playground.html")))


if __name__ == "__main__":
    with whole_file(playground_file(), suffix=".html") as file:
        file.write(playground().encode("utf-8"))
