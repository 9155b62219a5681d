"""The rows of a request, however they are written: JSON, CSV or an Arrow stream."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.errors import BadLabels, BadRows, listed
from suffice.serve.http.json_bodies import json_of
from suffice.serve.http.problems import HttpProblem
from suffice.serve.http.requests import ARROW, JSON
from suffice.serve.records import THE_ROWS, cell_text
from suffice.sources.arrow_frames import some_rows
from suffice.tables.csv.typed_cells import typed_cells
from suffice.tables.table_bytes import KNOWN
from suffice.tables.table_file import open_table
from suffice.tables.table_reading import TableReading
from suffice.training.model_rows import ModelRows
from suffice.training.target_labels import label_kind_of, labels_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from suffice.rows.tables import Table
    from suffice.serve.served_model import ServedModel

IN_MEMORY = Path("/dev/shm")  # noqa: S108  # nosec B108  folders in it are our own
"""Where tables are put that are read like files: on systems that
have it, they never reach a disk."""
ARROW_STREAM = b"\xff\xff\xff\xff"
"""How an Arrow stream begins."""
NO_TEXT = (*KNOWN, b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")
"""How files begin that are no text, or packed: HTTP has its own word for that."""
SHAPES = '{"rows": [{"size": 1.5, "colour": "red"}]} or {"columns": {"size": [1.5]}}'
"""How rows are written in JSON, for hints."""


class GivenRows(NamedTuple):
    """Rows of a request: a table for each chunk, labels of those that have one, and notes."""

    tables: list[Table]
    labels: NDArray[np.generic] | None
    notes: list[str]

    @property
    def size(self) -> int:
        """How many rows there are."""
        return sum(table.size for table in self.tables)


def json_rows(content: object) -> tuple[Any, bool]:
    """Return the rows of a JSON body, and whether they are columns by name."""
    if isinstance(content, list):
        return content, False
    if isinstance(content, dict):
        for name, kind, columns in (("rows", list, False), ("columns", dict, True)):
            if name in content:
                if not isinstance(content[name], kind):
                    what = "a list of rows" if kind is list else "an object of columns"
                    raise BadRows(f"{name} is not {what}", hint=SHAPES)
                return content[name], columns
    raise BadRows("the body has no rows", hint=SHAPES)


def check_keys(content: object, known: Collection[str]) -> None:
    """Refuse an object that says something which nobody would heed."""
    if isinstance(content, dict):
        strange = [name for name in content if name not in known]
        if strange:
            raise BadRows(
                f"the body has {strange[0]!r:.60}, which is not expected",
                hint=f"it may have {listed(known)}",
            )


def given_rows(
    body: bytes, how: str, model: ServedModel, most: int, *, labelled: bool = False,
    content: object = None, known: Collection[str] = ("rows", "columns"),
) -> GivenRows:  # fmt: skip
    """Return the rows of a body; with `labelled`, each has a label, or is left out with a note.

    `content` is what the body says, if that is known already.
    """
    if how == JSON:
        content = json_of(body) if content is None else content
        check_keys(content, {*known, "labels"} if labelled else known)
        rows, are_columns = json_rows(content)
        size = len(rows)
        if are_columns:
            size = max((len(one) for one in rows.values() if isinstance(one, list)), default=0)
        _check_size(size, most)
        read = model.reader.tables_of_columns if are_columns else model.reader.tables
        tables, notes = read(rows)
        labels = None
        if labelled:
            given = content.get("labels") if isinstance(content, dict) else None
            if given is None:
                given = _target_of(rows, are_columns, model)
            labels = json_labels(given, sum(table.size for table in tables), model.classes)
        return GivenRows(tables, labels, notes)
    return _table_rows(body, how, model, most, labelled=labelled)


def _target_of(rows: Any, are_columns: bool, model: ServedModel) -> Any:
    """Return the labels that stand in the column of the target."""
    target = model.target
    if target is not None and are_columns and target in rows:
        return rows[target]
    if target is not None and not are_columns and rows and isinstance(rows[0], dict):
        return [row.get(target) for row in rows if isinstance(row, dict)]
    raise BadLabels("the rows have no labels", hint='give {"rows": […], "labels": […]}')


def json_labels(given: object, size: int, known: Sequence[object]) -> NDArray[np.generic]:
    """Return labels in their own type; each row has one."""
    if not isinstance(given, list):
        raise BadLabels("labels are not a list", hint="one label for each row")
    if len(given) != size:
        raise BadLabels(
            f"there are {len(given)} labels for {size} rows", hint="one label for each row"
        )
    kind = label_kind_of(known)
    texts = []
    for i, label in enumerate(given):
        if type(label) is float and label.is_integer():
            label = int(label)  # noqa: PLW2901  as in a table, where 1.0 is 1
        texts.append(cell_text(label, "labels", i))
    cells = typed_cells(texts, kind, "labels", lambda i: f"row {i}")
    labels, there = labels_of(cells, kind, known)
    if not there.all():
        raise BadLabels(
            f"row {int(np.argmin(there))} has no label", hint="leave rows without a label out"
        )
    return labels


def _check_size(size: int, most: int) -> None:
    if size > most:
        raise HttpProblem(
            413, f"there are {size:,} rows; the limit is {most:,}",
            "send fewer rows at a time, or start the server with a larger --most-rows",
        )  # fmt: skip


def _table_rows(
    body: bytes, how: str, model: ServedModel, most: int, *, labelled: bool
) -> GivenRows:
    """Read CSV or Arrow as `suffice predict` reads a file."""
    notes: list[str] = []
    tables: list[Table] = []
    labels: list[NDArray[np.generic]] = []
    target = model.target
    others: tuple[str, ...] = ()
    if labelled:
        if target is None:
            raise BadLabels(
                "the model does not record which column has the labels",
                hint='send JSON, {"rows": […], "labels": […]}',
            )
        others = (target,)
    size = without = 0
    _check_written(body, how)
    with _as_file(body) as path:
        expected = (*model.columns.names, *others) if model.columns.named else others
        opened = open_table(path, expected=expected, once=True, on_guess=notes.append,
                            called=THE_ROWS)  # fmt: skip
        rows = ModelRows.open(
            [], model.columns, model.notes, TableReading(), notes.append,
            others=others, opened=opened,
        )  # fmt: skip
        kinds = (label_kind_of(model.classes),) if labelled else None
        for table, beside in rows.chunks(others, kinds):
            size += table.size
            _check_size(size, most)
            kept = table
            if labelled:
                found, there = labels_of(beside[0][1], beside[0][0], model.classes)
                labels.append(found)
                if not there.all():
                    without += int((~there).sum())
                    kept = some_rows(table, there)
            if kept.size:
                tables.append(kept)
    if not tables:
        raise BadRows(f"{THE_ROWS} has no rows", hint="give at least one")
    if without:
        notes.append(f"{without} row{'s' * (without > 1)} without a label left out")
    return GivenRows(tables, np.concatenate(labels) if labelled else None, notes)


def _check_written(body: bytes, how: str) -> None:
    """Refuse a body that is not written as its type says: what is packed has no size yet."""
    stream = body.startswith(ARROW_STREAM)
    if stream != (how == ARROW) or (how != ARROW and body.startswith(NO_TEXT)):
        raise HttpProblem(
            415, "the body does not match its Content-Type",
            "text/csv is text; an Arrow stream begins with ff ff ff ff",
        )  # fmt: skip


@contextmanager
def _as_file(body: bytes) -> Iterator[Path]:
    held = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
    with TemporaryDirectory(prefix="suffice-", dir=held) as folder:
        path = Path(folder) / "rows"
        path.write_bytes(body)
        yield path
