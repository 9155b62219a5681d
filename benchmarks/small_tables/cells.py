"""Cells of the tournament: what one contender did on one draw, in a file that only grows."""

from __future__ import annotations

import csv
import gzip
import io
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

STORED = Path(__file__).parent / "peers.csv.gz"
"""The cells of the peers, which nobody has to measure again."""
DIGITS = 5
"""Significant digits of a stored score: a draw of 1,000 rows settles two or three."""


class Key(NamedTuple):
    """Which draw, and who."""

    table: str
    n: int
    repeat: int
    contender: str


@dataclass(frozen=True, slots=True)
class Cell:
    """What one contender did on one draw; scores are None where it gave none: see `refusal`.

    cpu_fit          CPU seconds of the fit, preparation of columns included
    cpu_predict      CPU seconds of the probabilities of all test rows
    prior_log_loss   log-loss of the class shares on the same rows
    made_by          the package and its version, or the sources, that were measured
    """

    table: str
    n: int
    repeat: int
    contender: str
    log_loss: float | None = None
    brier: float | None = None
    accuracy: float | None = None
    calibration: float | None = None
    cpu_fit: float | None = None
    cpu_predict: float | None = None
    prior_log_loss: float | None = None
    refusal: str = ""
    made_by: str = ""

    @property
    def key(self) -> Key:
        """Which draw, and who."""
        return Key(self.table, self.n, self.repeat, self.contender)


NAMES = tuple(field.name for field in fields(Cell))
SCORES = NAMES[4:11]


def read_cells(path: Path) -> dict[Key, Cell]:
    """Return the cells of a file of JSON lines, the last one of a key; of no file, none.

    A last line that is torn, because the run was killed while it was written, is left out. A torn
    line before the last is an error: something else happened to the file.
    """
    found: dict[Key, Cell] = {}
    if not path.exists():
        return found
    for line in _whole_lines(path):
        cell = Cell(**json.loads(line))
        found[cell.key] = cell
    return found


def _whole_lines(path: Path) -> list[bytes]:
    """Return the lines that were written to their end."""
    lines = path.read_bytes().split(b"\n")
    return [line for line in lines[:-1] if line]


def mend(path: Path) -> None:
    """Cut off a torn last line, so that the next one starts on a line of its own."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        return
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        with path.open("r+b") as file:
            file.truncate(whole)


def append(path: Path, cell: Cell) -> None:
    """Write a cell at the end of a file, in one piece."""
    values = {name: value for name, value in asdict(cell).items() if value != ""}
    with path.open("ab") as file:
        file.write((json.dumps(values) + "\n").encode())


def read_stored(path: Path = STORED) -> dict[Key, Cell]:
    """Return the cells that are stored with the project; of no file, none."""
    if not path.exists():
        return {}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        cells = [_cell(row) for row in csv.DictReader(file)]
    return {cell.key: cell for cell in cells}


def _cell(row: dict[str, str]) -> Cell:
    values: dict[str, Any] = dict(row)
    for name in ("n", "repeat"):
        values[name] = int(row[name])
    for name in SCORES:
        values[name] = float(row[name]) if row[name] else None
    return Cell(**values)


def store(cells: Iterable[Cell], path: Path = STORED) -> None:
    """Write cells in compact form: sorted and rounded, so that equal cells are equal bytes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(NAMES)
    for cell in sorted(cells, key=lambda cell: (cell.contender, *cell.key)):
        values = asdict(cell)
        for name in SCORES:
            if values[name] is not None:
                values[name] = f"{values[name]:.{DIGITS}g}"
        writer.writerow(["" if values[name] is None else values[name] for name in NAMES])
    path.write_bytes(gzip.compress(text.getvalue().encode(), compresslevel=9, mtime=0))
