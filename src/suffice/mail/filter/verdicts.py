"""What a filter says about a message, from the counts of that message's own terms and n-grams.

The same answer as that of the model in memory (`TextModel`), without reading the rest of the file:
counts of a few thousand keys are looked up, and everything else is in the summary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from suffice.errors import BadFile
from suffice.kernels.ngrams.texts import SYMBOLS, mask
from suffice.kernels.tokens.term_hash import term_hash
from suffice.mail.filter.count_store import Damage
from suffice.mail.filter.database import refusals
from suffice.mail.filter.message_identity import ORDER, TOKENS, leveled
from suffice.mail.filter.summary import HAM, SPAM

if TYPE_CHECKING:
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
    """

    log_odds: float
    prior: float
    shift: float
    bytes: float
    keys: Keys
    weights: Floats
    margin: float

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
        names = _names(letter, asked)
        return tuple(
            [(names[int(self.keys[i])], float(self.weights[i])) for i in some] for some in chosen
        )


def judged(
    state: MailState | HeldState, letter: Letter, summary: FilterSummary | None = None
) -> JudgedMessage:
    """Return what a filter says about a letter."""
    held = state.summary if summary is None else summary
    if held.missing is not None:
        raise BadFile(
            f"{state.path} has not learned any {held.missing}, so it cannot classify",
            hint=f"suffice mail correct … --{held.missing} teaches it some",
        )
    with refusals(state.path):
        keys, each, difference = _terms(state.terms, letter, held)
        language, length = _language(state.ngrams, letter)
    known = len(keys)
    scale = held.factors[0] / math.sqrt(max(known, 1))
    weights = scale * each
    bytes_say = held.factors[1] * language / math.sqrt(max(length, 1))
    prior = math.log(held.told[SPAM]) - math.log(held.told[HAM])
    shift = held.shifts[SPAM] - held.shifts[HAM] if known + length > 0 else 0.0
    log_odds = prior + shift + bytes_say + scale * difference
    margin = difference / math.sqrt(max(known, 1))
    return JudgedMessage(log_odds, prior, shift, bytes_say, keys, weights, margin)


def _terms(
    store: CountStore | Entries, letter: Letter, held: FilterSummary
) -> tuple[Keys, Floats, float]:
    """Return the terms that were ever learned, what each says for spam, and the sum of that."""
    every = letter.terms()
    found = store.of_keys(every)
    if (found < 0).any():
        raise Damage("some counts of terms are negative")
    kept = found.any(axis=1)
    keys, counts = every[kept], found[kept]
    alpha = held.smoothing
    seen = np.log1p(counts / alpha)
    spread = [math.log(total + alpha * held.width) if held.width else 0.0 for total in held.totals]
    each: Floats = seen[:, SPAM] - seen[:, HAM] + (spread[HAM] - spread[SPAM])
    return keys, each, float(each.sum())


def _language(store: CountStore | Entries, letter: Letter) -> tuple[float, int]:
    """Return log p(bytes | spam) - log p(bytes | ham) by Witten and Bell, and how many symbols.

    All n-grams after the same context lie side by side: c and T of the context are sums of these.
    """
    keys = letter.ngrams()
    if not len(keys):
        return 0.0, 0
    low = np.full((len(keys), 2), 1.0 / SYMBOLS)
    contexts = [leveled(keys, m) & np.uint64(~mask(1) & (1 << 64) - 1) for m in range(1, ORDER + 1)]
    lows = [np.unique(some, return_inverse=True) for some in contexts]
    starts = np.concatenate([some for some, _ in lows])
    nearby = store.within(starts, starts | np.uint64(mask(1)))
    if (nearby.counts < 0).any():
        raise Damage("some counts of n-grams are negative")
    edges = (
        np.searchsorted(nearby.keys, starts),
        np.searchsorted(nearby.keys, starts | np.uint64(mask(1)), side="right"),
    )
    counted, different = (
        np.concatenate([np.zeros((1, 2), dtype=np.int64), np.cumsum(values, axis=0)])
        for values in (nearby.counts, nearby.counts > 0)
    )
    before = 0
    for m, (some, inverse) in enumerate(lows, 1):
        place = before + inverse
        before += len(some)
        after = counted[edges[1][place]] - counted[edges[0][place]]
        successors = different[edges[1][place]] - different[edges[0][place]]
        here = nearby.of_keys(leveled(keys, m))
        total = after + successors
        np.divide(here + successors * low, total, out=low, where=successors > 0)
        np.maximum(low, SMALLEST, out=low)
    logs = np.log(low).sum(axis=0)
    return float(logs[SPAM] - logs[HAM]), len(keys)


def _names(letter: Letter, asked: set[int]) -> dict[int, str]:
    """Return the texts of terms, by their numbers."""
    names: dict[int, str] = {}
    for term in dict.fromkeys(TOKENS.tokens_of(letter.text)):
        number = term_hash(term)
        if number in asked:
            names[number] = term
            if len(names) == len(asked):
                break
    return names
