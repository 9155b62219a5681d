"""Who reads exported tables as their author meant: ours, and pandas.

    python -m benchmarks.read_tables

Sixty tables (`tests/reference/exported_tables.py`) and fifty of strangers, which came later
(`tests/reference/strangers_exports.py`), six columns each beside the class. A column is
right if every cell is: numbers as numbers, dates as dates, truths as truths, texts as texts, blanks
as blanks. pandas is called as it is, and with the settings that suit the table best: delimiter,
encoding, decimal mark, thousands, words for blank, for yes and for no, the format of dates, and
which lines stand around the table. Of these, money and percent signs are beyond its settings.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from suffice.tables.table_reading import TableReading
from suffice.training.hooks import Hooks
from suffice.training.training_rows import TrainingRows
from tests.reference.exported_tables import DIALECTS, as_read, meant, written
from tests.reference.strangers_exports import STRANGERS

if TYPE_CHECKING:
    from tests.reference.exported_tables import Dialect

KINDS = ("amount", "share", "date", "truth", "text", "code")
"""Columns of every table, in words."""
EPOCH = pd.Timestamp(1970, 1, 1)
"""The day that is 0."""


def ours(path: Path, dialect: Dialect) -> list[list[Any]]:
    """Return the columns as `suffice fit` reads them."""
    names = dialect.names
    found = TrainingRows.read(str(path), names[-1], TableReading(), (), Hooks(), seed=0)
    there = found.table.names or ()
    return [
        found.table.column(there.index(name)).tolist() if name in there else []
        for name in names[:-1]
    ]


def _by_pandas(frame: pd.DataFrame) -> list[list[Any]]:
    """Return the columns of a frame; dates as days."""
    columns = []
    for name in frame.columns[:-1]:
        cells = frame[name]
        if pd.api.types.is_datetime64_any_dtype(cells):
            plain = cells.dt.tz_localize(None) if cells.dt.tz is not None else cells
            cells = (plain - EPOCH) / pd.Timedelta(days=1)
        columns.append([None if pd.isna(cell) else cell for cell in cells.tolist()])
    return columns


def pandas_default(path: Path, dialect: Dialect) -> list[list[Any]]:
    """Return the columns as pandas reads them when nothing is said."""
    if dialect.form == "xlsx":
        return _by_pandas(pd.read_excel(path))
    if dialect.form == "csv":
        return _by_pandas(pd.read_csv(path))
    return _by_pandas(pd.read_json(path, lines=dialect.form == "jsonl"))


def pandas_best(path: Path, dialect: Dialect) -> list[list[Any]]:
    """Return the columns as pandas reads them with every setting that it has for them."""
    day, paid = dialect.names[2:4]
    if dialect.form == "xlsx":
        return _by_pandas(pd.read_excel(path, header=2, dtype={dialect.names[5]: str}))
    under = len(dialect.above) + 1
    if dialect.form != "csv":
        frame = pd.read_json(path, lines=dialect.form == "jsonl", dtype=False)
    else:
        frame = pd.read_csv(
            path, sep=dialect.delimiter, encoding=dialect.encoding, decimal=dialect.marks[0],
            thousands=dialect.marks[1] or None, na_values=[dialect.blank] if dialect.blank else [],
            true_values=[dialect.truths[0]], false_values=[dialect.truths[1]],
            dtype={dialect.names[5]: str}, skipfooter=len(dialect.below),
            skiprows=[*range(len(dialect.above)),
                      *range(under, under + len(dialect.under))],
            engine="python" if dialect.below else None,
        )  # fmt: skip
    frame[day] = pd.to_datetime(frame[day], format=dialect.date)
    words = dict(zip(dialect.truths, (True, False), strict=True))
    frame[paid] = [words.get(cell, cell) for cell in frame[paid].tolist()]
    frame[paid] = frame[paid].astype(object)
    return _by_pandas(frame)


def right(found: list[list[Any]], dialect: Dialect) -> list[bool]:
    """Return which columns hold what their author meant."""
    told = []
    for cells, (kind, column) in zip(found, meant()[:-1], strict=True):
        expected = as_read(kind, column, dialect.date)
        told.append(
            len(cells) == len(expected)
            and all(_same(cell, one, kind) for cell, one in zip(cells, expected, strict=True))
        )
    return told


def _same(cell: Any, one: Any, kind: str) -> bool:
    blank = cell is None or (isinstance(cell, float) and np.isnan(cell))
    if blank or one is None:
        return blank and one is None
    if kind in ("number", "date"):
        is_number = isinstance(cell, (int, float)) and not isinstance(cell, bool)
        return is_number and bool(np.isclose(cell, one))
    if kind == "truth":
        return isinstance(cell, (bool, np.bool_)) and bool(cell) == one
    return isinstance(cell, str) and cell == one


def main() -> None:
    """Print how many of the tables' columns each reads right."""
    readers = {"suffice": ours, "pandas, as it is": pandas_default, "pandas, best": pandas_best}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dialects in (DIALECTS, STRANGERS):
            counts = {name: np.zeros(len(KINDS) + 1, dtype=int) for name in readers}
            for dialect in dialects:
                path = written(dialect, Path(folder))
                for name, read in readers.items():
                    try:
                        found = right(read(path, dialect), dialect)
                    except Exception:  # noqa: BLE001  whatever it was, no column was read
                        found = [False] * len(KINDS)
                    counts[name] += np.array([*found, all(found)], dtype=int)
            print(f"| {len(dialects)} tables | {' | '.join(KINDS)} | all six |")
            print("|---" * (len(KINDS) + 2) + "|")
            for name, held in counts.items():
                print(f"| {name} | {' | '.join(map(str, held))} |")
            print(flush=True)


if __name__ == "__main__":
    main()
