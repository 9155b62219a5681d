"""Workbooks that tests make, as small as what they show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import openpyxl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Sheet = Any


def made(path: Path, fill: Callable[[Any, Sheet], object]) -> Path:
    """Write a workbook."""
    book = openpyxl.Workbook()
    fill(book, book.active)
    book.save(path)
    return path


def rows(*given: list[Any]) -> Callable[[Any, Sheet], object]:
    """Return what writes some rows."""
    return lambda _, sheet: [sheet.append(row) for row in given]
