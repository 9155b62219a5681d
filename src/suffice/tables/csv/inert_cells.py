"""Texts that a spreadsheet would run as formulas, and how they are written so that it does not."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from suffice.columns.spellings.written_numbers import written_number
from suffice.tables.csv.cells import number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMULA = "=+-@"
"""What a spreadsheet takes for the beginning of a formula, wide and small forms (＝) included."""
BREAKS = "\t\r\n"
"""What it takes for the beginning of another cell."""
# A formula that is nothing but a text, as spreadsheets and banks write codes: for `plain_text`.
_TEXT = re.compile(r'="(?:[^"]|"")*"')
UNSEEN = " \t\r\n\f\v\u00a0\u200b\ufeff"
"""Frequent characters that cannot be seen."""


def inert(text: str) -> str:
    """Return a text that a spreadsheet does not take for a formula; `plain_text` takes it back.

    Numbers and single signs are no formulas. What stands before a sign and cannot be seen, such as
    blanks, does not keep a spreadsheet from it.

    >>> inert("=cmd()"), inert("-1.5"), inert("-1,5"), inert("+"), inert("'=x"), inert(" ＝x")
    ("'=cmd()", '-1.5', '-1,5', '+', "''=x", "' ＝x")
    """
    if text[:1].isalnum():  # nearly all are
        return text
    return "'" + text if _is_formula(text) or _is_inert(text) else text


def plain_text(cell: str) -> str:
    """Return what a cell was before it was made inert: by an apostrophe, or as a formula of a text.

    >>> plain_text("'=cmd()"), plain_text("'tis"), plain_text('="007"')
    ('=cmd()', "'tis", '007')
    """
    if cell[:2] == '="' and _TEXT.fullmatch(cell):
        return cell[2:-1].replace('""', '"')
    return cell[1:] if _is_inert(cell) else cell


def may_be_inert(cells: Sequence[str]) -> bool:
    """Whether one of some cells may have been made inert: a quick look at all of them."""
    joined = "".join(cells)
    return "'" in joined or '="' in joined


def _is_inert(cell: str) -> bool:
    """Whether a text is one or more apostrophes before what would be a formula."""
    return cell[:1] == "'" and _is_formula(cell.lstrip("'"))


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet may take a text for a formula, or its beginning for another cell."""
    seen = text.lstrip(UNSEEN)
    while seen and unicodedata.category(seen[0])[0] in "ZC":  # blanks, marks of direction
        seen = seen[1:].lstrip(UNSEEN)
    if len(text) > 1 and text[0] in BREAKS:
        return number_of(text) is None
    sign = unicodedata.normalize("NFKC", seen[:1])
    if len(seen) < 2 or sign not in FORMULA or sign == "" or number_of(text) is not None:
        return False
    found = written_number(text)  # -1,5 and -3% are no formulas either
    return found is None or bool(found.unit or found.currency)
