"""The gallery: every picture of docs/gallery.md, drawn again by `python -m suffice.plots.gallery`.

python -m suffice.plots.gallery                      all pictures, into docs/images/gallery
python -m suffice.plots.gallery -o folder sigmoid    this one, elsewhere
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from suffice.errors import SufficeError
from suffice.plots.gallery_models import MODELS
from suffice.plots.gallery_normals import NORMALS
from suffice.plots.saving import save_figure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

PICTURES: dict[str, Callable[[], Figure]] = {**NORMALS, **MODELS}
"""What draws each picture, by the name of its file."""
FOLDER = Path("docs/images/gallery")
COLOURS = 256
"""Colours of a picture's palette: enough for a surface, and a third of the size."""


def main(argv: Sequence[str] | None = None) -> int:
    """Draw the pictures that are named, or all, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m suffice.plots.gallery", description="Draw the pictures of the gallery."
    )
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(PICTURES))
    parser.add_argument(
        "-o", "--output", type=Path, default=FOLDER, help=f"the folder (default: {FOLDER})"
    )
    parser.add_argument("--dpi", type=float, default=110.0, help="dots an inch (default: 110)")
    asked = parser.parse_args(argv)
    unknown = [name for name in asked.names if name not in PICTURES]
    if unknown:
        parser.error(f"there is no picture {unknown[0]!r}; there are {', '.join(PICTURES)}")
    try:
        asked.output.mkdir(parents=True, exist_ok=True)
        for name in asked.names or PICTURES:
            path = asked.output / f"{name}.png"
            save_figure(PICTURES[name](), path, dpi=asked.dpi, colours=COLOURS)
            sys.stderr.write(f"{path}\n")
    except (SufficeError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
