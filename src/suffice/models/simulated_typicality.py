"""How typical a row is of each class, by comparison with draws from the class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadRows
from suffice.families.blocks import Blocks
from suffice.families.left_out import counted_cells
from suffice.families.multinomial import MultinomialCounts
from suffice.models.typicality import DRAWS, SEED
from suffice.rows.levels import CodedColumns
from suffice.rows.sparse import SparseRows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.naive_bayes import NaiveBayesModel
    from suffice.rows import FloatArray, IntArray

MOST_TOKENS = 50_000_000
"""Words that may be drawn for one answer."""


def simulated_typicality(model: NaiveBayesModel, rows: Blocks) -> FloatArray:
    """Return, per class, P(log p(X | c) ≤ log p(x | c)) by draws with a fixed seed.

    A row is compared with draws that miss the same cells and, where counts are multinomial,
    have the same length. Ranks count the row itself, so no p-value is zero.
    """
    found = model.log_densities(rows)
    out = np.empty_like(found)
    lengths = _lengths(model, rows)
    missing = _missing(rows)
    keys: dict[bytes, list[int]] = {}
    for i in range(len(rows)):
        key = b"".join(part[i].tobytes() for part in missing)
        key += b"".join(long[i].tobytes() for long in lengths.values())
        keys.setdefault(key, []).append(i)
    draws = {} if lengths else {c: _draws(model, c, {}) for c in range(len(model.labels))}
    for places in keys.values():
        gaps = [part[places[0]] for part in missing]
        long = {g: int(each[places[0]]) for g, each in lengths.items()}
        for c in range(len(model.labels)):
            drawn = draws[c] if not long else _draws(model, c, long)
            scores = np.sort(_scores(model, drawn, gaps, c))
            own = found[places, c]
            rank = np.searchsorted(scores, own + _slack(own), side="right")
            out[places, c] = (rank + 1.0) / (DRAWS + 1.0)
    return out


def _slack(values: FloatArray) -> FloatArray:
    """Return what rounding may do to a density: a tie must count as one."""
    found: FloatArray = 1e-9 * np.maximum(1.0, np.abs(np.where(np.isfinite(values), values, 0.0)))
    return found


def _draws(model: NaiveBayesModel, code: int, long: dict[int, int]) -> Blocks:
    rng = np.random.default_rng(SEED + code)
    lengths = {g: np.full(DRAWS, length, dtype=np.intp) for g, length in long.items()}
    rows, _ = model.sample(DRAWS, rng, model.labels[code], lengths)
    return rows


def _scores(
    model: NaiveBayesModel, drawn: Blocks, gaps: list[NDArray[np.bool_]], code: int
) -> FloatArray:
    """Return log densities of draws, with the same cells missing."""
    parts: list[Any] = []
    for block, hidden in zip(drawn.parts, gaps, strict=True):
        if not hidden.any():
            parts.append(block)
        elif isinstance(block, CodedColumns):
            codes = block.codes.copy()
            codes[:, hidden] = -1
            parts.append(CodedColumns(codes, block.levels))
        else:
            dense = block.toarray() if isinstance(block, SparseRows) else block
            cells = np.array(dense, dtype=np.float64)
            cells[:, hidden] = np.nan
            parts.append(cells)
    return model.log_densities(Blocks(tuple(parts)))[:, code]


def _missing(rows: Blocks) -> list[NDArray[np.bool_]]:
    """Return which cells of each row are missing, block by block; sparse counts never are."""
    parts = []
    for block in rows.parts:
        if isinstance(block, CodedColumns):
            parts.append(block.codes < 0)
        elif isinstance(block, np.ndarray):
            parts.append(np.isnan(block))
        else:
            parts.append(np.zeros((len(rows), 0), dtype=bool))
    return parts


def _lengths(model: NaiveBayesModel, rows: Blocks) -> dict[int, IntArray]:
    """Return the lengths of rows in every group of multinomial counts."""
    found = {}
    for g, (law, block) in enumerate(zip(model.laws, rows.parts, strict=True)):
        if not isinstance(law, MultinomialCounts):
            continue
        place, _, value = counted_cells(law, block)
        broken = value != np.floor(value)
        if broken.any():
            i = int(np.argmax(broken))
            raise BadRows(
                f"row {int(place[i])} holds {value[i]:g}: there are no draws of fractional counts "
                "to compare it with",
                hint="typicality needs whole counts; TF-IDF weights have a posterior only",
            )
        lengths = np.bincount(place, value, minlength=len(rows))
        words = DRAWS * float(np.unique(lengths).sum())
        if words > MOST_TOKENS:
            raise BadRows(
                f"rows of {len(np.unique(lengths))} different lengths, the longest of "
                f"{lengths.max():g}, would need {words:.2g} drawn words",
                hint="ask about fewer or shorter rows at a time",
            )
        found[g] = lengths.astype(np.intp)
    return found
