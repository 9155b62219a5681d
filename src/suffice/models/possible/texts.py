"""Texts of drawn rows: by words a bag of them, byte by byte what the language of a class writes.

A law of words knows how often each comes, by a hash of it. How words are spelled, and how long
texts are, the rows say that a model of texts keeps anyway. There is no grammar: words of a class,
in any order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.models.naive_bayes.column_blocks import Blocks
from suffice.rows.text_cells import TextCells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.naive_bayes.families.texts.bytes import TextByteColumns
    from suffice.models.naive_bayes.families.texts.words import TextWordColumns
    from suffice.models.naive_bayes.model import NaiveBayesModel
    from suffice.rows import FloatArray, IntArray
    from suffice.statistics.row_sample import RowSample

MOST_CHARACTERS = 1000
"""The longest text of a law of bytes, in characters, where no row says how long texts are."""
MOST_LENGTHS, SWEEPS = 16, 8
"""Lengths, each for a part of the texts, by which odds of words are found, and how often they are
mended. A choice: shares of words are then within .01 of the learned ones."""
LEAST_ABSENT = 1e-6
"""The share of texts that a word is taken to be missing in, at least: words that all texts have."""
STEPS, CLOSE = 60, 1e-9
"""Newton's steps, at most, by which the odds of words are found for a number of words, and the
share of a word that is close enough. A choice: ten steps do, nearly always."""


def with_texts(
    rows: Blocks,
    codes: IntArray,
    model: NaiveBayesModel,
    kept: RowSample | None,
    rng: np.random.Generator,
) -> Blocks:
    """Return drawn rows with texts of their classes; `kept` are learned rows, None if unknown.

    Where a class has shown no text, or nothing is known of how its words are spelled, cells stay
    blank.
    """
    held = [] if kept is None else [kept.rows[h] for h in sorted(kept.rows)]
    place = {label: c for c, label in enumerate(model.labels)}
    own = np.array([place[row.label] for row in held], dtype=np.intp)
    weights = np.array([row.weight for row in held])
    parts = list(rows.parts)
    for g, law in enumerate(model.laws):
        write = _WRITERS.get(getattr(law, "kind", ""))
        if write is None:
            continue
        cells = np.full((len(rows), law.width), None, dtype=object)
        for j in range(law.width):
            shown = _Shown([row.cells[g][j] for row in held], own, weights)
            for c in np.unique(codes).tolist():
                here = np.flatnonzero(codes == c)
                cells[here, j] = write(law, j, c, shown, len(here), rng)
        parts[g] = TextCells(cells)
    return Blocks(tuple(parts))


class _Shown:
    """Texts of a column that a model keeps, None where a cell is blank; codes are their classes."""

    def __init__(self, cells: list[str | None], codes: IntArray, weights: FloatArray) -> None:
        there = [i for i, cell in enumerate(cells) if cell is not None]
        self.texts = [cell for cell in cells if cell is not None]
        self.codes, self.weights = codes[there], weights[there]

    def of(self, code: int) -> NDArray[np.bool_]:
        """Return which texts are of a class; all, if none is among those that are kept."""
        own: NDArray[np.bool_] = self.codes == code
        return own if own.any() else np.ones(len(own), dtype=bool)

    def drawn(
        self, lengths: Sequence[int], code: int, size: int, rng: np.random.Generator
    ) -> IntArray:
        """Draw lengths of texts of a class, as often as texts had them."""
        own = self.of(code)
        shares = self.weights[own] / self.weights[own].sum()
        found: IntArray = rng.choice(np.array(lengths, dtype=np.intp)[own], size, p=shares)
        return found


def _words(
    law: TextWordColumns, column: int, code: int, shown: _Shown, size: int, rng: np.random.Generator
) -> list[str] | list[None]:
    """Draw texts by words: as many as a text of the class had, each as often as it came there."""
    from suffice.models.text.tokens import Tokens, term_hash

    family = law.family
    least = family.ngrams[0]
    tokens = Tokens((least, least), family.lower)
    cut = [tokens.tokens_of(text) for text in shown.texts]
    once = family.terms.counts_once
    words = sorted({word for text in cut for word in text})
    counted = law.groups[code].terms[column]
    counts = np.zeros(len(words))
    if counted.width and words:
        keys = np.array([term_hash(word) for word in words], dtype=np.uint64)
        at = np.minimum(np.searchsorted(counted.keys, keys), counted.width - 1)
        counts = np.where(counted.keys[at] == keys, counted.counts[at], 0.0)
    if not shown.texts or not counted.weight > 0.0:
        return [None] * size
    seen = counts > 0.0
    spelled = np.array(words, dtype=object)[seen]
    lengths = shown.drawn([len(set(t)) if once else len(t) for t in cut], code, size, rng)
    if not len(spelled):
        return [""] * size
    if not once:
        shares = counts[seen] / counts[seen].sum()
        ends = np.cumsum(lengths)[:-1]
        drawn = rng.choice(spelled, int(lengths.sum()), p=shares)
        return [" ".join(text) for text in np.split(drawn, ends)]
    return _each_once(spelled, counts[seen] / counted.weight, lengths, rng)


def _each_once(
    words: NDArray[np.generic], shares: FloatArray, lengths: IntArray, rng: np.random.Generator
) -> list[str]:
    """Draw texts of so many different words; `shares` says how many texts of a class have a word.

    By systematic sampling in an order that is drawn for each text, a word is in a text of n words
    with exactly the probability that its odds have for n words in all.
    """
    found = [""] * len(lengths)
    odds = _odds(shares, lengths)
    for n in np.unique(lengths).tolist():
        chances = _chances(odds, n)
        for i in np.flatnonzero(lengths == n).tolist():
            order = rng.permutation(len(words))
            sums = np.cumsum(chances[order])
            ticks = rng.random() + np.arange(min(n, len(words)))
            places = np.searchsorted(sums, np.minimum(ticks, sums[-1] * (1.0 - 1e-12)))
            found[i] = " ".join(words[order[rng.permutation(np.unique(places))]])
    return found


def _odds(shares: FloatArray, lengths: IntArray) -> FloatArray:
    """Return odds by which words come as often as `shares`, in texts of all lengths together."""
    some = [part for part in np.array_split(np.sort(lengths), MOST_LENGTHS) if len(part)]
    wanted = shares / np.maximum(1.0 - shares, LEAST_ABSENT)
    odds = wanted
    for _ in range(SWEEPS):
        mean = np.zeros(len(shares))
        for part in some:
            mean += _chances(odds, float(part.mean())) * (len(part) / len(lengths))
        odds = odds * wanted / (mean / np.maximum(1.0 - mean, LEAST_ABSENT) + 1e-300)
    return odds


def _chances(odds: FloatArray, n: float) -> FloatArray:
    """Return probabilities that sum to n, with odds that are w times the given ones.

    >>> _chances(np.array([1.0, 1.0, 0.25]), 1).round(3).tolist()
    [0.423, 0.423, 0.155]
    """
    if n >= len(odds):
        return np.ones(len(odds))
    log_w = np.log(max(n, 1e-3) / odds.sum())
    low, high = -60.0, 60.0
    for _ in range(STEPS):
        scaled = np.exp(log_w) * odds
        chances = scaled / (1.0 + scaled)
        excess = float(chances.sum()) - n
        if abs(excess) <= CLOSE * max(n, 1):
            break
        low, high = (low, log_w) if excess > 0.0 else (log_w, high)
        step = excess / float((chances * (1.0 - chances)).sum() + 1e-300)
        log_w = log_w - step if low < log_w - step < high else (low + high) / 2.0
    found: FloatArray = chances
    return found


def _bytes(
    law: TextByteColumns, column: int, code: int, shown: _Shown, size: int, rng: np.random.Generator
) -> list[str] | list[None]:
    """Draw texts byte by byte, of as many characters as texts of the class had."""
    from suffice.models.text.documents import encoded
    from suffice.models.text.written_texts import TextWriter

    counted = law.groups[code].ngrams[column]
    if not counted.width:
        return [None] * size
    limit = law.family.limit
    least, most = 0, MOST_CHARACTERS if limit is None else min(limit, MOST_CHARACTERS)
    if shown.texts:
        own = np.flatnonzero(shown.of(code)).tolist()
        read = [encoded(shown.texts[i], limit).decode("utf-8", "ignore") for i in own]
        least, most = min(map(len, read)), max(map(len, read))
    writer = TextWriter(counted, least, most)
    return [writer.write(rng) for _ in range(size)]


_WRITERS: dict[str, Any] = {"words": _words, "bytes": _bytes}
"""Who draws the texts of a family, by what it knows them by."""
