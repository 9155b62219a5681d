"""The pictures of one page: numbered, so that their names never clash."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from suffice.errors import SufficeError
from suffice.report.drawings import HEIGHT, WIDTH, drawing
from suffice.report.markup import text

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

HINT = (
    "There are no pictures on this page: matplotlib is not installed. "
    "Hint: pip install 'suffice[plots]'"
)


class Album:
    """Draws pictures, and keeps the greys that a dark page has to turn round.

    `draws` is False where matplotlib is missing, or where no pictures are wanted: then every
    picture is nothing.
    """

    def __init__(self, wanted: bool = True) -> None:
        self.installed = _installed()
        self.draws = wanted and self.installed
        self._greys: set[str] = {"00", "ff"}
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
