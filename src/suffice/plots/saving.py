"""Writing a picture so that a reader never meets half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from suffice.errors import BadSetting, listed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save_figure(figure: Figure, path: str | Path, *, dpi: float = 160.0) -> Path:
    """Write `figure` to `path` whole or not at all, and return the path.

    The picture is written beside its destination, flushed to the disk and then renamed: a crash,
    a full disk or Ctrl-C leaves the old file as it was. The name of the program that drew it is
    left out, so that the same figure gives the same bytes.
    """
    path = Path(path)
    kind = path.suffix.removeprefix(".").lower() or "png"
    known = figure.canvas.get_supported_filetypes()
    if kind not in known:
        raise BadSetting(
            f"{path}: no picture can be written as {kind!r}", hint=f"it can be {listed(known)}"
        )
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=f".{kind}", dir=path.parent)
    except OSError as error:  # say the name that was asked for, not the temporary one
        raise OSError(error.errno, error.strerror, str(path)) from None
    written = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            metadata = {"Software": None} if kind == "png" else None
            figure.savefig(file, format=kind, dpi=dpi, metadata=metadata)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files for the owner alone; a picture is as readable as any new file.
        mask = os.umask(0)
        os.umask(mask)
        written.chmod(0o666 & ~mask)
        written.replace(path)
    except BaseException:
        written.unlink(missing_ok=True)
        raise
    return path
