"""More exports of that round: laboratories, questionnaires, codes, and files of odd forms."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from tests.reference.later_exports import (
    LATER,
    add,
    dates_of,
    minutes_of,
    money_of,
    said,
    table,
    whole,
    words,
)
from tests.reference.made_exports import SIZE, Column, column
from tests.reference.unseen_exports import days, moments, money, truths

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.random import Generator

    Make = Callable[[Generator], Column]


def lims(
    name: str,
    low: float,
    high: float,
    digits: int,
    write: Any,
    blank: str = "",
    kind: str = "number",
) -> Make:
    return lambda rng: column(
        name, kind, [round(float(v), digits) for v in rng.uniform(low, high, SIZE)], write, blank
    )


SMALL = (
    money_of("size", "{}", ".", ""),
    dates_of("day", "%Y-%m-%d"),
    words("shop", "north", "south", "west"),
)
# Laboratories.
add(
    "limits of a laboratory",
    table(
        lims(
            "Pb [µg/l]",
            0,
            0.5,
            3,
            lambda v: "<0,05" if v < 0.05 else f"{v}".replace(".", ","),
            "n.d.",
            "asked",
        ),
        lims("pH", 5, 9, 2, lambda v: f"{v}".replace(".", ","), "k.A."),
        lims("Leitf. [µS/cm]", 200, 900, 0, lambda v: f"{v:.0f}", "n.b."),
    ),
    delimiter=";",
    encoding="windows-1252",
)
add(
    "laboratory flags",
    table(
        lims(
            "Kalium",
            3,
            6,
            1,
            lambda v: f"{v} H" if v > 5 else f"{v} L" if v < 3.5 else f"{v}",
            "",
            "asked",
        ),
        whole("Na", 130, 150, blank="n/a"),
        words("Probe", "Serum", "Plasma"),
    ),
)
add(
    "titers and dilutions",
    table(
        words("Titer", "1:20", "1:40", "1:80", "1:160"),
        words("Urin", "negativ", "Spur", "+", "++"),
        lims("CRP", 0, 90, 1, str, "entfällt"),
    ),
)
add(
    "blood pressure",
    table(
        lambda rng: column(
            "BP",
            "asked",
            [
                f"{int(a)}/{int(b)}"
                for a, b in zip(
                    rng.integers(95, 180, SIZE), rng.integers(55, 110, SIZE), strict=True
                )
            ],
            str,
        ),
        whole("Pulse", 50, 120, blank="not taken"),
        lims("Temp", 36, 40, 1, lambda v: f"{v}", "not done"),
    ),
)
add(
    "header over two lines",
    table(
        lims("Konz.\n[mg/l]", 0, 9, 2, str),
        lims("Abs.\n(450 nm)", 0, 2, 3, str, "OVRFLW"),
        words("Well", "A", "B", "C"),
    ),
)
add(
    "small and large numbers",
    table(
        lambda rng: column(
            "k",
            "number",
            [float(f"{v:.2e}") for v in 10 ** rng.uniform(-7, 2, SIZE)],
            lambda v: f"{v:.2E}" if v < 1e-3 else repr(v),
        ),
        lambda rng: column(
            "cfu",
            "number",
            [float(f"{v:.1e}") for v in 10 ** rng.uniform(2, 9, SIZE)],
            lambda v: f"{v:.1e}".replace("e+0", " x 10^"),
        ),
        words("strain", "wt", "mut"),
    ),
)
add(
    "apostrophes and thin spaces",
    table(
        money_of("a", "{}", ".", "'"),
        money_of("b", "{}", ".", "\u2009"),
        money_of("c", "{}", ".", "\u02bc"),
        words("d", "x", "y"),
    ),
    delimiter=";",
)
# Questionnaires.
add(
    "likert with numbers",
    table(
        words(
            "Q1",
            "1 - Strongly disagree",
            "2 - Disagree",
            "3 - Neutral",
            "4 - Agree",
            "5 - Strongly agree",
        ),
        whole("Q2", 1, 6, blank="-99"),
        words("Q3", "Never", "Rarely", "Sometimes", "Often", "Always"),
    ),
)
add(
    "german questionnaire",
    table(
        words(
            "Zufriedenheit",
            "stimme gar nicht zu",
            "stimme eher nicht zu",
            "teils/teils",
            "stimme eher zu",
            "stimme voll zu",
        ),
        whole("Alter", 18, 90, blank="k.A."),
        words("Geschlecht", "m", "w", "d"),
    ),
    delimiter=";",
)
add(
    "french questionnaire",
    table(
        words(
            "Avis",
            "Pas du tout d'accord",
            "Plutôt pas d'accord",
            "Plutôt d'accord",
            "Tout à fait d'accord",
        ),
        whole("Âge", 18, 90, blank="NSP"),
        said("Client", "Oui", "Non"),
    ),
    delimiter=";",
    encoding="latin-1",
)
add(
    "answers typed by people",
    table(
        whole("Age", 18, 80, blank="prefer not to say"),
        words("How often?", "daily", "weekly", "monthly"),
        said("Would you buy?", "Y", "N"),
        lims("Hours", 0, 12, 1, lambda v: f"{v:g}", "don't know"),
    ),
)
add(
    "spanish and italian scales",
    table(
        words("Nivel", "muy bajo", "bajo", "medio", "alto", "muy alto"),
        words("Livello", "scarso", "sufficiente", "buono", "ottimo"),
        whole("Edad", 18, 90, blank="NS/NC"),
    ),
    delimiter=";",
)
# Codes.
add(
    "codes of an address book",
    table(
        lambda rng: column(
            "phone",
            "left out",
            [f"+49 30 {int(v)}" for v in rng.permutation(SIZE) + 1234500],
            str,
            gaps=False,
        ),
        words("zip", "01067", "04109", "10115", "80331"),
        lambda rng: column(
            "IBAN",
            "left out",
            [f"DE{int(v)} 5001 0517" for v in rng.permutation(SIZE) + 10],
            str,
            gaps=False,
        ),
        lims("age", 18, 80, 0, lambda v: f"{v:.0f}"),
    ),
)
add(
    "versions and addresses",
    table(
        words("version", "1.2.10", "1.2.9", "1.10.0", "2.0.0-rc1"),
        words("ip", "10.0.0.1", "10.0.0.2", "192.168.1.7"),
        lims("load", 0, 4, 2, str),
        words("path", "/a/b", "/a/c"),
    ),
)
add(
    "fractions and ranges",
    table(
        words("bolt", "1/4", "3/8", "1/2", "3/4"),
        words("size", "10-20", "20-50", "50-100", "100+"),
        words("price", "€10 – €20", "€20 – €50", "over €50"),
        lims("w", 0, 9, 2, str),
    ),
)
add(
    "coordinates of degrees",
    table(
        lambda rng: column(
            "lat",
            "number",
            [int(v) / 3600 for v in rng.integers(4e5, 7e5, SIZE)],
            lambda v: (
                f"{round(3600 * v) // 3600}°{round(3600 * v) // 60 % 60:02}'"
                f'{round(3600 * v) % 60:02}"N'
            ),
        ),
        lims("lon", -9, 9, 4, lambda v: f"{v:.4f}"),
        whole("alt", 0, 3000, lambda v: f"{v}"),
    ),
    quoting=csv.QUOTE_ALL,
)
add(
    "colours and hexadecimals",
    table(
        words("colour", "#FF0000", "#00FF00", "#0000FF"),
        words("class", "B2", "1E5", "3E7"),
        whole("n", 0, 999),
    ),
)
add(
    "marks at numbers",
    table(
        lambda rng: column(
            "est",
            "asked",
            [round(float(v), 1) for v in rng.uniform(1, 99, SIZE)],
            lambda v: f"{v}*" if v > 80 else f"{v}",
        ),
        whole("n", 10, 999, "{:,}".format),
        words("k", "a", "b"),
    ),
    below=("", "* provisional", '"Source: Statistical Office, table 12, 2024"'),
)


# Forms of files.
def raw(
    name: str,
    make: Any,
    change: Any,
    ending: str = ".csv",
    encoding: str = "utf-8",
    delimiter: str = ",",
    quoting: int = csv.QUOTE_MINIMAL,
) -> None:
    def write(place: Path, columns: list[Column]) -> Path:
        held = io.StringIO(newline="")
        writer = csv.writer(held, delimiter=delimiter, lineterminator="\n", quoting=quoting)
        writer.writerow([one.name for one in columns])
        writer.writerows(zip(*(one.cells for one in columns), strict=True))
        place = place.with_suffix(ending)
        place.write_bytes(change(held.getvalue()).encode(encoding))
        return place

    add(name, make, write=write)


def repeated(text: str) -> str:
    head, *lines = text.splitlines()
    return "\n".join(line if i % 20 else f"{head}\n{line}" for i, line in enumerate(lines)) + "\n"


def mixed_ends(text: str) -> str:
    return "".join(line + ("\r\n" if i % 3 else "\n") for i, line in enumerate(text.splitlines()))


def pages(text: str) -> str:
    head, *lines = text.splitlines()
    found = [head]
    for i, line in enumerate(lines):
        found.append(line)
        if i % 24 == 23:
            found += ["", f"Page {i // 24 + 1} of 3", "", head]
    return "\n".join(found) + "\n"


def subtotals(text: str) -> str:
    head, *lines = text.splitlines()
    found = [head]
    for i, line in enumerate(lines):
        found.append(line)
        if i % 24 == 23:
            found.append("Subtotal," + "," * (head.count(",") - 1))
    return "\n".join(found) + "\n"


def grouped_header(text: str) -> str:
    head, rest = text.split("\n", 1)
    cells = head.split(",")
    return ",".join(["Sales", *[""] * (len(cells) - 3), "Other", ""]) + "\n" + head + "\n" + rest


raw("repeated header", table(*SMALL), repeated)
raw("mixed line ends", table(*SMALL), mixed_ends)
raw("pages of a report", table(*SMALL), pages)
raw("subtotals in the middle", table(*SMALL), subtotals)
raw("groups above the header", table(*SMALL), grouped_header)
raw("mark and quoted header", table(*SMALL), lambda text: "\ufeff" + text, quoting=csv.QUOTE_ALL)
raw(
    "tabs in a txt",
    table(money_of("Betrag", "{}"), dates_of("Datum", "%d.%m.%Y"), words("Ort", "Ulm", "Köln")),
    lambda text: text,
    ".txt",
    "utf-16",
    "\t",
)
raw("tsv with quotes", table(*SMALL), lambda text: text, ".tsv", "utf-8", "\t", csv.QUOTE_ALL)
raw(
    "blank lines and spaces", table(*SMALL), lambda text: "\n\n" + text.replace(",", " , ") + "\n\n"
)
raw(
    "a line of dashes",
    table(*SMALL),
    lambda text: text.replace("\n", "\n" + "---,---,---,---\n", 1),
)
raw(
    "wide margins of blank columns",
    table(*SMALL),
    lambda text: "".join(f",,{line},,\n" for line in text.splitlines()),
)
raw(
    "comments between rows",
    table(*SMALL),
    lambda text: "".join(
        f"# batch {i}\n{line}\n" if i % 25 == 1 else line + "\n"
        for i, line in enumerate(text.splitlines())
    ),
)


def lines_of(columns: list[Column], cell: Any) -> list[dict[str, Any]]:
    return [{one.name: cell(one, i) for one in columns} for i in range(SIZE)]


def typed_json(one: Column, i: int) -> Any:
    return one.cells[i] or None


def as_json(place: Path, columns: list[Column]) -> Path:
    place = place.with_suffix(".json")
    place.write_text(json.dumps(lines_of(columns, typed_json), indent=1, ensure_ascii=False))
    return place


def as_lines(place: Path, columns: list[Column]) -> Path:
    place = place.with_suffix(".jsonl")
    rows = lines_of(columns, typed_json)
    place.write_text(
        "\n".join(json.dumps({k: v for k, v in row.items() if v is not None}) for row in rows)
    )
    return place


def as_parquet(place: Path, columns: list[Column]) -> Path:
    place = place.with_suffix(".parquet")
    held = {}
    for one in columns:
        if one.kind == "number":
            held[one.name] = pa.array(
                [None if v is None else Decimal(f"{v:.2f}") for v in one.meant]
            )
        elif one.kind == "text":
            held[one.name] = pa.array(one.meant).dictionary_encode()
        else:
            held[one.name] = pa.array(one.meant)
    pq.write_table(pa.table(held), place)
    return place


MONEY = (
    money_of("price", "${}", ".", ","),
    minutes_of("at", "%Y-%m-%d %H:%M"),
    said("vip", "true", "false"),
    words("shop", "north", "south"),
)
add("json of texts", table(*MONEY), write=as_json)
add("json lines without blanks", table(*MONEY), write=as_lines)
add("parquet of decimals and dictionaries", table(*SMALL), write=as_parquet)


def as_book(
    place: Path,
    columns: list[Column],
    *,
    epoch: bool = False,
    head: Any = None,
    foot: Any = None,
    hidden: bool = False,
    formats: dict[str, str] | None = None,
) -> Path:
    place = place.with_suffix(".xlsx")
    book = openpyxl.Workbook()
    if epoch:
        book.epoch = CALENDAR_MAC_1904
    sheet = book.active
    if hidden:
        sheet.title = "lists"
        sheet.append(["do", "not", "read"])
        sheet.sheet_state = "hidden"
        sheet = book.create_sheet("data")
        book.active = 1
    if head is not None:
        head(sheet, columns)
    sheet.append([one.name for one in columns])
    for i in range(SIZE):
        sheet.append(
            [
                one.meant[i]
                if one.cells[i] == ""
                or (one.kind != "asked" and not str(one.cells[i]).startswith("#"))
                else one.cells[i]
                for one in columns
            ]
        )
    for j, one in enumerate(columns):
        for row in sheet.iter_rows(min_col=j + 1, max_col=j + 1):
            if formats and one.name in formats and isinstance(row[0].value, (int, float)):
                row[0].number_format = formats[one.name]
    if foot is not None:
        foot(sheet, columns)
    book.save(place)
    return place


def title(sheet: Any, columns: list[Column]) -> None:
    sheet.append(["Quarterly report"])
    sheet.merge_cells(start_row=1, start_column=1, end_row=1, end_column=len(columns))
    sheet.append([])


def two_rows(sheet: Any, columns: list[Column]) -> None:
    sheet.append(["Sales", None, "Place", None, None][: len(columns)])
    sheet.merge_cells("A1:B1")


def totals(sheet: Any, columns: list[Column]) -> None:
    sheet.append(["Total", "", "", ""])
    sheet.append([])
    sheet.append(["Prepared by accounting"])


def numbers(name: str, blank: str = "", low: float = 0, high: float = 90) -> Any:
    return lambda rng: column(name, "number", money(rng, low, high), str, blank)


def typed_days(name: str) -> Any:
    return lambda rng: column(name, "date", days(rng), str)


def typed_truths(name: str) -> Any:
    return lambda rng: column(name, "truth", truths(rng), str)


BOOK = (numbers("amount"), typed_days("day"), typed_truths("paid"), words("shop", "north", "south"))
add("book with a title", table(*BOOK), write=lambda p, c: as_book(p, c, head=title))
add("book of 1904", table(*BOOK), write=lambda p, c: as_book(p, c, epoch=True))
add("book behind a hidden sheet", table(*BOOK), write=lambda p, c: as_book(p, c, hidden=True))
add("book with merged groups", table(*BOOK), write=lambda p, c: as_book(p, c, head=two_rows))
add("book with totals and a remark", table(*BOOK), write=lambda p, c: as_book(p, c, foot=totals))
add(
    "book of errors",
    table(
        numbers("ratio", "#DIV/0!"),
        numbers("found", "#N/A"),
        numbers("ref", "#REF!"),
        words("shop", "a", "b"),
    ),
    write=as_book,
)
add(
    "book of percentages",
    table(
        lambda rng: column(
            "share", "number", [round(float(v), 4) for v in rng.uniform(0, 1, SIZE)], str
        ),
        numbers("net", "", -90, 90),
        words("shop", "a", "b"),
    ),
    write=lambda p, c: as_book(p, c, formats={"share": "0.0%", "net": '_-* #,##0.00 "€"_-'}),
)
add(
    "book of moments",
    table(
        lambda rng: column("at", "date", [t.replace(microsecond=0) for t in moments(rng)], str),
        lambda rng: column(
            "clock", "date", [t.time().replace(microsecond=0) for t in moments(rng)], str
        ),
        numbers("v"),
    ),
    write=as_book,
)

assert LATER  # both files fill one list
