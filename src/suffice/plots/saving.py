"""Writing a picture so that a reader never meets half of one."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING

from suffice.errors import BadSetting, listed
from suffice.storage.atomic_writes import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save_figure(
    figure: Figure, path: str | Path, *, dpi: float = 160.0, colours: int | None = None
) -> Path:
    """Write `figure` to `path` whole or not at all, and return the path.

    The picture is written beside its destination, flushed to the disk and then renamed: a crash,
    a full disk or Ctrl-C leaves the old file as it was. The name of the program that drew it is
    left out, so that the same figure gives the same bytes. With `colours`, at most 256, a PNG has
    a palette of so many: a third of the size, and no difference to be seen in a drawing.
    """
    path = Path(path)
    kind = path.suffix.removeprefix(".").lower() or "png"
    known = figure.canvas.get_supported_filetypes()
    if kind not in known:
        raise BadSetting(
            f"{path}: no picture can be written as {kind!r}", hint=f"it can be {listed(known)}"
        )
    if colours is not None and (kind != "png" or not 2 <= colours <= 256):
        raise BadSetting(
            f"{path}: colours={colours!r} is for PNG alone, and at most 256", hint="leave it out"
        )
    with whole_file(path, f".{kind}") as file:
        if colours is None:
            metadata = {"Software": None} if kind == "png" else None
            figure.savefig(file, format=kind, dpi=dpi, metadata=metadata)
        else:
            _save_palette(figure, file, dpi, colours)
    return path


def _save_palette(figure: Figure, file: IO[bytes], dpi: float, colours: int) -> None:
    """Write a PNG of a palette."""
    from io import BytesIO

    from PIL import Image

    whole = BytesIO()
    figure.savefig(whole, format="png", dpi=dpi, facecolor="white")
    with Image.open(whole) as picture:
        few = picture.convert("RGB").quantize(
            colours, method=Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE
        )
    few.save(file, format="png", optimize=True)
