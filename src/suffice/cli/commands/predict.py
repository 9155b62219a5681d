"""`suffice predict`: classes, probabilities or decisions for the rows of a table."""

from __future__ import annotations

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

    import numpy as np
    from numpy.typing import NDArray

    from suffice.tables.table_reading import TableReading


@click.command()
@model_argument()
@tables_argument()
@click.option("--proba", is_flag=True, help="Add the probability of every class.")
@click.option(
    "--cost", metavar="TABLE",
    help="Decide by costs: a table with a row for each true class (its name first) and a column "
    "for each decision, which need not be a class. The decision with the lowest expected cost is "
    "printed; "
    "of equal ones, the first. Negative costs are gains.",
)  # fmt: skip
@click.option(
    "--reject-below", type=click.FloatRange(0, 1), metavar="P",
    help="Leave the class empty where the model is less sure than P.",
)  # fmt: skip
@click.option(
    "--reject-by", type=click.Choice(["posterior", "typicality"]), default="posterior",
    show_default=True,
    help="What must reach P: the probability of the class, or the p-value of the row under the "
    'class it is most typical of ("none of these").',
)  # fmt: skip
@click.option(
    "--coverage", type=float, metavar="P",
    help="Add the set of classes that cannot be ruled out: it contains the true class for at "
    "least a share P of rows like the training rows. For models that keep rows: a pool, or fit "
    "with "
    "--calibration-rows.",
)  # fmt: skip
@click.option(
    "--within", type=click.Choice(["all", "class"]), default="all", show_default=True,
    help="--coverage over all rows, or for every class separately.",
)  # fmt: skip
@click.option("--keep", multiple=True, metavar="COLUMN", help="Also copy this column; repeatable.")
@json_option("a line for each row")
@reading_options
def predict(
    model: Path,
    tables: tuple[str, ...],
    proba: bool,
    cost: str | None,
    reject_below: float | None,
    reject_by: str,
    coverage: float | None,
    within: str,
    keep: tuple[str, ...],
    as_json: bool,
    reading: TableReading,
) -> None:
    """Predict the class of each row of TABLE with MODEL.

    Columns are matched by name, in any order; others are ignored. If TABLE also has the target,
    standard error says how many predictions are right. Probabilities have six digits; with
    --json, all. Several tables, a pattern ('part-*.parquet') or a database table are read one after
    the other.

    Example: suffice predict flowers.suffice new.csv --proba
    """
    from suffice.cli.rows.model_files import StoredAnswers
    from suffice.cli.rows.predictions import Decisions, PrintedSets, UnseenLevels
    from suffice.cli.terminal.messages import ProgressLine, note
    from suffice.cli.terminal.outputs import check_printed
    from suffice.cli.terminal.printed_rows import PrintedRows
    from suffice.training.model_rows import ModelRows
    from suffice.training.opened_files import open_classifier

    if cost is not None and reject_below is not None:
        raise click.UsageError(
            "--cost and --reject-below: add a column of costs for rejecting instead"
        )
    check_printed(tables)
    stored, notes = open_classifier(model)
    answers = StoredAnswers(stored, notes)
    decisions = Decisions.of(answers, model, cost, reject_below, reject_by)
    sets = None
    if coverage is not None:
        sets = PrintedSets(answers.saved(model), coverage, within, as_json=as_json)
    rows = ModelRows.open(tables, answers.columns, notes, reading, note, others=keep)
    unseen = UnseenLevels(stored, rows)
    target = notes.target if notes.target in rows.table.names else None
    others = (*keep, *((target,) if target else ()))
    printed: PrintedRows | None = None
    agreed = asked = undecided = 0
    with ProgressLine(f"reading {rows.table.name}") as progress:
        for chunk, beside in rows.chunks(others):
            unseen.add(chunk)
            found = decisions.about(chunk, proba=proba)
            if sets is not None:
                names, cells = sets.about(chunk, beside[-1][1] if target is not None else None)
                found = found._replace(
                    names=(*found.names, *names), columns=(*found.columns, *cells)
                )
            if printed is None:  # not before the first answer: a refusal leaves no header behind
                printed = PrintedRows((*keep, *found.names), as_json=as_json, digits=6)
            kept = [cells for _, cells in beside[: len(keep)]]
            printed.write(zip(*kept, *found.columns, strict=True))
            progress.more(chunk.size)
            if target is not None:
                right, known, left = _agreement(found.columns[0], beside[-1][1])
                agreed, asked, undecided = agreed + right, asked + known, undecided + left
    if printed is None:
        note(f"{rows.table.name} has no rows")
        return
    unseen.report()
    decisions.report()
    if sets is not None:
        sets.report(target)
    if cost is None and (asked or undecided):
        share = f" ({agreed / asked:.1%})" if asked else ""
        rest = f"; {undecided} with a label have no class" if undecided else ""
        note(f"{agreed} of {asked} agree with {target}{share}{rest}")


def _agreement(predicted: Any, cells: NDArray[np.generic]) -> tuple[int, int, int]:
    """Return how many predictions are the label that is there, of how many, and rows left open.

    A row without a prediction is none that is wrong.
    """
    from suffice.training.target_labels import label_text

    known = [(p, label_text(c)) for p, c in zip(predicted, cells, strict=True)]
    pairs = [(p, c) for p, c in known if c is not None]
    decided = [(p, c) for p, c in pairs if p is not None]
    right = sum(label_text(p) == c for p, c in decided)
    return right, len(decided), len(pairs) - len(decided)
