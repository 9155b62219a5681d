"""What a filter says about a message, from the counts of that message's own terms and n-grams.

The same answer as that of the model in memory (`TextModel`), without reading the rest of the file:
counts of a few thousand keys are looked up, and everything else is in the summary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from suffice.errors import BadFile
from suffice.kernels.ngrams.counts import distinct, distinct_of_sorted, ngram_keys
from suffice.kernels.ngrams.texts import BITS, SYMBOLS, Texts, mask
from suffice.kernels.tokens.hashes import terms_of_documents
from suffice.mail.filter.count_store import Damage
from suffice.mail.filter.database import refusals
from suffice.mail.filter.message_identity import LIMIT, ORDER, TOKENS, leveled
from suffice.mail.filter.summary import HAM, SPAM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.mail.filter.count_store import CountStore, Entries, Keys
    from suffice.mail.filter.message_identity import Letter
    from suffice.mail.filter.state import HeldState, MailState
    from suffice.mail.filter.summary import FilterSummary

    Floats = NDArray[np.float64]

SMALLEST: Final = float(np.finfo(np.float64).tiny)
"""The smallest normal double: a probability that underflowed has a logarithm again."""


@dataclass(frozen=True, slots=True, eq=False)
class JudgedMessage:
    """How a message was judged: everything adds up to the log odds of spam against ham.

    log_odds     prior + shift + bytes + Σ weights
    prior        what is known before the message is looked at
    shift        of the calibration
    bytes        what the first bytes say, one after the other
    keys         the numbers of the terms that are known; weights  what each adds
    margin       by how much the terms alone tell the classes apart, over √terms, not calibrated
    spoken       the numbers of all terms as they come in the text, the known ones and the others
    """

    log_odds: float
    prior: float
    shift: float
    bytes: float
    keys: Keys
    weights: Floats
    margin: float
    spoken: Keys

    @property
    def probability(self) -> float:
        """Of spam."""
        if self.log_odds < 0.0:
            return math.exp(self.log_odds) / (1.0 + math.exp(self.log_odds))
        return 1.0 / (1.0 + math.exp(-self.log_odds))

    @property
    def code(self) -> int:
        """The likelier class."""
        return SPAM if self.log_odds > 0.0 else HAM

    def reasons(self, letter: Letter, most: int) -> tuple[list[tuple[str, float]], ...]:
        """Return the terms that speak the most for spam, and those that speak the most for ham."""
        order = np.argsort(self.weights, kind="stable")
        chosen = [
            [int(i) for i in order[::-1][:most] if self.weights[i] > 0.0],
            [int(i) for i in order[:most] if self.weights[i] < 0.0],
        ]
        asked = {int(self.keys[i]) for some in chosen for i in some}
        names = self._names(letter, asked)
        return tuple(
            [(names[int(self.keys[i])], float(self.weights[i])) for i in some] for some in chosen
        )

    def _names(self, letter: Letter, asked: set[int]) -> dict[int, str]:
        """Return the texts of terms, by their numbers."""
        wanted = np.isin(self.spoken, np.array(sorted(asked), dtype=np.uint64))
        words = TOKENS.words_of(letter.text)
        # Terms come in the order of their last words, the shortest first.
        least, most = TOKENS.ngrams
        sizes = np.maximum(np.minimum(np.arange(1, len(words) + 1), most) - least + 1, 0)
        ends = np.cumsum(sizes)
        names: dict[int, str] = {}
        for i in np.flatnonzero(wanted).tolist():
            last = int(np.searchsorted(ends, i, side="right"))
            length = least + i - int(ends[last] - sizes[last])
            names.setdefault(int(self.spoken[i]), " ".join(words[last + 1 - length : last + 1]))
        return names


def judged(
    state: MailState | HeldState, letter: Letter, summary: FilterSummary | None = None
) -> JudgedMessage:
    """Return what a filter says about a letter."""
    return judged_together(state, [letter], summary)[0]


def judged_together(
    state: MailState | HeldState, letters: Sequence[Letter], summary: FilterSummary | None = None
) -> list[JudgedMessage]:
    """Return what a filter says about each of some letters; what they share is looked up once."""
    held = state.summary if summary is None else summary
    if held.missing is not None:
        raise BadFile(
            f"{state.path} has not learned any {held.missing}, so it cannot classify",
            hint=f"suffice mail correct … --{held.missing} teaches it some",
        )
    with refusals(state.path):
        terms = _terms(state.terms, letters, held)
        languages = _languages(state.ngrams, letters)
    return [_judgement(*said, *heard, held) for said, heard in zip(terms, languages, strict=True)]


def _judgement(
    keys: Keys, each: Floats, spoken: Keys, language: float, length: int, held: FilterSummary
) -> JudgedMessage:
    difference = float(each.sum())
    known = len(keys)
    scale = held.factors[0] / math.sqrt(max(known, 1))
    weights = scale * each
    bytes_say = held.factors[1] * language / math.sqrt(max(length, 1))
    prior = math.log(held.told[SPAM]) - math.log(held.told[HAM])
    shift = held.shifts[SPAM] - held.shifts[HAM] if known + length > 0 else 0.0
    log_odds = prior + shift + bytes_say + scale * difference
    margin = difference / math.sqrt(max(known, 1))
    return JudgedMessage(log_odds, prior, shift, bytes_say, keys, weights, margin, spoken)


def _terms(
    store: CountStore | Entries, letters: Sequence[Letter], held: FilterSummary
) -> list[tuple[Keys, Floats, Keys]]:
    """Return the terms of each letter that were ever learned, what each says, and all of them."""
    texts = [letter.text for letter in letters]
    blocks = [*terms_of_documents(texts, TOKENS.ngrams, TOKENS.lower)]
    spoken = np.concatenate([np.empty(0, np.uint64), *(keys for keys, _ in blocks)])
    ends = np.cumsum(np.concatenate([np.zeros(1, np.int64), *(sizes for _, sizes in blocks)]))
    every, places = np.unique(spoken, return_inverse=True)
    found = store.of_keys(every)
    if (found < 0).any():
        raise Damage("some counts of terms are negative")
    kept = (found[:, HAM] > 0) | (found[:, SPAM] > 0)
    alpha = held.smoothing
    seen = np.log1p(found / alpha)
    spread = [math.log(total + alpha * held.width) if held.width else 0.0 for total in held.totals]
    each: Floats = seen[:, SPAM] - seen[:, HAM] + (spread[HAM] - spread[SPAM])
    said = []
    for start, stop in pairwise(ends.tolist()):
        own = np.unique(places[start:stop])
        own = own[kept[own]]
        said.append((every[own], each[own], spoken[start:stop]))
    return said


def _languages(store: CountStore | Entries, letters: Sequence[Letter]) -> list[tuple[float, int]]:
    """Return log p(bytes | spam) - log p(bytes | ham) by Witten and Bell, and how many symbols.

    All n-grams after the same context lie side by side: c and T of the context are sums of these.
    """
    texts = Texts.of([letter.start for letter in letters], LIMIT)
    longest, place = distinct(ngram_keys.plain(texts, ORDER), BITS * ORDER)
    # The n-grams of m symbols, each once, and of those that are a symbol longer, how they end.
    levels = [longest]
    endings: list[NDArray[np.intp]] = []
    for m in range(ORDER - 1, 0, -1):
        shorter, ending = distinct(levels[0] & np.uint64(mask(m)), BITS * m)
        levels.insert(0, shorter)
        endings.insert(0, ending)
    keys = [leveled(level, m) for m, level in enumerate(levels, 1)]
    last = np.uint64(mask(1))
    contexts = [distinct_of_sorted(some & ~last) for some in keys]
    starts = np.concatenate([some for some, _ in contexts])
    nearby = store.within(starts, starts | last)
    if (nearby.counts < 0).any():
        raise Damage("some counts of n-grams are negative")
    edges = (
        np.searchsorted(nearby.keys, starts),
        np.searchsorted(nearby.keys, starts | last, side="right"),
    )
    counted, different = (
        np.concatenate([np.zeros((1, 2), dtype=np.int64), np.cumsum(values, axis=0)])
        for values in (nearby.counts, nearby.counts > 0)
    )
    after_all = counted[edges[1]] - counted[edges[0]]
    successors_all = different[edges[1]] - different[edges[0]]
    before = 0
    low = np.full((len(keys[0]), 2), 1.0 / SYMBOLS)
    for m, (some, inverse) in enumerate(contexts):
        if m:
            low = low[endings[m - 1]]
        after, successors = after_all[before + inverse], successors_all[before + inverse]
        before += len(some)
        total = after + successors
        here = nearby.of_keys(keys[m])
        np.divide(here + successors * low, total, out=low, where=successors > 0)
        np.maximum(low, SMALLEST, out=low)
    logs = np.log(low)[place]
    found = []
    for stop, length in zip(np.cumsum(texts.lengths).tolist(), texts.lengths.tolist(), strict=True):
        ham, spam = logs[stop - length : stop].sum(axis=0).tolist()
        found.append((spam - ham, length))
    return found
