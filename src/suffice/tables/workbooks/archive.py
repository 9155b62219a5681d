"""What the archive of a workbook claims, looked at before a reader takes memory for it."""

from __future__ import annotations

import re
import zipfile
import zlib
from typing import IO, NamedTuple

from suffice.errors import BadFile
from suffice.tables.allowances import AT_ONCE, IN_ALL

WORKBOOK = "xl/workbook.xml"
"""The member that makes an archive a workbook."""
MOST_CELLS = 1 << 24
"""Cells of the rectangle that a sheet spans: a reader takes 30 bytes for each, blank or not."""
MOST_MEMBERS = 10_000
"""Members of an archive: a workbook has a few for each sheet."""
BLOCK = 1 << 20
"""Bytes that are unpacked at a time."""
# Cells that hold something, with their column and row: for `sheet_claim`.
_CELL = re.compile(rb'<(?:\w+:)?c\b[^>]*?\br="([A-Z]{1,3})(\d{1,7})"[^>]*?(?<!/)>')
# Cells of a formula without a value: for `sheet_claim`.
_EMPTY = re.compile(
    rb'<(?:\w+:)?c\b[^>]*?\br="([A-Z]{1,3}\d{1,7})"[^>]*>\s*<(?:\w+:)?f\b'
    rb"(?:[^>]*/>|[^>]*>[^<]*</(?:\w+:)?f>)\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*"
    rb"</(?:\w+:)?c>"
)
# Sheets of a workbook: for `_path_of`.
_SHEET = re.compile(rb"<(?:\w+:)?sheet\b[^>]*>")
# Where its parts are: for `_path_of`.
_RELATION = re.compile(rb"<(?:\w+:)?Relationship\b[^>]*>")


class SheetClaim(NamedTuple):
    """What one sheet holds, by its own words.

    cells    how many cells the rectangle has that it spans
    empty    the first formula that has no stored value, by its name; none if all have
    formulas how many have none
    """

    cells: int
    empty: str | None
    formulas: int


def is_workbook(file: IO[bytes], name: str) -> bool:
    """Whether an archive is a workbook of the kind that is read; one without an end is refused."""
    try:
        with zipfile.ZipFile(file) as archive:
            return WORKBOOK in archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise BadFile(
            f"{name} is a damaged zip file: {' '.join(str(error).split()):.120}",
            hint="is it cut short? A workbook is saved again by a spreadsheet",
        ) from None


def check_archive(file: IO[bytes], name: str) -> None:
    """Refuse a workbook that unpacks to more than is read, or that is damaged.

    Sizes are those that members declare, before anything is unpacked; then all are unpacked once,
    a block at a time, and have to be what they declare.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            every = archive.infolist()
            members = [one for one in every if one.filename.endswith((".xml", ".rels"))]
            _check_sizes(members, name)
            for one in members:
                with archive.open(one) as held:
                    while held.read(BLOCK):
                        pass
    except BadFile:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError) as error:
        raise damaged(name, str(error)) from None


def _check_sizes(members: list[zipfile.ZipInfo], name: str) -> None:
    """Refuse members that declare more bytes than are read, or that are encrypted."""
    if len(members) > MOST_MEMBERS:
        raise BadFile(f"{name} has {len(members):,} parts", hint="is it a workbook?")
    total = sum(one.file_size for one in members)
    for one in sorted(members, key=lambda member: -member.file_size):
        sheet = one.filename.startswith("xl/worksheets/")
        most = IN_ALL if sheet else 2 * AT_ONCE
        if one.file_size > most or total > IN_ALL:
            raise BadFile(
                f"{name}: {one.compress_size:,} bytes of {one.filename:.60} unpack to "
                f"{one.file_size:,}, and all parts to {total:,}, and at most {most:,} are "
                "read",
                hint="export the sheet as CSV, or as Parquet if it is as large as that",
            )
        if one.flag_bits & 1:
            raise _encrypted(name)


def damaged(name: str, why: str) -> BadFile:
    """Return the refusal of a workbook that cannot be read."""
    words = " ".join(why.split())
    return BadFile(
        f"{name} is a damaged workbook: {words:.120}",
        hint="open it in a spreadsheet and save it again, or export the sheet as CSV",
    )


def _encrypted(name: str) -> BadFile:
    return BadFile(
        f"{name} is encrypted: it needs a password",
        hint="open it in a spreadsheet and save it without one",
    )


def sheet_claim(file: IO[bytes], sheet: str, place: str) -> SheetClaim:
    """Return what a sheet holds; one that spans more cells than are read is refused."""
    rows = columns = formulas = 0
    empty: str | None = None
    with zipfile.ZipFile(file) as archive:
        path = _path_of(archive, sheet)
        if path is None:
            return SheetClaim(0, None, 0)
        rest = b""
        with archive.open(path) as held:
            while block := held.read(BLOCK):
                text = rest + block
                end = text.rfind(b"<", 0, -1) if b"</c>" not in text else text.rfind(b"</c>") + 4
                text, rest = text[:end], text[end:]
                for letters, number in _CELL.findall(text):
                    rows, columns = max(rows, int(number)), max(columns, _column(letters))
                if b"<f" in text or b":f" in text:
                    for cell in _EMPTY.findall(text):
                        formulas += 1
                        empty = empty or cell.decode()
                if len(rest) > 2 * AT_ONCE:
                    raise damaged(place, "a cell has no end")
            for letters, number in _CELL.findall(rest):
                rows, columns = max(rows, int(number)), max(columns, _column(letters))
    if rows * columns > MOST_CELLS:
        raise BadFile(
            f"{place}: it spans {rows:,} rows and {columns:,} columns, {rows * columns:,} cells, "
            f"and at most {MOST_CELLS:,} are read",
            hint="is there a cell far away from the table? Delete it, or export the sheet as CSV",
        )
    return SheetClaim(rows * columns, empty, formulas)


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _path_of(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """Return the member that holds a sheet."""
    from html import unescape

    relations = {}
    names = set(archive.namelist())
    if "xl/_rels/workbook.xml.rels" not in names:
        return None
    for found in _RELATION.findall(archive.read("xl/_rels/workbook.xml.rels")):
        held = _attributes(found)
        relations[held.get("Id", "")] = held.get("Target", "")
    for found in _SHEET.findall(archive.read(WORKBOOK)):
        held = _attributes(found)
        if unescape(held.get("name", "")) == sheet:
            target = relations.get(held.get("r:id") or held.get("id") or "", "")
            path = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
            return path if path in names else None
    return None


def _attributes(tag: bytes) -> dict[str, str]:
    text = tag.decode("utf-8", errors="replace")
    return {name: value for name, _, value in re.findall(r"([\w:]+)\s*=\s*(['\"])(.*?)\2", text)}
