"""How tables of text are written, where somebody says so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TableReading:
    """How a table of text is written; what is None is detected.

    delimiter   the character between cells
    header      whether the first line names the columns
    """

    delimiter: str | None = None
    header: bool | None = None
