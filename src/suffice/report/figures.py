"""Figures as SVG inside a page: numbered, names without clashes, colours that follow the page."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, replace
from importlib.util import find_spec
from io import StringIO
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from suffice.errors import SufficeError
from suffice.plots.drawn_values import drawn_values
from suffice.printing.terminal_words import printable
from suffice.report.markup import text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from suffice.columns.spellings.spelling import Spelling


WIDTH, HEIGHT = 5.0, 4.2
"""Inches: at this size letters are as large as those of the text, on a telephone too."""
SETTINGS: Any = {
    "svg.fonttype": "none",  # letters stay letters: small, searchable, shaped by the browser
    "svg.hashsalt": "suffice",
    "text.parse_math": False,  # a dollar in a name is no formula
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 9.5,
    "path.simplify": True,
}
"""matplotlib's. Letters of 9.5 points are a choice, together with the `WIDTH` of a picture."""
SVG = "http://www.w3.org/2000/svg"
"""The namespace of pictures, before the names of their nodes."""
XLINK = "{http://www.w3.org/1999/xlink}href"
"""How matplotlib's pictures point at shapes that they use again."""
GREY = re.compile(r"#([0-9a-f]{2})\1\1\b")
"""A grey as matplotlib writes it: it follows the page, light or dark, and colours of classes do
not."""
NUMBER = re.compile(r"-?\d+\.\d{3,}")
"""A coordinate with more digits than a screen shows."""
FONT = re.compile(r"font-family: [^;]*;? ?")
"""Taken out: letters are those of the page."""
REFERENCE = re.compile(r"url\(#([^)]+)\)")
"""Where an attribute points at a shape by its id, which gets the prefix of its picture."""
ROUNDED = ("d", "x", "y", "transform", "points", "width", "height")
"""Attributes that hold coordinates; digits of others may be names."""
DARK_INK, DARK_PAPER = (0xE4, 0xE7, 0xEA), (0x16, 0x19, 0x1C)
"""What black and white become on a dark page: --ink and --paper of `page.css` there."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture as HTML.

    svg      the element
    values   what is drawn in it, for readers who point at it
    greys    those in it, which a dark page turns round
    opaque   whether it holds dots instead of lines: its colours stay, on white
    """

    svg: str
    greys: frozenset[str]
    opaque: bool
    values: dict[str, Any] | None = None


def drawing(
    draw: Callable[[Axes], object],
    prefix: str,
    label: str,
    size: tuple[float, float] = (WIDTH, HEIGHT),
) -> Drawing:
    """Draw on new Axes and return an `svg` element whose names all begin with `prefix`.

    `label` is what is read out instead of the picture.

    >>> one = drawing(lambda ax: ax.plot([1, 2], [3, 4]), "a", "a line")
    >>> one.svg[:56]
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360'
    >>> one.values["series"]
    []
    """
    from matplotlib import rc_context

    from suffice.plots.axes import new_figure

    written = StringIO()
    # Letters that the measuring font lacks are none of the reader's business: browsers have them.
    with warnings.catch_warnings(), rc_context(SETTINGS):
        warnings.simplefilter("ignore")
        figure = new_figure(*size)
        draw(figure.add_subplot())
        _write_out(figure)
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None})
    values = drawn_values(figure.axes[0], (72.0 * size[0], 72.0 * size[1]))
    return replace(_inline(written.getvalue(), prefix, label), values=values)


def dark_greys(greys: frozenset[str]) -> str:
    """Return the style that turns greys round on a dark page, white becoming the page's own.

    >>> dark_greys(frozenset(["ff"]))
    '--g-ff:#16191c'
    """
    found = []
    for pair in sorted(greys):
        share = int(pair, 16) / 255.0
        mixed = (round(i + (p - i) * share) for i, p in zip(DARK_INK, DARK_PAPER, strict=True))
        found.append(f"--g-{pair}:#{''.join(f'{part:02x}' for part in mixed)}")
    return ";".join(found)


def _write_out(figure: Figure) -> None:
    """Write out, in every text of a figure, what cannot be seen: XML has no letters for it."""
    from matplotlib.text import Text
    from matplotlib.ticker import FuncFormatter

    for found in figure.findobj(Text):
        assert isinstance(found, Text)
        found.set_text(_lines(found.get_text()))
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            if isinstance(axis.get_major_formatter(), FuncFormatter):  # names, not numbers
                words = [_lines(tick.get_text()) for tick in axis.get_ticklabels()]
                axis.set_ticks(axis.get_ticklocs(), words)


