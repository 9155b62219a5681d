"""More exports that were made to see how those of strangers fare: programs, sheets, odd cells."""

from __future__ import annotations

import csv
import datetime as dt
import uuid
from typing import TYPE_CHECKING, Any

import openpyxl
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from tests.reference.made_exports import SIZE, Column, column
from tests.reference.unseen_exports import (
    TABLES,
    days,
    drawn,
    export,
    grouped,
    moments,
    money,
    truths,
)

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.random import Generator


def small(rng: Generator) -> list[Column]:
    """Return the columns of exports whose form alone is odd."""
    return [
        column("size", "number", money(rng, 0, 90), str),
        column("day", "date", days(rng), lambda d: d.isoformat()),
        column("shop", "text", drawn(rng, "north", "south", "west"), str),
    ]


def typed(rng: Generator) -> list[Column]:
    return [
        column("size", "number", money(rng, 0, 90), lambda v: v, None),
        column("day", "date", days(rng), lambda d: d, None),
        column("shop", "text", drawn(rng, "north", "south", "west"), str, None),
        column("paid", "truth", truths(rng), lambda v: v, None),
    ]


@export("row names without a name", quoting=csv.QUOTE_NONNUMERIC)
def _(rng: Generator) -> list[Column]:
    return [
        Column("", "left out", list(range(SIZE)), [str(i + 1) for i in range(SIZE)]),
        *small(rng),
    ]


@export("frame with an index")
def _(rng: Generator) -> list[Column]:
    return [Column("", "left out", list(range(SIZE)), [str(i) for i in range(SIZE)]), *small(rng)]


def _write_table(place: Path, columns: list[Column]) -> Path:
    """As R's write.table does: blanks part cells, and row names have no name in the header."""
    lines = [" ".join(f'"{one.name}"' for one in columns)]
    for i, row in enumerate(zip(*(one.cells for one in columns), strict=True)):
        cells = [c or "NA" if one.kind == "number" else f'"{c}"'
                 for one, c in zip(columns, row, strict=True)]  # fmt: skip
        lines.append(" ".join([f'"{i + 1}"', *cells]))
    place.write_text("\n".join(lines) + "\n", "utf-8")
    return place


@export("written by write.table", write=_write_table)
def _(rng: Generator) -> list[Column]:
    found = small(rng)
    words = drawn(rng, "north", "south west")  # NA among words is a word
    return [*found[:2], column("shop", "text", words, str, gaps=False)]


@export("inert texts of a spreadsheet", delimiter=";", escaped=False)
def _(rng: Generator) -> list[Column]:
    return [
        column(
            "PLZ",
            "text",
            [f"0{int(v)}" for v in rng.integers(1001, 1009, SIZE)],
            lambda v: f'="{v}"',
            '=""',
        ),
        column(
            "Menge", "number", [int(v) for v in rng.integers(1, 99, SIZE)], lambda v: f'="{v}"', ""
        ),
        column("Betrag", "number", money(rng), lambda v: grouped(v, ",", ".")),
    ]


@export("contacts")
def _(rng: Generator) -> list[Column]:
    some = [f"+49 {int(v)} 55{i:05}" for i, v in enumerate(rng.integers(150, 179, SIZE))]
    return [
        column("phone", "left out", some, str, gaps=False),
        column(
            "guid",
            "left out",
            [str(uuid.UUID(int=int(v))) for v in rng.integers(1, 2**60, SIZE)],
            lambda v: "{" + v.upper() + "}",
            gaps=False,
        ),
        column("mail", "left out", [f"u{i}@example.com" for i in range(SIZE)], str, gaps=False),
        column("zip", "text", [f"0{int(v)}" for v in rng.integers(2101, 2110, SIZE)], str),
        column("area", "text", drawn(rng, "+49", "+41", "+43"), str),
        column("member since", "date", days(rng), lambda d: f"{d:%B} {d.day}, {d.year}"),
    ]


@export("fractions, scores and ranges")
def _(rng: Generator) -> list[Column]:
    return [
        column("board", "text", drawn(rng, "1/2", "3/4", "1 1/4", "5/8"), str),
        column("score", "text", drawn(rng, "3:2", "0:0", "1:4", "2:2"), str),
        column("ages", "text", drawn(rng, "10-12", "1-3", "4-9"), str),
        column("version", "text", drawn(rng, "1.2.3", "1.10.0", "2.0.1", "12.11.10"), str),
        column("host", "text", drawn(rng, "192.168.0.1", "10.0.0.12"), str),
        column("size", "text", drawn(rng, "10x20", "15x30"), str),
    ]


@export("coordinates and units", delimiter=";")
def _(rng: Generator) -> list[Column]:
    return [
        column("lat", "asked", money(rng, 46, 55, 4), lambda v: f"{v}° N"),
        column("temp", "asked", money(rng, -20, 35, 1), lambda v: f"{v} °C".replace(".", ",")),
        column(
            "file", "asked", money(rng, 1, 900, 1), lambda v: f"{v} MB" if int(v) % 2 else f"{v} KB"
        ),
        column("speed", "asked", money(rng, 1, 200, 1), lambda v: f"{v}km/h"),
        column("lon", "number", money(rng, -9, 15, 5), lambda v: f"{v}".replace(".", ",")),
    ]


