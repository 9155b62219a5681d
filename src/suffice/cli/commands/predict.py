"""`suffice predict`: classes, probabilities or decisions for the rows of a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from suffice.cli.terminal.messages import note
from suffice.cli.terminal.options import (
    TableReading,
    json_option,
    model_argument,
    reading_options,
    tables_argument,
)
from suffice.errors import BadRows, listed, meant
from suffice.rows.cells import CATEGORY
from suffice.tables.csv.cells import number_of
from suffice.tables.table_file import open_table

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.cli.rows.model_files import StoredAnswers
    from suffice.cli.rows.model_rows import ModelRows
    from suffice.rows import FloatArray
    from suffice.rows.tables import Table
    from suffice.storage.model_file import StoredModel


@click.command()
@model_argument()
@tables_argument()
@click.option("--proba", is_flag=True, help="Add the probability of every class.")
@click.option(
    "--cost", metavar="TABLE",
    help="Decide by costs: a table with a row for each true class (its name first) and a column "
    "for each decision, be it a class or not. The decision of least expected cost is printed, of "
    "equal ones the first. Negative costs are gains.",
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
@click.option("--keep", multiple=True, metavar="COLUMN", help="Copy a column too; repeatable.")
@json_option("a line for each row")
@reading_options
def predict(
    model: Path,
    tables: tuple[str, ...],
    proba: bool,
    cost: str | None,
    reject_below: float | None,
    reject_by: str,
    keep: tuple[str, ...],
    as_json: bool,
    reading: TableReading,
) -> None:
    """Print the class of each row of TABLE, by MODEL.

    Columns are found by name, in any order; others are ignored. If TABLE has the target too,
    standard error says how often the answer agrees with it. Probabilities have six digits; with
    --json, all. Several tables, a pattern ('part-*.parquet') or a table of a database are answered
    one row after the other.

    Example: suffice predict flowers.suffice new.csv --proba
    """
    from suffice.cli.rows.model_files import StoredAnswers, open_classifier
    from suffice.cli.rows.model_rows import ModelRows
    from suffice.cli.terminal.messages import ProgressLine, note
    from suffice.cli.terminal.outputs import check_printed
    from suffice.cli.terminal.printed_rows import PrintedRows

    if cost is not None and reject_below is not None:
        raise click.UsageError(
            "--cost and --reject-below: give rejecting a column of its own costs"
        )
    check_printed(tables)
    stored, notes = open_classifier(model)
    answers = StoredAnswers(stored, notes)
    decisions = Decisions.of(answers, model, cost, reject_below, reject_by)
    rows = ModelRows.open(tables, answers.columns, notes, reading, others=keep)
    unseen = UnseenLevels(stored, rows)
    target = notes.target if notes.target in rows.table.names else None
    others = (*keep, *((target,) if target else ()))
    printed: PrintedRows | None = None
    agreed = asked = undecided = 0
    with ProgressLine(f"reading {rows.table.name}") as progress:
        for chunk, beside in rows.chunks(others):
            unseen.add(chunk)
            found = decisions.about(chunk, proba=proba)
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
    if cost is None and (asked or undecided):
        share = f" ({agreed / asked:.1%})" if asked else ""
        rest = f"; {undecided} with a label have no class" if undecided else ""
        note(f"{agreed} of {asked} agree with {target}{share}{rest}")


def _agreement(predicted: Any, cells: Any) -> tuple[int, int, int]:
    """Return how many predictions are the label that is there, of how many, and rows left open.

    A row without a prediction is none that is wrong.
    """
    from suffice.cli.rows.target_labels import label_text

    known = [(p, label_text(c)) for p, c in zip(predicted, cells, strict=True)]
    pairs = [(p, c) for p, c in known if c is not None]
    decided = [(p, c) for p, c in pairs if p is not None]
    right = sum(label_text(p) == c for p, c in decided)
    return right, len(decided), len(pairs) - len(decided)


PREDICTION = "prediction"


class Answered(NamedTuple):
    """Answers about some rows: columns with names."""

    names: tuple[str, ...]
    columns: tuple[Any, ...]


@dataclass(slots=True)
class Decisions:
    """How answers become decisions; it counts what it rejects."""

    answers: StoredAnswers
    costs: Costs | None
    reject_below: float | None
    estimator: Any = None
    rejected: int = field(default=0, init=False)
    seen: int = field(default=0, init=False)

    @classmethod
    def of(
        cls,
        answers: StoredAnswers,
        model: Path,
        cost: str | None,
        reject_below: float | None,
        reject_by: str,
    ) -> Decisions:
        """Read what the user has asked for."""
        estimator = None
        if reject_below is not None and reject_by == "typicality":
            from suffice.cli.rows.densities import check_density

            estimator = answers.estimator(model)
            check_density(model, estimator)
        costs = None if cost is None else Costs.read(cost, answers.labels)
        return cls(answers, costs, reject_below, estimator)

    def about(self, table: Table, *, proba: bool) -> Answered:
        """Return what is decided about some rows."""
        labels = np.fromiter(self.answers.labels, dtype=object)
        self.seen += table.size
        posterior = None
        if (
            proba
            or self.costs is not None
            or (self.reject_below is not None and self.estimator is None)
        ):
            posterior = self.answers.posterior(table)
        more: tuple[tuple[str, Any], ...] = ()
        if self.costs is not None:
            assert posterior is not None
            expected = posterior @ self.costs.table
            best = expected.argmin(axis=1)
            chosen = np.fromiter(self.costs.decisions, dtype=object)[best]
            more = (("cost", np.take_along_axis(expected, best[:, np.newaxis], 1)[:, 0]),)
        else:
            codes = self.answers.codes(table) if posterior is None else posterior.argmax(axis=1)
            chosen = labels[codes]
            if self.reject_below is not None:
                sure = self._sureness(table, posterior)
                chosen[sure < self.reject_below] = None
                self.rejected += int((sure < self.reject_below).sum())
        if proba:
            assert posterior is not None
            more += tuple(
                (f"p({label})", posterior[:, c]) for c, label in enumerate(self.answers.labels)
            )
        return Answered(
            (PREDICTION, *(name for name, _ in more)), (chosen, *(cells for _, cells in more))
        )

    def _sureness(self, table: Table, posterior: FloatArray | None) -> Any:
        if self.estimator is not None:
            from suffice.cli.rows.densities import most_typical

            return most_typical(self.estimator, table)[1]
        assert posterior is not None
        return posterior.max(axis=1)

    def report(self) -> None:
        """Say how many rows were rejected, if that was asked for."""
        if self.reject_below is None:
            return
        what = "typicality" if self.estimator is not None else "probability"
        note(
            f"{self.rejected} of {self.seen} rows have no class: {what} below {self.reject_below:g}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """What each decision costs, by the true class: (classes, decisions)."""

    decisions: tuple[str, ...]
    table: FloatArray

    @classmethod
    def read(cls, source: str, labels: tuple[Any, ...]) -> Costs:
        """Read costs from a table: the first column names the true class, the others decisions."""
        file = open_table(source, header=True)
        if len(file.names) < 2:
            raise BadRows(
                f"{file.name} has {len(file.names)} column",
                hint="the first names the true class, each other one a decision and its costs",
            )
        found: dict[str, list[float]] = {}
        for chunk in file.chunks(file.names, [CATEGORY] * len(file.names)):
            for i in range(chunk.size):
                row = [chunk.column(j)[i] for j in range(chunk.width)]
                name = _name(row[0])
                if name in found:
                    raise BadRows(
                        f"{file.name} has more than one row for {name}",
                        hint="one row for each class: what each decision costs if that is true",
                    )
                found[name] = [_cost(cell, file, name, j) for j, cell in enumerate(row[1:], 1)]
        names = [_name(label) for label in labels]
        lacking = [name for name in names if name not in found]
        strange = [name for name in found if name not in names]
        if lacking or strange:
            said = f"no row for {listed(lacking)}" if lacking else ""
            said += " and " * bool(lacking and strange)
            said += f"a row for {listed(strange)}, which is no class" if strange else ""
            asked = meant(strange[0], lacking) if strange and lacking else ""
            raise BadRows(f"{file.name} has {said}", hint=f"{asked}the classes are {listed(names)}")
        return cls(tuple(file.names[1:]), np.array([found[name] for name in names]))


def _name(cell: Any) -> str:
    from suffice.cli.rows.target_labels import label_text

    return label_text(cell) or ""


def _cost(cell: Any, file: Any, name: str, column: int) -> float:
    number = cell if isinstance(cell, float) else number_of(str(cell or ""))
    if number is None or not np.isfinite(number):
        shown = "a blank cell" if cell is None else repr(cell)
        raise BadRows(
            f"{file.name}, {name}, {file.names[column]}: {shown} is no cost",
            hint="a number: what this decision costs when that is the class",
        )
    return float(number)


MOST = 1000
"""New names that are remembered; beyond, nobody would read them."""


class UnseenLevels:
    """Looks for categories that a model does not know, among rows that it is asked about."""

    def __init__(self, stored: StoredModel, rows: ModelRows) -> None:
        from suffice.storage.describe import describe

        columns = [column for column in describe(stored).columns if column.kind != "text"]
        levels = {column.name: set(column.levels) for column in columns}
        self._known: dict[int, set[Any]] = {
            j: levels[name]
            for j, (name, kind) in enumerate(zip(rows.names, rows.kinds, strict=True))
            if kind == CATEGORY and name in levels
        }
        self._names = rows.names
        self._new: dict[tuple[str, Any], None] = {}  # in the order of their first row

    def add(self, table: Table) -> None:
        """Note the new categories of some rows."""
        for j, known in self._known.items():
            if len(self._new) >= MOST:
                return
            new = {cell: None for cell in table.column(j).tolist() if cell not in known}
            new.pop(None, None)
            self._new.update({(self._names[j], cell): None for cell in new})

    def report(self) -> None:
        """Say which there were."""
        if self._new:
            names = [f"{name}={cell}" for name, cell in self._new]
            note(f"new to the model, and none of its categories: {listed(names)}")
