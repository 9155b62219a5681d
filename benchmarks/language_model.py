"""The byte language model on raw mail: how many megabytes a second it counts, fits and scores.

No peer has such a model. So ours runs against its own NumPy twin, which sorts keys by comparing and
finds them by bisection, and against a clock that stands for the goal of 5 MB/s.
"""

from __future__ import annotations

import tarfile
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.contest import Contest
from suffice.kernels import compilation
from suffice.models.text.language import Language
from tests.reference.data_sets import FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ARCHIVE = FOLDER / "data" / "text" / "spamassassin" / "spamassassin_public_corpus.tar.xz"
LIMIT, SEED, SHARE = 3000, 229, 0.7
"""Bytes of a message that are looked at; how messages are split, and how many are learned."""
GOAL = 5.0
"""Megabytes of text a second."""
PART = 0.1
"""Of the time that the goal allows: the clock need not run to the end."""


def messages() -> tuple[list[bytes], Any]:
    """Return raw messages by their paths, and whether each is spam."""
    with tarfile.open(ARCHIVE) as opened:
        files = {member.name: opened.extractfile(member) for member in opened if member.isfile()}
        found = {name: file.read() for name, file in files.items() if file is not None}
    names = sorted(found)
    return [found[name] for name in names], np.array([name.startswith("spam") for name in names])


def contests() -> Iterator[Contest]:
    """Yield every row of the table: the training part is learned, the other one scored."""
    documents, spam = messages()
    order = np.random.default_rng(SEED).permutation(len(documents))
    cut = round(SHARE * len(documents))
    learned, new = ([documents[i] for i in some] for some in (order[:cut], order[cut:]))
    codes, family = spam[order[:cut]].astype(np.intp), Language(limit=LIMIT)
    groups = family.summarize(learned, codes, 2)
    laws = family.estimate(groups)

    def counted() -> Any:
        return np.concatenate([group.counts for group in family.summarize(learned, codes, 2)])

    def fitted() -> Any:
        return family.estimate(family.summarize(learned, codes, 2)).table.logs

    yield _contest("count", learned, counted)
    yield _contest("estimate from counts", learned, lambda: family.estimate(groups).table.logs)
    yield _contest("fit", learned, fitted)
    yield _contest("score", new, lambda: laws.log_density(new))
    yield _contest("leave out each", learned, lambda: laws.left_out(learned, codes), goal=None)


def _contest(
    job: str, texts: list[bytes], work: Callable[[], Any], goal: float | None = 1.0
) -> Contest:
    size = sum(min(len(text), LIMIT) for text in texts) / 1e6
    clock = f"clock of {GOAL:g} MB/s"
    return Contest(
        f"language model, {job}, {size:.1f} MB",
        work,
        {clock: lambda: time.sleep(PART * size / GOAL), "default NumPy": lambda: _plain(work)},
        _same,
        goal,
        repeats=5,
        slow=frozenset({"default NumPy"}),
        scale={clock: 1.0 / PART},
        note="order 5, two classes; the clock has no answer to check",
    )


def _plain(work: Callable[[], Any]) -> Any:
    """Do the same without compiled loops."""
    before, compilation.WORTH_COMPILING = compilation.WORTH_COMPILING, 2**62
    try:
        return work()
    finally:
        compilation.WORTH_COMPILING = before


def _same(ours: Any, theirs: Any) -> None:
    if theirs is not None:
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
