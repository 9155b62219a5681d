"""Frames of other libraries as chunks, read as `fit(X, y)` reads them: declared levels stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadLabels, BadWeights, NotANumber, SufficeError
from suffice.rows.frames import table_of_frame
from suffice.sources.local import chunk_rows
from suffice.sources.source import Chunk, Wanted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


def chunks_of_frame(frame: Any, wanted: Wanted, name: str, start: int = 1) -> Iterator[Chunk]:
    """Yield the rows of a pandas or Polars frame as chunks; `start` is the place of its first."""
    import narwhals as nw

    whole = nw.from_native(frame, eager_only=True)
    step = chunk_rows(len(wanted.all))
    for first in range(0, len(whole), step):
        rows = whole[first : first + step]
        last = start + first + len(rows) - 1
        yield chunk_of_frame(rows.to_native(), wanted, f"{name}, rows {start + first} to {last}")


def chunk_of_frame(frame: Any, wanted: Wanted, place: str) -> Chunk:
    """Return a frame as a chunk: columns by name, labels and weights beside them."""
    try:
        table = table_of_frame(frame[list(wanted.names)])
    except SufficeError as error:
        raise NotANumber(f"{place}: {error.problem}", hint=error.hint) from None
    labels = None if wanted.target is None else _labels(frame[wanted.target], wanted, place)
    weights = None if wanted.weight is None else _weights(frame[wanted.weight], wanted, place)
    return Chunk(table, labels, weights, place)


def _labels(column: Any, wanted: Wanted, place: str) -> Any:
    import narwhals as nw

    blank = np.asarray(nw.from_native(column, series_only=True).is_null().to_numpy(), dtype=bool)
    if blank.any():
        raise BadLabels(
            f"{place}: row {int(blank.argmax()) + 1} of these has no {wanted.target}",
            hint="leave out rows without a label: nothing can be learned from them here",
        )
    return column


def _weights(column: Any, wanted: Wanted, place: str) -> NDArray[Any]:
    import narwhals as nw

    series = nw.from_native(column, series_only=True)
    if not series.dtype.is_numeric():
        raise BadWeights(
            f"{place}: {wanted.weight} holds no numbers", hint="name another column of weights"
        )
    return np.asarray(series.cast(nw.Float64()).to_numpy(), dtype=np.float64)
