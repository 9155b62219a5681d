"""`suffice explain`: which columns speak for a row's class, and which against it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from suffice.cli.terminal.options import (
    json_option,
    model_argument,
    reading_options,
    table_argument,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from suffice.learning.results import Explanation
    from suffice.tables.table_reading import TableReading

SHOWN = 5
"""Rows that are explained where none is named."""
WIDEST = 60
"""Places that a name or a cell takes."""


@click.command()
@model_argument()
@table_argument()
@click.option(
    "--row", type=click.IntRange(min=1), metavar="N",
    help=f"Which row; the first is 1. Without it, the first {SHOWN}; with --json, all.",
)  # fmt: skip
@click.option("--of", "first", metavar="LABEL", help="The class to explain.")
@click.option("--against", "second", metavar="LABEL", help="The class to compare it with.")
@click.option(
    "--most", type=click.IntRange(min=1), default=10, show_default=True, metavar="N",
    help="How many columns to name, the largest contributions first.",
)  # fmt: skip
@json_option("everything")
@reading_options
def explain(
    model: Path,
    table: str,
    row: int | None,
    first: str | None,
    second: str | None,
    most: int,
    as_json: bool,
    reading: TableReading,
) -> None:
    """Print which columns of a row support its class, and which speak against it.

    According to MODEL, each column of a row raises or lowers the log odds of its class; the
    contributions add up exactly. The likeliest class is compared with the runner-up, unless
    others are named. Log odds of 0 are even, +1 is 2.7 to 1, +3 is 20 to 1.

    Example: suffice explain flowers.suffice new.csv --row 3
    """
    from suffice.cli.terminal.messages import note, say
    from suffice.cli.terminal.outputs import check_printed
    from suffice.cli.terminal.printed_rows import plain, print_json
    from suffice.training.saved_models import load_saved
    from suffice.training.target_labels import label_named

    check_printed((table,))
    saved = load_saved(model, hidden=True)
    classes = saved.classes.tolist()
    pair = {
        name: None if text is None else label_named(text, classes)
        for name, text in (("of", first), ("against", second))
    }
    found = []
    rest = 0
    for number, one, cells in _explained(saved, table, reading, row, pair, every=as_json):
        if one is None:
            rest += 1
            continue
        if as_json:
            found.append(_content(number, one, cells))
        else:
            written = {name: saved.written(name, plain(cell)) for name, cell in cells.items()}
            say("\n".join(_lines(number, one, written, most)))
    if as_json:
        print_json(found)
    if rest:
        note(f"{rest} more rows; --row names one, --json has all")


def _explained(
    saved: Any,
    source: str,
    reading: TableReading,
    row: int | None,
    pair: dict[str, object],
    *,
    every: bool,
) -> Iterator[tuple[int, Explanation | None, dict[str, object]]]:
    """Yield the number of each row, its explanation (None where it is not asked for), its cells."""
    from suffice.cli.terminal.messages import note
    from suffice.errors import BadRows
    from suffice.learning.table_recipe import filled_table
    from suffice.sources.arrow_frames import some_rows
    from suffice.training.model_rows import ModelRows

    rows = ModelRows.open((source,), saved.columns, saved.notes, reading, note)
    start = 0
    for chunk, _ in rows.chunks():
        for i in range(chunk.size):
            number = start + i + 1
            if (row is not None and number != row) or (
                row is None and not every and number > SHOWN
            ):
                if row is None:
                    yield number, None, {}
                continue
            one = some_rows(chunk, slice(i, i + 1))
            cells = {name: one.column(j)[0] for j, name in enumerate(rows.names)}
            if saved.name == "TextClassifier":
                cells = {}  # its columns are words
            ready = one if saved.notes.filled is None else filled_table(saved.notes.filled, one)
            yield number, saved.model.explain(ready, **pair), cells
            if row is not None:
                return
        start += chunk.size
    if row is not None:
        raise BadRows(
            f"{rows.table.name} has no row {row}: it has {start}",
            hint="the first row below the header is 1",
        )


def _lines(number: int, one: Explanation, cells: dict[str, object], most: int) -> list[str]:
    import numpy as np

    parts = one.contributions[0]
    odds = one.log_odds[0]
    of, against = (_word(label) for label in (one.of[0], one.against[0]))
    compared = f"row {number}: {of} rather than {against}"
    lines = [
        f"{compared}, log odds {odds:+.3f} ({_share(odds)} of the two)",
        f"  {one.baseline[0]:+9.3f}  before any {'column' if cells else 'word'} is seen",
    ]
    order = np.argsort(-np.abs(parts), kind="stable")
    shown = [j for j in order[:most] if parts[j] != 0.0]
    for j in shown:
        name = one.columns[j]
        value = f" = {_word(cells[name]) or 'blank'}" if name in cells else ""
        lines.append(f"  {parts[j]:+9.3f}  {_word(name)}{value}")
        if said := one.words_of(name) if getattr(one, "words", None) else ():
            told = ", ".join(f"{_word(word)} {odds:+.3f}" for word, odds in said[:most])
            lines.append(f"             word by word: {told}")
    rest = [j for j in order if j not in shown]
    if rest and np.abs(parts[rest]).sum() > 0.0:
        what = "columns" if cells else "words"
        lines.append(f"  {parts[rest].sum():+9.3f}  {len(rest)} other {what} together")
    return lines


def _word(cell: object) -> str:
    """Return a name or a cell as it is shown: on one line, and not too long."""
    from suffice.cli.terminal.printed_rows import cell_text, plain
    from suffice.printing.terminal_words import cut, printable

    cell = plain(cell)
    return cut(printable(cell if isinstance(cell, str) else cell_text(cell)), WIDEST)


def _share(log_odds: float) -> str:
    """Return the probability of the first of two classes; it is never rounded to certainty."""
    import numpy as np

    share = float(np.exp(-np.logaddexp(0.0, -log_odds)))
    if share > 0.9999:
        return "p > 0.9999"
    return "p < 0.0001" if share < 0.0001 else f"p = {share:.4f}"


def _content(number: int, one: Explanation, cells: dict[str, object]) -> dict[str, object]:
    from suffice.cli.terminal.printed_rows import plain

    words = getattr(one, "words", None)
    return {
        "row": number,
        "of": plain(one.of[0]),
        "against": plain(one.against[0]),
        "log_odds": plain(one.log_odds[0]),
        "baseline": plain(one.baseline[0]),
        "contributions": {
            name: plain(value)
            for name, value in zip(one.columns, one.contributions[0], strict=True)
        },
        "cells": {name: plain(value) for name, value in cells.items()},
        **({"words": {name: said[0] for name, said in words.items()}} if words else {}),
    }
