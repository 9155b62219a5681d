"""Mail filters in the commands that take model files: told in words, and merged."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def print_filter(path: Path, *, as_json: bool) -> None:
    """Print what a filter holds."""
    from suffice.cli.terminal.messages import say
    from suffice.cli.terminal.printed_rows import print_json
    from suffice.mail.filter.database import refusals
    from suffice.mail.filter.state import MailState
    from suffice.mail.filter.summary import LABELS

    with MailState(path) as state, refusals(path), state.at_once():
        summary = state.summary
        runs = {store.name: store.sizes() for store in (state.terms, state.ngrams)}
        (kept,) = state.connection.execute("SELECT count(*) FROM sample").fetchone()
    documents = dict(zip(LABELS, summary.documents, strict=True))
    since = summary.changes - summary.calibrated
    if as_json:
        content = {**asdict(summary), "runs": runs, "sample": kept, "bytes": path.stat().st_size}
        print_json({"kind": "mail filter", **content, "documents": documents})
        return
    learned = " and ".join(f"{n:,} {label}" for label, n in documents.items())
    entries = sum(runs["ngrams"])
    say(f"A mail filter that has learned {learned}.")
    if summary.told != summary.documents:
        told = " and ".join(f"{n:,} {label}" for n, label in zip(summary.told, LABELS, strict=True))
        say(f"It was given {told}: not all of the correctly classified ones were learned.")
    say(
        f"It has learned {summary.width:,} terms (words and pairs of words, once a message) and "
        f"about {entries:,} n-grams of up to 5 bytes; α is {summary.smoothing:.3g}."
    )
    say(
        f"It was calibrated by a sample of the messages, which are {kept:,} now; {since:,} came or "
        "went since."
    )


def merge_all(
    paths: Sequence[Path], output: Path, *, force: bool, wait: float, as_json: bool
) -> None:
    """Write one filter of several."""
    from suffice.cli.terminal.messages import announce, note
    from suffice.cli.terminal.outputs import changing, check_output, refuse_printing
    from suffice.cli.terminal.printed_rows import print_json
    from suffice.errors import DifferentKinds
    from suffice.mail.filter.build import merge_filters
    from suffice.mail.filter.database import is_database

    strange = next((path for path in paths if not is_database(path)), None)
    if strange is not None:
        mail = next(path for path in paths if is_database(path))
        raise DifferentKinds(
            f"{mail} is a mail filter, {strange} is not",
            hint="suffice mail export makes a model file of a filter",
        )
    refuse_printing(output, "a filter")
    check_output(output, ours=is_database, what="a mail filter", force=force)
    with changing(output, wait):
        summary, shared = merge_filters(output, paths)
    if shared:
        note(f"{shared:,} messages were learned by more than one, and count as often")
    ham, spam = summary.documents
    if as_json:
        print_json({"model": str(output), "rows": ham + spam, "models": [*map(str, paths)]})
    announce(f"{output}: {ham:,} ham and {spam:,} spam of {len(paths)} filters")
