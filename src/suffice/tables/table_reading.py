"""How tables of text are written, where somebody says so."""

from __future__ import annotations

from dataclasses import dataclass

from suffice.errors import BadSetting


@dataclass(frozen=True, slots=True)
class TableReading:
    """How a table of text is written; what is None is detected.

    delimiter   the character between cells
    header      whether the first line names the columns
    decimal     what sets decimals off, "." or ","
    """

    delimiter: str | None = None
    header: bool | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise BadSetting(
                f"decimals cannot be set off by {self.decimal!r:.20}", hint="by '.' or ','"
            )
