"""`suffice outliers`: rows that are typical of no class."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from suffice.cli.terminal.options import (
    json_option,
    model_argument,
    reading_options,
    tables_argument,
)

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.tables.table_reading import TableReading
    from suffice.training.model_rows import ModelRows
    from suffice.training.saved_models import Saved


@click.command()
@model_argument()
@tables_argument()
@click.option(
    "--below", type=click.FloatRange(0, 1), default=0.01, show_default=True, metavar="P",
    help="Print rows whose typicality is below this.",
)  # fmt: skip
@click.option("--most", type=click.IntRange(min=1), metavar="N", help="Print at most N rows.")
@click.option("--all", "every", is_flag=True, help="Print every row, in the order of TABLE.")
@click.option(
    "--training", is_flag=True,
    help="TABLE holds rows that MODEL was fitted on: leave each out when it is judged.",
)  # fmt: skip
@click.option("--keep", multiple=True, metavar="COLUMN", help="Also copy this column; repeatable.")
@json_option("a line for each row")
@reading_options
def outliers(
    model: Path,
    tables: tuple[str, ...],
    below: float,
    most: int | None,
    every: bool,
    training: bool,
    keep: tuple[str, ...],
    as_json: bool,
    reading: TableReading,
) -> None:
    """Print the rows of TABLE that do not look like any class.

    The typicality of a row is the share of rows of its class that lie at least as far out,
    between 0 and 1. It prints the row number (the first below the header is 1), the class of
    MODEL that the row is most typical of, and its typicality, the least typical first. Among new
    rows like those of the fit, about one in a hundred has a typicality below 0.01: suffice fit
    measures how far out its own rows lie, each judged by a model of all the others, and stores
    that in MODEL. Rows that MODEL was fitted on look more typical than new ones: with --training
    each is judged by a model of all the others, which needs the column of labels. For a file
    made by `suffice cluster`, the classes are the clusters, and typicality is approximate.

    Example: suffice outliers flowers.suffice new.csv --keep petal_length
    """
    import numpy as np

    from suffice.cli.rows.densities import with_density
    from suffice.cli.terminal.messages import ProgressLine, note
    from suffice.cli.terminal.outputs import check_printed
    from suffice.cli.terminal.printed_rows import PrintedRows
    from suffice.training.model_rows import ModelRows
    from suffice.training.table_columns.typical_rows import calibrated

    if every and most is not None:
        raise click.UsageError("use either --all or --most, not both")
    check_printed(tables)
    saved = with_density(model)
    rows = ModelRows.open(tables, saved.columns, saved.notes, reading, note, others=keep)
    known = GivenLabels.of(saved, rows, asked=training)
    others = (*keep, *((known.target,) if known else ()))
    word = "cluster" if saved.is_hidden else "class"
    printed = PrintedRows(("row", word, "typicality", *keep), as_json=as_json, digits=6)
    classes = saved.classes
    strange: list[tuple[object, ...]] = []
    size = found = 0
    with ProgressLine(f"reading {rows.table.name}") as progress:
        for chunk, beside in rows.chunks(others):
            labels = known.read(beside.pop()[1]) if known else None
            best, largest = calibrated(saved.model, chunk, labels if training else None)
            few = np.flatnonzero(largest < below)
            answers = (
                (size + i + 1, classes[best[i]], largest[i], *(cells[i] for _, cells in beside))
                for i in (range(chunk.size) if every else few)
            )
            if every:
                printed.write(answers)
            else:
                strange = _least_typical([*strange, *answers], most)
            found += len(few)
            size += chunk.size
            progress.more(chunk.size)
    printed.write(strange)
    note(f"{found} of {size} rows have a typicality below {below:g}")
    if known and not training and known.are_those_of_the_fit():
        note(
            "there are as many rows of each class as in the fit: if these are the training rows, "
            "use --training"
        )


@dataclass(slots=True)
class GivenLabels:
    """The column of labels, read as the classes of a model, and how many there were of each."""

    target: str
    classes: dict[str | None, Any]
    weights: dict[Any, float]
    counts: Counter[Any] = field(default_factory=Counter)

    @classmethod
    def of(cls, saved: Saved, rows: ModelRows, *, asked: bool) -> GivenLabels | None:
        """Return the labels of a table, None if it has none; refuse if they are `asked` for."""
        from suffice.errors import BadSetting
        from suffice.tables.table_file import missing_columns
        from suffice.training.target_labels import label_text

        target = saved.notes.target
        if target is None or target not in rows.table.names:
            if not asked:
                return None
            if target is not None:
                raise missing_columns(rows.table.name, [target], rows.table.names)
            raise BadSetting(
                "--training: the model does not record which column has the labels",
                hint="fit it with suffice fit --target, or leave --training out",
            )
        labels = saved.classes.tolist()
        weights = dict(zip(labels, saved.model.model.weights.tolist(), strict=True))
        classes = {label_text(label): label for label in labels}
        return cls(target, classes, weights)

    def read(self, cells: Any) -> list[object]:
        """Return the class of each row, None where the cell is blank or no class of the model."""
        from suffice.training.target_labels import label_text

        found = [self.classes.get(label_text(cell)) for cell in cells]
        self.counts.update(label for label in found if label is not None)
        return found

    def are_those_of_the_fit(self) -> bool:
        """Say whether each class has as many rows as the model learned."""
        return bool(self.counts) and all(self.counts[c] == w for c, w in self.weights.items())


def _least_typical(rows: list[tuple[object, ...]], most: int | None) -> list[tuple[object, ...]]:
    """Return rows by their typicality, the smallest first; no more than are asked for."""
    return sorted(rows, key=lambda row: (row[2], row[0]))[:most]
