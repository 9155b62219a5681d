"""Tables with a column of texts beside others: three that are made, two that are real."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORDS = [f"{a}{b}" for a in "bdfgklmnprst" for b in
         ("ando", "ela", "ime", "oru", "ata", "eso", "ivi", "una", "ilo", "ero")]  # fmt: skip
"""Words of made texts: all alike, so that nothing but their shares tells classes apart."""


@dataclass(frozen=True, eq=False)
class TextTable:
    """Rows to learn from and rows to judge by; which columns hold texts.

    columns  by name, objects with None for blanks
    """

    name: str
    columns: dict[str, list[Any]]
    labels: list[str]
    texts: tuple[str, ...]
    training: int

    @property
    def others(self) -> tuple[str, ...]:
        """The columns that hold no texts."""
        return tuple(name for name in self.columns if name not in self.texts)

    def rows(self, names: tuple[str, ...], *, test: bool) -> NDArray[Any]:
        """Return some columns of one part."""
        cut = slice(self.training, None) if test else slice(self.training)
        held = [self.columns[name][cut] for name in names]
        found = np.empty((len(held[0]), len(names)), dtype=object)
        for j, column in enumerate(held):
            found[:, j] = column
        return found

    def y(self, *, test: bool) -> NDArray[Any]:
        """Return the labels of one part."""
        cut = slice(self.training, None) if test else slice(self.training)
        return np.array(self.labels[cut])


def _texts(
    rng: np.random.Generator, codes: NDArray[Any], strength: float, words: tuple[int, int]
) -> list[str]:
    """Return texts whose words have other shares in each class."""
    size = int(codes.max()) + 1
    shares = np.exp(
        strength * rng.normal(size=(size, len(WORDS))) - np.log1p(np.arange(len(WORDS)))
    )
    shares /= shares.sum(axis=1, keepdims=True)
    lengths = rng.integers(*words, size=len(codes))
    pairs = zip(codes, lengths, strict=True)
    return [" ".join(rng.choice(WORDS, size=n, p=shares[c])) for c, n in pairs]


def tickets(seed: int = 0, size: int = 4000, training: int = 1000) -> TextTable:
    """Return texts and columns that know nothing of each other, given the class."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, size)
    columns: dict[str, list[Any]] = {
        "message": list(_texts(rng, codes, 0.35, (4, 20))),
        "hours": (rng.gamma(2.0, 3.0 + 2.0 * codes)).tolist(),
        "plan": [str(v) for v in np.where(rng.random(size) < 0.3, codes, rng.integers(0, 4, size))],
    }
    labels = [("closed", "open")[c] for c in codes]
    return TextTable("tickets (made)", columns, labels, ("message",), training)


