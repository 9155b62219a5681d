"""Raw text to sparse counts against scikit-learn's vectorizers and Polars, on posts and on mail."""

from __future__ import annotations

import importlib.util
import statistics
import sys
import tarfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

from benchmarks.contest import Contest
from suffice import TextVectorizer
from suffice.kernels.tokens.characters import PATTERN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "text"
CORPORA = {
    "20 Newsgroups": ("20news_bydate/20news_bydate.tar.xz", "train"),
    "SpamAssassin": ("spamassassin/spamassassin_public_corpus.tar.xz", ""),
}
COLUMNS = 2**20


def texts(path: Path, part: str) -> list[str]:
    """Return the files of an archive, as they are: every byte a character."""
    with tarfile.open(path) as archive:
        files = sorted((m for m in archive if m.isfile() and part in m.name), key=lambda m: m.name)
        return [archive.extractfile(file).read().decode("latin-1") for file in files]  # type: ignore[union-attr]


def same_counts(ours: Any, theirs: Any) -> None:
    """Compare (matrix, names of columns), in whatever order the columns are."""
    parts = []
    for matrix, names in (ours, theirs):
        order = np.argsort(np.asarray(names, dtype=object))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        moved = sparse.csr_matrix(
            (matrix.data.copy(), place[matrix.indices], matrix.indptr), shape=matrix.shape
        )
        moved.sort_indices()
        parts.append((moved, np.asarray(names, dtype=object)[order]))
    assert parts[0][0].shape == parts[1][0].shape
    assert (parts[0][1] == parts[1][1]).all()
    for name in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(parts[0][0], name), getattr(parts[1][0], name))


def same_totals(ours: Any, theirs: Any) -> None:
    """Compare hashed counts: the hashes differ, so only the length of each document is the same."""
    assert ours.shape == theirs.shape
    assert (ours.sum(axis=1) == theirs.sum(axis=1)).all()


def in_polars(documents: list[str], categorical: bool) -> Any:
    """Return counts and terms by Polars, as quick as it can be told to."""
    import polars as pl

    words = pl.col("text").str.to_lowercase().str.extract_all(PATTERN.pattern)
    frame = pl.LazyFrame({"row": np.arange(len(documents), dtype=np.uint32), "text": documents})
    tokens = frame.with_columns(words).explode("text").drop_nulls()
    if categorical:
        tokens = tokens.with_columns(pl.col("text").cast(pl.Categorical))
    found = tokens.group_by("row", "text").len().sort("row").collect()
    names = found["text"].unique()
    if not categorical:
        found = found.with_columns(found["text"].cast(pl.Enum(names.sort())))
        names = names.sort()
    codes = found["text"].to_physical().to_numpy()
    if categorical:  # codes may be those of all categories there ever were
        known, codes = np.unique(codes, return_inverse=True)
        names = names.gather(np.argsort(names.to_physical().to_numpy()))
        assert len(known) == len(names)
    indptr = np.searchsorted(found["row"].to_numpy(), np.arange(len(documents) + 1))
    shape = len(documents), len(names)
    return sparse.csr_matrix((found["len"].to_numpy(), codes, indptr), shape=shape), names.to_list()


def counted(vectorizer: Any, documents: list[str]) -> Any:
    """Return the counts of the documents and the names of their columns."""
    return vectorizer.fit_transform(documents), vectorizer.get_feature_names_out()


def with_processor_time(contest: Contest) -> Contest:
    """Return the contest with a note on processor seconds, of all cores, of the runs it makes."""
    seconds: dict[str, list[float]] = {}
    said = contest.note

    def timed(name: str, work: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> Any:
            start = time.process_time()
            answer = work()
            seconds.setdefault(name, []).append(time.process_time() - start)
            medians = {each: statistics.median(held) for each, held in seconds.items()}
            own = medians.pop("ours", 0.0)
            if medians and own:
                name_of_best = min(medians, key=lambda each: medians[each])
                other = medians[name_of_best]
                ratio = f"{own * 1e3:.0f} ms against {other * 1e3:.0f} ms: {other / own:.3g}x"
                contest.note = f"CPU {ratio}{said}"
            return answer

        return run

    contest.ours = timed("ours", contest.ours)
    contest.peers = {name: timed(name, peer) for name, peer in contest.peers.items()}
    return contest


def contests() -> Iterator[Contest]:
    """Yield every row of the table, for posts and for raw mail."""
    for corpus, (place, part) in CORPORA.items():
        if not (SHARED / place).exists():
            print(f"no {SHARED / place}: left out", file=sys.stderr)
            continue
        yield from of_corpus(corpus, texts(SHARED / place, part))


def of_corpus(corpus: str, documents: list[str]) -> Iterator[Contest]:
    """Yield the exact vocabulary, one- and two-word terms, hashing, and Polars."""
    start = time.process_time()
    TextVectorizer((1, 2)).fit_transform(documents[:2000])
    TextVectorizer(hashing=COLUMNS).fit_transform(documents[:2000])
    print(f"first calls: {time.process_time() - start:.1f} s of CPU", file=sys.stderr)
    some = documents[::4]  # pairs of words take scikit-learn a while
    for ngrams, goal, chosen in (((1, 1), 10.0, documents), ((1, 2), None, some)):

        def ours(ngrams: Any = ngrams, chosen: list[str] = chosen) -> Any:
            return counted(TextVectorizer(ngrams), chosen)

        def theirs(ngrams: Any = ngrams, chosen: list[str] = chosen) -> Any:
            peer = CountVectorizer(token_pattern=PATTERN.pattern, ngram_range=ngrams)
            return counted(peer, chosen)

        yield with_processor_time(
            Contest(
                f"vocabulary {ngrams}, {corpus}, {megabytes(chosen)}", ours,
                {"default CountVectorizer": theirs}, same_counts, None, goal,
            )
        )  # fmt: skip

    def hashing() -> Any:
        return TextVectorizer(hashing=COLUMNS).fit_transform(documents)

    def their_hashing() -> Any:
        peer = HashingVectorizer(
            token_pattern=PATTERN.pattern, n_features=COLUMNS, norm=None, alternate_sign=False
        )
        return peer.fit_transform(documents)

    yield with_processor_time(
        Contest(
            f"hashing, {corpus}, {megabytes(documents)}", hashing,
            {"default HashingVectorizer": their_hashing}, same_totals, None, 12.0,
        )
    )  # fmt: skip
    if importlib.util.find_spec("polars") is None:
        return
    plain = [document for document in documents if document.isascii()]
    peers = {
        "polars text": lambda: in_polars(plain, False),
        "polars categories": lambda: in_polars(plain, True),
    }
    yield with_processor_time(
        Contest(
            f"vocabulary, {corpus}, {megabytes(plain)} of ASCII",
            lambda: counted(TextVectorizer(), plain), peers, same_counts, 3.0, None,
            note="; beyond ASCII its \\w differs",
        )
    )  # fmt: skip


def megabytes(documents: list[str]) -> str:
    """Return how much text there is."""
    return f"{sum(map(len, documents)) / 1e6:.0f} MB"
