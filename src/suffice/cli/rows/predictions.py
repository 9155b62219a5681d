"""What `suffice predict` says of a row: its class, the cheapest decision, or nothing; and a set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.cli.terminal.messages import note
from suffice.errors import BadRows, BadSetting, listed, meant
from suffice.rows.cells import CATEGORY
from suffice.tables.csv.cells import number_of
from suffice.tables.table_file import open_table

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.cli.rows.model_files import StoredAnswers
    from suffice.rows import FloatArray
    from suffice.rows.tables import Table
    from suffice.storage.model_file import StoredModel
    from suffice.training.model_rows import ModelRows
    from suffice.training.saved_models import Saved

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
    learned: Any = None
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
        learned = None
        if reject_below is not None and reject_by == "typicality":
            from suffice.cli.rows.densities import check_density

            saved = answers.saved(model)
            check_density(model, saved)
            learned = saved.model
        costs = None if cost is None else Costs.read(cost, answers.labels)
        return cls(answers, costs, reject_below, learned)

    def about(self, table: Table, *, proba: bool) -> Answered:
        """Return what is decided about some rows."""
        labels = np.fromiter(self.answers.labels, dtype=object)
        self.seen += table.size
        posterior = None
        if (
            proba
            or self.costs is not None
            or (self.reject_below is not None and self.learned is None)
        ):
            posterior = self.answers.posterior(table)
        more: tuple[tuple[str, object], ...] = ()
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
        if self.learned is not None:
            from suffice.training.table_columns.typical_rows import calibrated

            return calibrated(self.learned, table)[1]
        assert posterior is not None
        return posterior.max(axis=1)

    def report(self) -> None:
        """Say how many rows were rejected, if that was asked for."""
        if self.reject_below is None:
            return
        what = "typicality" if self.learned is not None else "probability"
        note(
            f"{self.rejected} of {self.seen} rows have no class: {what} below {self.reject_below:g}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """What each decision costs, by the true class: (classes, decisions)."""

    decisions: tuple[str, ...]
    table: FloatArray

    @classmethod
    def read(cls, source: str, labels: tuple[object, ...]) -> Costs:
        """Read costs from a table: the first column names the true class, the others decisions."""
        file = open_table(source, header=True)
        if len(file.names) < 2:
            raise BadRows(
                f"{file.name} has {len(file.names)} column",
                hint="the first column names the true class, every other one a decision with its "
                "costs",
            )
        found: dict[str, list[float]] = {}
        for chunk in file.chunks(file.names, [CATEGORY] * len(file.names)):
            for i in range(chunk.size):
                row = [chunk.column(j)[i] for j in range(chunk.width)]
                name = _name(row[0])
                if name in found:
                    raise BadRows(
                        f"{file.name} has more than one row for {name}",
                        hint="give one row for each class: what each decision costs if that is "
                        "the true class",
                    )
                found[name] = [_cost(cell, file, name, j) for j, cell in enumerate(row[1:], 1)]
        names = [_name(label) for label in labels]
        lacking = [name for name in names if name not in found]
        strange = [name for name in found if name not in names]
        if lacking or strange:
            said = f"no row for {listed(lacking)}" if lacking else ""
            said += " and " * bool(lacking and strange)
            said += f"a row for {listed(strange)}, which is not a class" if strange else ""
            asked = meant(strange[0], lacking) if strange and lacking else ""
            raise BadRows(f"{file.name} has {said}", hint=f"{asked}the classes are {listed(names)}")
        return cls(tuple(file.names[1:]), np.array([found[name] for name in names]))


def _name(cell: object) -> str:
    from suffice.training.target_labels import label_text

    return label_text(cell) or ""


def _cost(cell: object, file: Any, name: str, column: int) -> float:
    number = cell if isinstance(cell, float) else number_of(str(cell or ""))
    if number is None or not np.isfinite(number):
        shown = "a blank cell" if cell is None else repr(cell)
        raise BadRows(
            f"{file.name}, {name}, {file.names[column]}: {shown} is not a cost",
            hint="give a number: what this decision costs if that is the true class",
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
        self._known: dict[int, set[object]] = {
            j: levels[name]
            for j, (name, kind) in enumerate(zip(rows.names, rows.kinds, strict=True))
            if kind == CATEGORY and levels.get(name)  # a pool's file lists none
        }
        self._names = rows.names
        self._new: dict[tuple[str, object], None] = {}  # in the order of their first row

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
            note(f"values the model has not seen before: {listed(names)}")


BETWEEN = " | "
"""What stands between the classes of a set in a table; in JSON a set is a list."""


class PrintedSets:
    """Makes sets of the rows of a table, chunk by chunk, and counts what they hold."""

    def __init__(self, saved: Saved, coverage: float, within: str, *, as_json: bool) -> None:
        from suffice.learning.conformal.prediction_sets import checked

        checked(coverage, within)  # before any row is read
        self._saved, self._coverage, self._within = saved, coverage, within
        self._json = as_json
        self._promise = ""
        self._sizes = self._rows = self._held = self._known = 0
        if not hasattr(saved.estimator, "prediction_set"):
            raise BadSetting(
                f"a {saved.name} has no prediction sets",
                hint="gda, qda, naive-bayes and pools have them: fit one with --model",
            )

    def about(self, table: Table, cells: Any) -> tuple[tuple[str, ...], tuple[Any, ...]]:
        """Return the sets of some rows as named columns; `cells` are labels, where known."""
        from suffice.training.target_labels import label_text

        found = self._saved.estimator.prediction_set(table, self._coverage, self._within)
        self._promise = found.promise
        names = [[label_text(label) or "" for label in each] for each in found.sets]
        self._rows += len(names)
        self._sizes += int(found.sizes.sum())
        if cells is not None:
            pairs = [(label_text(c), each) for c, each in zip(cells, names, strict=True)]
            known = [(label, each) for label, each in pairs if label is not None]
            self._known += len(known)
            self._held += sum(label in each for label, each in known)
        shown = np.empty(len(names), dtype=object)
        for i, each in enumerate(names):
            shown[i] = list(found.sets[i]) if self._json else BETWEEN.join(each)
        return ("set", "set_size"), (shown, found.sizes)

    def report(self, target: str | None) -> None:
        """Say what is promised, and how often sets held the label where that is known."""
        note(f"{self._sizes / max(1, self._rows):.3g} classes a set. {self._promise}")
        if self._known:
            share = self._held / self._known
            note(f"{self._held} of {self._known} sets hold {target} ({share:.1%})")