@export("stock prices", quoting=csv.QUOTE_ALL, encoding="utf-8-sig")
def _(rng: Generator) -> list[Column]:
    return [
        column("Date", "date", days(rng), lambda d: f"{d:%m/%d/%Y}", gaps=False),
        column("Price", "number", money(rng, 900, 4000), lambda v: grouped(v, ".", ",")),
        column("Vol.", "asked", money(rng, 1, 900), lambda v: f"{v:.2f}{'KM'[int(v) % 2]}", "-"),
        column(
            "Change %",
            "number",
            [round(v, 4) for v in rng.uniform(-0.05, 0.05, SIZE)],
            lambda v: f"{100 * v:+.2f}%",
        ),
    ]


@export("ratings")
def _(rng: Generator) -> list[Column]:
    return [
        column("stars", "text", drawn(rng, "★★★★★", "★★★☆☆", "★☆☆☆☆"), str),
        column("points", "text", drawn(rng, "4/5", "5/5", "1/5"), str),
        column("grade", "text", drawn(rng, "A-", "B+", "C", "D-"), str),
        column("answer", "text", drawn(rng, "1 - male", "2 - female", "3 - other"), str),
        column("of five", "text", drawn(rng, "3 of 5", "4 of 5"), str),
    ]


@export("blanks around cells", escaped=False, encoding="utf-8-sig")
def _(rng: Generator) -> list[Column]:
    return [
        column("size", "number", money(rng), lambda v: f"  {v:>10} "),
        column("day", "date", days(rng), lambda d: f" {d.isoformat()}  ", "   "),
        column("shop", "text", drawn(rng, "north", "south"), lambda v: v),
        column("paid", "truth", truths(rng), lambda v: " yes" if v else "no  "),
        column("rate", "number", money(rng, 0, 1, 4), lambda v: f"\u00a0{v}\u00a0"),
    ]


@export("payments", quoting=csv.QUOTE_ALL, encoding="utf-8-sig")
def _(rng: Generator) -> list[Column]:
    return [
        column("Datum", "date", days(rng), lambda d: f"{d:%d.%m.%Y}"),
        column("Uhrzeit", "date", [t.time() for t in moments(rng)], lambda t: f"{t:%H:%M:%S}"),
        column("Zeitzone", "text", drawn(rng, "CET", "CEST"), str),
        column("Brutto", "number", money(rng), lambda v: grouped(v, ",", ".")),
        column("Gebühr", "number", money(rng, -9, 0), lambda v: grouped(v, ",", ".")),
        column("Währung", "text", drawn(rng, "EUR", "USD"), str),
    ]


@export("database studio", quoting=csv.QUOTE_MINIMAL, ending="\r\n")
def _(rng: Generator) -> list[Column]:
    return [
        column("created", "date", moments(rng), lambda t: f"{t:%Y-%m-%d %H:%M:%S}.0000000", "NULL"),
        column(
            "offset",
            "date",
            [
                t.replace(tzinfo=dt.timezone(dt.timedelta(hours=int(h))))
                for t, h in zip(moments(rng), rng.integers(1, 3, SIZE), strict=True)
            ],
            lambda t: f"{t:%Y-%m-%d %H:%M:%S}.123 +0{t.utcoffset().seconds // 3600}:00".replace(
                ".123", ".000"
            ),
            "NULL",
        ),
        column("price", "number", money(rng, 0, 99, 4), lambda v: f"{v:.4f}", "NULL"),
        column("bit", "truth", truths(rng), str, "NULL"),
    ]


@export("web server", delimiter=" ", quoting=csv.QUOTE_MINIMAL)
def _(rng: Generator) -> list[Column]:
    return [
        column("time", "date", moments(rng), lambda t: f"{t:%d/%b/%Y:%H:%M:%S} +0000", "-"),
        column("bytes", "number", [int(v) for v in rng.integers(100, 90000, SIZE)], str, "-"),
        column("path", "text", drawn(rng, "/", "/a b", "/index.html", "-"), str),
        column("ldap", "date", moments(rng), lambda t: f"{t:%Y%m%d%H%M%S}Z", "-"),
    ]


@export("sums between", delimiter=";", escaped=True, below=("Endsumme;;99.999,00;",))
def _(rng: Generator) -> list[Column]:
    return [
        column("Datum", "date", days(rng), lambda d: f"{d:%d.%m.%Y}", gaps=False),
        column("Art", "text", drawn(rng, "Miete", "Strom"), str),
        column("Betrag", "number", money(rng), lambda v: grouped(v, ",", ".")),
    ]


@export(
    "big endian, tabs", delimiter="\t", encoding="utf-16-be", ending="\r\n", quoting=csv.QUOTE_ALL
)
def _(rng: Generator) -> list[Column]:
    return [
        column("Прибыль", "number", money(rng), lambda v: grouped(v, ",", "\u202f") + " ₽"),
        column("Дата", "date", moments(rng), lambda t: f"{t:%d.%m.%Y %H:%M}"),
        column("Город", "text", drawn(rng, "Москва", "Тула", "Нижний\tНовгород"), str),
        column("Активен", "truth", truths(rng), lambda v: "Да" if v else "Нет"),
    ]


