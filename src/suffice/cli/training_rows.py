"""Labelled rows of a table, to learn from: read whole where that fits, in chunks where not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.cli.frames import joined, some_rows
from suffice.cli.remarks import Progress, note
from suffice.cli.target_labels import check_classes, labels_of
from suffice.errors import BadRows, BadSetting, listed
from suffice.files.tables import TableFile, missing_columns, open_table
from suffice.rows.cells import CATEGORY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from suffice.cli.options import Reading
    from suffice.rows.tables import Table

    Labelled = tuple[Table, NDArray[Any]]

IN_MEMORY = 1 << 25
"""Cells of a table that are held at once; a larger one is learned in chunks."""
MOST_LEVELS = 1000
"""Texts of one column that are coded; a column with more is left out."""
FEW = 20
"""Columns with fewer different texts than this are never left out."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """Labelled rows to fit a model on.

    table, labels   the first rows, or all
    more            what comes after them
    dropped         columns that were left out
    place           what the table is called
    texts           whether columns of text are documents, and no categories
    """

    table: Table
    labels: NDArray[Any]
    more: Iterator[Labelled]
    dropped: tuple[str, ...]
    place: str
    texts: bool = False

    @classmethod
    def read(
        cls,
        source: str,
        target: str,
        reading: Reading,
        drop: Sequence[str] = (),
        *,
        texts: bool = False,
    ) -> TrainingRows:
        """Read a table; the kinds of its columns are found out from all its rows."""
        file = open_table(
            source, delimiter=reading.delimiter, header=reading.header, expected=(target, *drop)
        )
        lacking = [name for name in (target, *drop) if name not in file.names]
        if lacking:
            raise missing_columns(file.name, lacking, file.names)
        with Progress(f"looking at {file.name}", file.share) as progress:
            kinds = dict(zip(file.names, file.kinds(progress.more), strict=True))
        names = [name for name in file.names if name != target and name not in drop]
        numbers = [name for name in names if texts and kinds[name] != CATEGORY]
        if numbers:
            note(f"left out, for there is no text in it: {listed(numbers)}")
            drop, names = (*drop, *numbers), [name for name in names if name not in numbers]
        if not names:
            raise BadRows(
                f"{file.name} has no column besides the target {target!r}",
                hint="is the delimiter the right one? --delimiter names it",
            )
        wanted = [kinds[name] for name in (*names, target)]
        chunks = _labelled(file.chunks((*names, target), wanted), len(names))
        first: list[Labelled] = []
        cells, whole = 0, True
        with Progress(f"reading {file.name}", file.share) as progress:
            for rows, labels in chunks:
                progress.more(rows.size)
                first.append((rows, labels))
                cells += rows.size * rows.width
                if cells > IN_MEMORY:
                    whole = False  # as far as is known
                    break
        if not first:
            raise _nothing_to_learn(file, target, kinds[target])
        table = joined([rows for rows, _ in first])
        held = np.concatenate([labels for _, labels in first])
        check_classes(held, file.name, target, whole=whole)
        useless = {} if texts else _useless(table)
        kept = [j for j in range(table.width) if j not in useless]
        if not kept:
            raise BadRows(
                f"{file.name}: every column is different in almost every row",
                hint="are these names or sentences? Columns of numbers or categories are needed",
            )
        for j, count in useless.items():
            note(
                f"{names[j]} is left out: {count} different texts in {table.size} rows "
                "tell nothing about other rows"
            )
        dropped = (*drop, *(names[j] for j in useless))
        rest = ((rows.take(kept), labels) for rows, labels in chunks)
        return cls(table.take(kept), held, rest, dropped, file.name, texts)


def _nothing_to_learn(file: TableFile, target: str, kind: str) -> BadRows:
    """Return the refusal of a table without rows, or without labels."""
    rows = sum(chunk.size for chunk in file.chunks((target,), (kind,)))
    if not rows:
        return BadRows(f"{file.name} has no rows", hint="there is a header, but nothing below")
    return BadRows(
        f"{file.name}, target {target!r}: none of {rows:,} rows has a label",
        hint="is it the right column? Blank cells are no labels",
    )


def _labelled(chunks: Iterator[Table], width: int) -> Iterator[Labelled]:
    """Yield rows and their labels; rows without a label are left out, and counted at the end."""
    without = found = 0
    for chunk in chunks:
        labels, there = labels_of(chunk.column(width), chunk.kinds[width])
        rows = chunk.take(range(width))
        if not there.all():
            without += int((~there).sum())
            rows = some_rows(rows, there)
        if len(labels):
            found += len(labels)
            yield rows, labels
    if without and found:  # where there is nothing else, the refusal says so
        note(f"{without} row{'s' * (without > 1)} without a label left out")


def _useless(table: Table) -> dict[int, int]:
    """Return columns of text that name single rows, and how many texts each holds."""
    found = {}
    for j, kind in enumerate(table.kinds):
        if kind != CATEGORY:
            continue
        cells = table.column(j)
        levels = len(set(cells.tolist()) - {None})
        if levels > MOST_LEVELS or levels > max(FEW, table.size // 2):
            found[j] = levels
    return found


def refuse_many_rows(place: str, model: str) -> BadSetting:
    """Return the refusal of a model that needs all rows at once."""
    return BadSetting(
        f"{place} has more cells than fit in memory at once, which {model} needs",
        hint="gda, qda and naive-bayes read rows once, in chunks: name one with --model",
    )


def describe(rows: TrainingRows) -> str:
    """Return in words what there is to learn from."""
    kinds = rows.table.kinds
    words_of = "text" if rows.texts else "categories"
    words = [
        f"{kinds.count(kind)} of {plural}"
        for kind, plural in (("number", "numbers"), ("boolean", "truths"), (CATEGORY, words_of))
        if kind in kinds
    ]
    many = "s" * (len(kinds) != 1)
    return f"{rows.table.size:,} rows, {len(kinds):,} column{many}: {listed(words)}"