def reviews(seed: int = 1, size: int = 4000, training: int = 1000) -> TextTable:
    """Return texts that repeat what the columns say, and are long: all of it counts twice."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, size)
    stars = np.clip(np.round(codes * 1.2 + 2.0 + rng.normal(size=size)), 1, 5)
    colour = np.where(rng.random(size) < 0.5, codes, rng.integers(0, 3, size))
    names = ("red", "green", "blue")
    body = _texts(rng, codes, 0.25, (20, 80))
    moods = ("awful", "poor", "fair", "good", "superb")
    body = [
        f"{text} {' '.join([moods[int(s) - 1]] * 3)} {names[c]} {names[c]}"
        for text, s, c in zip(body, stars, colour, strict=True)
    ]
    columns: dict[str, list[Any]] = {
        "stars": stars.tolist(),
        "body": body,
        "colour": [names[c] for c in colour],
        "price": (rng.lognormal(3.0 + 0.35 * codes, 0.4)).tolist(),
    }
    labels = [("never", "perhaps", "again")[c] for c in codes]
    return TextTable("reviews (made)", columns, labels, ("body",), training)


def visits(seed: int = 2, size: int = 4000, training: int = 600) -> TextTable:
    """Return two columns of texts, blanks in every column, and classes of unequal size."""
    rng = np.random.default_rng(seed)
    codes = rng.choice(3, size=size, p=[0.7, 0.2, 0.1])

    def blank(cells: list[Any], share: float) -> list[Any]:
        return [None if gone else cell
                for cell, gone in zip(cells, rng.random(size) < share, strict=True)]  # fmt: skip

    columns: dict[str, list[Any]] = {
        "note": blank(_texts(rng, codes, 0.5, (3, 15)), 0.3),
        "history": blank(_texts(rng, codes, 0.3, (5, 30)), 0.5),
        "age": blank((50.0 + 6.0 * codes + 15.0 * rng.normal(size=size)).tolist(), 0.1),
        "calls": blank(rng.poisson(2.0 + codes).astype(float).tolist(), 0.2),
    }
    labels = [("well", "ill", "urgent")[c] for c in codes]
    return TextTable("visits (made)", columns, labels, ("note", "history"), training)


def serials(seed: int = 3, size: int = 4000, training: int = 400) -> TextTable:
    """Return texts whose words are nearly all different, and whose spelling tells the class."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, size)
    alphabets = ("aeioubdgmnlr", "aeiouktpsfzx")

    def word(code: int) -> str:
        own = rng.random(7) < 0.4
        letters = rng.integers(0, len(alphabets[0]), 7)
        spelled = zip(letters, own, rng.integers(0, 2, 7), strict=True)
        return "".join(alphabets[code if mine else other][j] for j, mine, other in spelled)

    columns: dict[str, list[Any]] = {
        "serial": [" ".join(word(c) for _ in range(3)) for c in codes],
        "hours": rng.gamma(2.0, 3.0 + 2.0 * codes).tolist(),
    }
    labels = [("new", "old")[c] for c in codes]
    return TextTable("serials (made)", columns, labels, ("serial",), training)


def sms_table() -> TextTable:
    """Return the SMS Spam Collection with how long messages are, and the number that they name."""
    from benchmarks.corpora import sms

    corpus = sms()
    texts = [corpus.texts[i] for i in corpus.order]
    numbers = [re.search(r"\d{5,}", text) for text in texts]
    columns: dict[str, list[Any]] = {
        "text": list(texts),
        "length": [float(len(text)) for text in texts],
        "capitals": [float(sum(map(str.isupper, text))) for text in texts],
        "number": ["none" if found is None else found.group()[:3] for found in numbers],
    }
    labels = corpus.labels(corpus.order)
    return TextTable("SMS", columns, labels, ("text",), len(corpus.training))


def newsgroups_table(every: int = 1) -> TextTable:
    """Return 20 Newsgroups: subject and text, and from where, how long and how far a post went."""
    from benchmarks.corpora import posts

    found = posts()
    held = [*found.training[::every], *found.test[::every]]
    names = ("post", "domain", "lines", "distribution", "reply")
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for text in held:
        head, _, body = text.partition("\n\n")
        fields = dict(re.findall(r"^([A-Za-z-]+): (.*)$", head, re.MULTILINE))
        subject = fields.get("Subject", "")
        sender = re.search(r"@([\w.-]+)", fields.get("From", ""))
        lines = fields.get("Lines", "").strip()
        columns["post"].append(f"{subject}\n{body}")
        columns["domain"].append(
            None if sender is None else ".".join(sender.group(1).lower().split(".")[-2:])
        )
        columns["lines"].append(float(lines) + 1.0 if lines.isdigit() else None)
        columns["distribution"].append(fields.get("Distribution", "").strip().lower() or None)
        columns["reply"].append("re" if subject.lower().startswith("re:") else "first")
    labels = [*found.groups[::every], *found.test_groups[::every]]
    return TextTable("20 Newsgroups", columns, labels, ("post",), len(found.training[::every]))


MADE = (tickets, reviews, visits)
"""Tables that are made, so that anybody can make them."""