@export("pipes and quoted newlines", delimiter="|", quoting=csv.QUOTE_NONNUMERIC)
def _(rng: Generator) -> list[Column]:
    return [
        column("note", "text", drawn(rng, 'first\nsecond "line"', "a|b", "plain"), str),
        column("total", "number", money(rng), lambda v: v),
        column("at", "date", moments(rng), lambda t: t.isoformat()),
        column("left|right", "text", drawn(rng, "l", "r"), str),
    ]


@export("ticks and blanks", delimiter=";")
def _(rng: Generator) -> list[Column]:
    def one(yes: str, no: str) -> Any:
        return lambda v: yes if v else no

    pairs = {"x": ("x", ""), "check": ("✓", "✗"), "mark": ("✔", ""), "large": ("X", "-")}
    words = {"switch": ("on", "off"), "active": ("aktiv", "inaktiv")}
    return [
        *(column(n, "truth", truths(rng), one(*pair), gaps=False) for n, pair in pairs.items()),
        *(column(n, "text", drawn(rng, *pair), str) for n, pair in words.items()),
    ]


# Sheets


def _sheet(fill: Any) -> Any:
    def write(place: Path, columns: list[Column]) -> Path:
        place = place.with_suffix(".xlsx")
        book = openpyxl.Workbook()
        fill(book, book.active, columns)
        book.save(place)
        return place

    return write


def _rows(columns: list[Column]) -> list[list[Any]]:
    return [list(row) for row in zip(*(one.cells for one in columns), strict=True)]


def _titled(_: Any, sheet: Any, columns: list[Column]) -> None:
    sheet.append(["Quarterly report"])
    sheet.merge_cells("A1:E1")
    sheet.append([])
    sheet.append([one.name for one in columns])
    for row in _rows(columns):
        sheet.append(row)
    sheet.append(["Total", None, None, None, None])
    sheet.cell(sheet.max_row, 2, 12)


def _hidden(book: Any, sheet: Any, columns: list[Column]) -> None:
    sheet.append(["secret", "y"])
    sheet.append([1, "left"])
    sheet.sheet_state = "hidden"
    shown = book.create_sheet("Data")
    for row in [[one.name for one in columns], *_rows(columns)]:
        shown.append(row)


def _formulas(_: Any, sheet: Any, columns: list[Column]) -> None:
    sheet.append([*(one.name for one in columns), "sum"])
    for i, row in enumerate(_rows(columns)):
        sheet.append([*row, f"=A{i + 2}*2"])  # no program has stored what it is


def _macintosh(book: Any, sheet: Any, columns: list[Column]) -> None:
    book.epoch = CALENDAR_MAC_1904
    for row in [[one.name for one in columns], *_rows(columns)]:
        sheet.append(row)


def _formatted(_: Any, sheet: Any, columns: list[Column]) -> None:
    sheet.append([one.name for one in columns])
    for row in _rows(columns):
        sheet.append(row)
    for line in range(2, sheet.max_row + 1):
        sheet.cell(line, 1).number_format = '#,##0.00 "€"'
        sheet.cell(line, 2).number_format = "[$-407]d. mmm yyyy"


export("sheet with a title and totals", write=_sheet(_titled))(typed)
export("second sheet shown", write=_sheet(_hidden))(typed)
export("formulas without values", write=_sheet(_formulas), more=("sum",))(typed)
export("sheet of 1904", write=_sheet(_macintosh))(typed)
export("formatted sheet", write=_sheet(_formatted))(typed)


@export("offsets typed as text", write=_sheet(_formatted))
def _(rng: Generator) -> list[Column]:
    return [
        column(
            "Betrag", "number", money(rng), lambda v: v if v > 20000 else grouped(v, ",", "."), None
        ),
        column("Tag", "date", days(rng), lambda d: d if d.day > 12 else f"{d:%d.%m.%Y}", None),
    ]


# Refused by a sentence


def _bytes(content: bytes, ending: str) -> Any:
    def write(place: Path, _: list[Column]) -> Path:
        place = place.with_suffix(ending)
        place.write_bytes(content)
        return place

    return write


export(
    "old workbook",
    write=_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(3000), ".xls"),
    refused=".xls",
)(small)


def _open_document(place: Path, _: list[Column]) -> Path:
    import zipfile

    place = place.with_suffix(".ods")
    with zipfile.ZipFile(place, "w") as held:
        held.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        held.writestr("content.xml", "<x/>")
    return place


export("open document", write=_open_document, refused="ods")(small)


@export("two of one name", refused="more than one column is named amount")
def _(rng: Generator) -> list[Column]:
    one, two = money(rng), money(rng)
    return [column("amount", "number", one, str), column("amount", "number", two, str)]


@export("a name is missing")
def _(rng: Generator) -> list[Column]:
    held = small(rng)
    return [held[0], Column("", "number", held[0].meant, held[0].cells), *held[1:]]


__all__ = ["TABLES"]