def _lines(words: str) -> str:
    return "\n".join(printable(line) for line in words.split("\n"))


def _inline(source: str, prefix: str, label: str) -> Drawing:
    """Return what matplotlib wrote, as one element that can stand in a page beside others."""
    root = ET.fromstring(source)  # noqa: S314 - written above, by matplotlib
    used = {ref[1:] for node in root.iter() if (ref := node.get(XLINK, "")).startswith("#")}
    for node in root.iter():
        used.update(*(REFERENCE.findall(value) for value in node.attrib.values()))
    greys: set[str] = set()
    opaque = any(node.tag == f"{{{SVG}}}image" for node in root.iter())
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)
    for node in root.iter():
        _tidy(node, prefix, used, None if opaque else greys)
    box = root.get("viewBox", "")
    root.attrib.clear()
    root.set("viewBox", box)
    root.set("data-picture", prefix)
    root.set("role", "img")
    root.set("aria-label", printable(label))
    ET.register_namespace("", SVG)
    return Drawing(ET.tostring(root, encoding="unicode"), frozenset(greys), opaque)


def _tidy(node: ET.Element, prefix: str, used: set[str], greys: set[str] | None) -> None:
    """Give a node names of its own page, colours of its page, and figures that are short."""
    if not (node.text or "").strip() and node.tag != f"{{{SVG}}}text":
        node.text = None
    node.tail = None if not (node.tail or "").strip() else node.tail
    own = node.attrib.pop("id", None)
    reference = node.attrib.pop(XLINK, None)
    for key, value in list(node.attrib.items()):
        said = REFERENCE.sub(lambda match: f"url(#{prefix}-{match[1]})", value)
        if key in ROUNDED:
            said = NUMBER.sub(lambda match: f"{float(match[0]):.2f}", said)
            said = " ".join(said.split())
        if key == "style":
            said = FONT.sub("", said)
        if key == "style" and greys is not None:
            greys.update(GREY.findall(said))
            said = GREY.sub(lambda match: f"var(--g-{match[1]},{match[0]})", said)
        node.set(key, said)
    if own in used:
        node.set("id", f"{prefix}-{own}")
    if reference is not None:
        node.set("href", reference if reference[:1] != "#" else f"#{prefix}-{reference[1:]}")


HINT = (
    "There are no pictures on this page: matplotlib is not installed. "
    "Hint: pip install 'suffice[plots]'"
)
"""Stands in for all pictures of a page."""


class Album:
    """Draws pictures, and keeps the greys that a dark page has to turn round.

    `draws` is False where matplotlib is missing, or where no pictures are wanted: then every
    picture is nothing. `values` has what was drawn, by the key of the picture; `spellings` how
    columns are written, by name.
    """

    def __init__(
        self, wanted: bool = True, spellings: Mapping[str, Spelling] | None = None
    ) -> None:
        self.installed = _installed()
        self.spellings = dict(spellings or {})
        self.draws = wanted and self.installed
        self._greys: set[str] = {"00", "ff"}
        self.values: dict[str, dict[str, object]] = {}
        self._count = 0

    @property
    def greys(self) -> frozenset[str]:
        """The greys of all pictures so far."""
        return frozenset(self._greys)

    def picture(
        self,
        draw: Callable[[Axes], object],
        label: str,
        caption: str,
        size: tuple[float, float] = (WIDTH, HEIGHT),
    ) -> str:
        """Return a figure with a caption (HTML), or a sentence on why it cannot be drawn."""
        if not self.draws:
            return ""
        self._count += 1
        try:
            found = drawing(draw, f"f{self._count}", label, size)
        except Exception as error:  # noqa: BLE001 - a page without one picture is still a page
            reason = error.problem if isinstance(error, SufficeError) else type(error).__name__
            return f'<p class="soft">There is no picture of {text(label)}: {text(reason)}.</p>'
        self._greys |= found.greys
        if found.values is not None:
            self.values[f"f{self._count}"] = found.values
        kind = ' class="opaque"' if found.opaque else ""
        return f"<figure{kind}>{found.svg}<figcaption>{caption}</figcaption></figure>"


def _installed() -> bool:
    try:
        return find_spec("matplotlib") is not None
    except (ImportError, ValueError):  # something keeps it from being imported
        return False


def grid(figures: list[str]) -> str:
    """Return figures side by side where there is room, and sentences below them."""
    drawn = [one for one in figures if one.startswith("<figure")]
    said = [one for one in figures if one and not one.startswith("<figure")]
    row = f'<div class="pictures">{"".join(drawn)}</div>' if drawn else ""
    return row + "".join(said)
