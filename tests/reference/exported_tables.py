"""Sixty exported tables, each in a dialect of its own, and what their author meant.

A `Dialect` is how somebody's program writes numbers, dates, truths and blanks; `written` makes a
table of it, and `MEANT` says what each column is: the same rows for all, so that nothing has to be
stored. Banks, laboratories, shops, surveys, and spreadsheets in a dozen languages are among them.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SIZE = 60
EPOCH = dt.date(1970, 1, 1)


@dataclass(frozen=True)
class Dialect:
    """How one program writes a table.

    money      a number with its currency, "{}" where the digits stand
    marks      what sets decimals off, and what parts thousands
    minus      a negative amount
    date       a date, by strftime
    truths     the words for yes and no
    blank      what stands for a cell that is not known
    form       csv, json (an array), jsonl or xlsx
    above      lines before the header
    under      rows between the header and the first one of cells
    below      lines at the end
    trailing   whether a delimiter stands at the end of rows: "rows", or "all" with the header
    boxed      whether cells stand between bars, as in reports: "sap", "markdown" or "psql"
    zero       the digit zero; the others follow it
    """

    name: str
    delimiter: str = ","
    marks: tuple[str, str] = (".", "")
    money: str = "{}"
    minus: str = "-{}"
    percent: str = "{}%"
    date: str = "%Y-%m-%d"
    truths: tuple[str, str] = ("yes", "no")
    blank: str = ""
    encoding: str = "utf-8"
    form: str = "csv"
    quoted: bool = False
    ending: str = "\n"
    names: tuple[str, ...] = ("amount", "share", "day", "paid", "kind", "code", "class")
    above: tuple[str, ...] = ()
    under: tuple[tuple[str, ...], ...] = ()
    below: tuple[str, ...] = ()
    trailing: str = ""
    boxed: str = ""
    zero: str = "0"


GERMAN = ("Betrag", "Anteil", "Datum", "bezahlt", "Art", "PLZ", "Klasse")
FRENCH = ("montant", "part", "date", "payé", "genre", "code", "classe")
SPANISH = ("importe", "cuota", "fecha", "pagado", "tipo", "código", "clase")
ITALIAN = ("importo", "quota", "data", "pagato", "tipo", "CAP", "classe")
DIALECTS: tuple[Dialect, ...] = (
    Dialect("plain"),
    Dialect("tabs", "\t"),
    Dialect("pipes", "|", quoted=True),
    Dialect("every cell quoted", quoted=True, ending="\r\n"),
    Dialect(
        "us bank", money="${}", marks=(".", ","), minus="({})", date="%m/%d/%Y", truths=("Y", "N")
    ),
    Dialect("us bank, two digits", money="${}", marks=(".", ","), date="%m/%d/%y", blank="N/A"),
    Dialect(
        "us shop", money="{} USD", marks=(".", ","), date="%b %d, %Y", truths=("TRUE", "FALSE")
    ),
    Dialect("us survey", date="%B %d, %Y", truths=("Yes", "No"), blank="n/a", percent="{} %"),
    Dialect("uk bank", money="£{}", marks=(".", ","), date="%d/%m/%Y", truths=("y", "n")),
    Dialect("uk laboratory", date="%d %b %Y", blank="not available", minus="\u2212{}"),
    Dialect("canadian", money="CA${}", marks=(".", ","), date="%Y/%m/%d"),
    Dialect("australian", money="A${}", marks=(".", ","), date="%d-%b-%y", blank="-"),
    Dialect("indian", money="₹{}", marks=(".", ","), date="%d-%m-%Y", blank="NA"),
    Dialect(
        "german spreadsheet",
        ";",
        (",", "."),
        "{} €",
        date="%d.%m.%Y",
        truths=("WAHR", "FALSCH"),
        blank="#NV",
        encoding="windows-1252",
        names=GERMAN,
        ending="\r\n",
    ),
    Dialect(
        "german bank",
        ";",
        (",", "."),
        "{} EUR",
        date="%d.%m.%y",
        truths=("ja", "nein"),
        encoding="latin-1",
        quoted=True,
        names=GERMAN,
    ),
    Dialect(
        "german shop",
        ";",
        (",", "."),
        "{} €",
        minus="{}-",
        date="%d. %B %Y",
        truths=("Ja", "Nein"),
        blank="k.A.",
        names=GERMAN,
    ),
    Dialect("austrian", ";", (",", " "), "€ {}", date="%Y-%m-%d", truths=("j", "n"), names=GERMAN),
    Dialect(
        "swiss", ";", (".", "'"), "CHF {}", date="%d.%m.%Y", truths=("ja", "nein"), names=GERMAN
    ),
    Dialect(
        "swiss, curly",
        ";",
        (".", "’"),
        "{} Fr.",
        date="%d.%m.%Y",
        truths=("ja", "nein"),
        names=GERMAN,
    ),
    Dialect(
        "french spreadsheet",
        ";",
        (",", "\u202f"),
        "{} €",
        percent="{} %",
        date="%d/%m/%Y",
        truths=("VRAI", "FAUX"),
        blank="#VALEUR!",
        names=FRENCH,
    ),
    Dialect(
        "french bank",
        ";",
        (",", "\u00a0"),
        "{} EUR",
        date="%d/%m/%y",
        truths=("oui", "non"),
        encoding="windows-1252",
        names=FRENCH,
    ),
    Dialect(
        "belgian", ";", (",", "."), "€ {}", date="%d-%m-%Y", truths=("Oui", "Non"), names=FRENCH
    ),
    Dialect(
        "spanish spreadsheet",
        ";",
        (",", "."),
        "{} €",
        date="%d/%m/%Y",
        truths=("VERDADERO", "FALSO"),
        blank="#¡VALOR!",
        names=SPANISH,
    ),
    Dialect(
        "spanish shop",
        ";",
        (",", "."),
        "{} €",
        date="%d-%m-%y",
        truths=("sí", "no"),
        blank="s/d",
        names=SPANISH,
    ),
    Dialect(
        "mexican", ",", (".", ","), "MXN {}", date="%d/%m/%Y", truths=("Sí", "No"), names=SPANISH
    ),
    Dialect(
        "argentine", ";", (",", "."), "$ {}", date="%d/%m/%Y", truths=("si", "no"), names=SPANISH
    ),
    Dialect(
        "italian spreadsheet",
        ";",
        (",", "."),
        "€ {}",
        date="%d/%m/%Y",
        truths=("VERO", "FALSO"),
        blank="#VALORE!",
        names=ITALIAN,
    ),
    Dialect(
        "italian bank",
        "\t",
        (",", "."),
        "{} €",
        date="%d.%m.%Y",
        truths=("sì", "no"),
        names=ITALIAN,
    ),
    Dialect("portuguese", ";", (",", "."), "{} €", date="%d/%m/%Y", truths=("sim", "não")),
    Dialect(
        "brazilian",
        ";",
        (",", "."),
        "R$ {}",
        date="%d/%m/%Y",
        truths=("Sim", "Não"),
        encoding="latin-1",
    ),
    Dialect("dutch", ";", (",", "."), "€ {}", minus="{}-", date="%d-%m-%Y", truths=("ja", "nee")),
    Dialect("swedish", ";", (",", " "), "{} kr", date="%Y-%m-%d", truths=("ja", "nej")),
    Dialect("danish", ";", (",", "."), "{} kr.", date="%d-%m-%Y", truths=("ja", "nej")),
    Dialect("norwegian", ";", (",", "\u00a0"), "kr {}", date="%d.%m.%Y", truths=("ja", "nei")),
    Dialect(
        "finnish",
        ";",
        (",", "\u00a0"),
        "{} €",
        minus="\u2212{}",
        date="%d.%m.%Y",
        truths=("kyllä", "ei"),
    ),
    Dialect(
        "polish",
        ";",
        (",", "\u00a0"),
        "{} zł",
        date="%d.%m.%Y",
        truths=("tak", "nie"),
        blank="#ARG!",
    ),
    Dialect("czech", ";", (",", " "), "{} Kč", date="%d.%m.%Y", truths=("ano", "ne")),
    Dialect("hungarian", ";", (",", " "), "{} Ft", date="%Y.%m.%d.", truths=("igen", "nem")),
    Dialect(
        "russian",
        ";",
        (",", "\u00a0"),
        "{} руб.",
        date="%d.%m.%Y",
        truths=("да", "нет"),
        blank="#Н/Д",
    ),
    Dialect("ukrainian", ";", (",", " "), "{} грн", date="%d.%m.%Y", truths=("так", "ні")),
    Dialect(
        "turkish",
        ";",
        (",", "."),
        "{} TL",
        percent="{}%",
        date="%d.%m.%Y",
        truths=("evet", "hayır"),
    ),
    Dialect("greek", ";", (",", "."), "{} €", date="%d/%m/%Y", truths=("ναι", "όχι")),
    Dialect(
        "japanese", money="¥{}", marks=(".", ","), date="%Y年%m月%d日", truths=("はい", "いいえ")
    ),
    Dialect(
        "chinese",
        money="¥{}",
        marks=(".", ","),
        date="%Y/%m/%d",
        truths=("是", "否"),
        encoding="utf-16",
    ),
    Dialect("korean", money="₩{}", marks=(".", ","), date="%Y. %m. %d.", truths=("예", "아니요")),
    Dialect("laboratory", "\t", date="%Y-%m-%dT%H:%M:%S", blank="n.d.", truths=("true", "false")),
    Dialect("laboratory, zones", date="%Y-%m-%dT%H:%M:%SZ", blank="NaN", truths=("True", "False")),
    Dialect("laboratory, spaces", ";", date="%Y-%m-%d %H:%M", blank="?", minus="- {}"),
    Dialect("mail headers", ";", date="%a, %d %b %Y %H:%M:%S +0000", blank="null"),
    Dialect("database dump", "\t", date="%Y-%m-%d %H:%M:%S.000", blank="\\N", truths=("t", "f")),
    Dialect("r export", date="%Y-%m-%d", blank="NA", quoted=True, truths=("TRUE", "FALSE")),
    Dialect(
        "afternoon", date="%m/%d/%Y %I:%M %p", truths=("Y", "N"), money="${}", marks=(".", ",")
    ),
    Dialect("json lines", form="jsonl"),
    Dialect("json lines of a shop", form="jsonl", money="{} €", marks=(",", "."), date="%d.%m.%Y"),
    Dialect("json array", form="json"),
    Dialect("json array of a bank", form="json", money="${}", marks=(".", ","), date="%m/%d/%Y"),
    Dialect("workbook", form="xlsx"),
    Dialect(
        "workbook of texts",
        form="xlsx",
        money="{} €",
        marks=(",", "."),
        date="%d.%m.%Y",
        names=GERMAN,
    ),
    Dialect("dashes for blanks", blank="—", date="%d/%m/%Y"),
    Dialect("months alone", date="%b %Y"),
)


def meant() -> list[tuple[str, list[Any]]]:
    """Return what every table says: the kind of each column, and its cells; None is blank."""
    rng = np.random.default_rng(11)
    amounts = [round(float(v), 2) for v in rng.normal(900, 2400, SIZE)]
    shares = [round(float(v), 3) for v in rng.uniform(0, 1, SIZE)]
    days = [dt.date(2021, 1, 13) + dt.timedelta(days=int(v)) for v in rng.integers(0, 1200, SIZE)]
    truths = [bool(v) for v in rng.integers(0, 2, SIZE)]
    kinds = [("red", "green", "dark blue, or so")[int(v)] for v in rng.integers(0, 3, SIZE)]
    codes = [f"0{int(v)}" for v in rng.integers(11, 19, SIZE)]
    labels = [("new", "old")[i % 2] for i in range(SIZE)]
    columns: list[tuple[str, list[Any]]] = [
        ("number", amounts), ("number", shares), ("date", days), ("truth", truths),
        ("text", kinds), ("text", codes), ("text", labels),
    ]  # fmt: skip
    for j in range(4):
        columns[j][1][5 + j] = None
    return columns


def number(value: float, digits: int, dialect: Dialect) -> str:
    """Write a number without its sign."""
    text = f"{abs(value):,.{digits}f}".replace(",", "\0").replace(".", dialect.marks[0])
    return text.replace("\0", dialect.marks[1])


def _digits(dialect: Dialect) -> dict[int, str]:
    """Return what digits are in the script of a dialect."""
    return {ord(str(n)): chr(ord(dialect.zero) + n) for n in range(10)}


def cells(dialect: Dialect) -> Iterator[list[Any]]:
    """Yield the rows of a table as texts; in JSON and workbooks that are plain, as values."""
    typed = dialect.form != "csv" and dialect.money == "{}"
    for row in zip(*(column for _, column in meant()), strict=True):
        amount, share, day, truth, *words = row
        if typed:
            when = day if dialect.form == "xlsx" or day is None else day.isoformat()
            yield [amount, share, when, truth, *words]
            continue
        money = None if amount is None else dialect.money.format(number(amount, 2, dialect))
        found = [
            None if money is None else dialect.minus.format(money) if amount < 0 else money,
            None if share is None else dialect.percent.format(number(100 * share, 1, dialect)),
            None if day is None else dt.datetime.combine(day, dt.time()).strftime(dialect.date),
            None if truth is None else dialect.truths[0] if truth else dialect.truths[1],
        ]
        if dialect.zero != "0":
            found = [None if cell is None else cell.translate(_digits(dialect)) for cell in found]
        yield [*(dialect.blank if cell is None else cell for cell in found), *words]


def written(dialect: Dialect, folder: Path) -> Path:
    """Write a table, and return where it is."""
    place = folder / f"{dialect.name.replace(' ', '-')}.{dialect.form}"
    rows = list(cells(dialect))
    if dialect.form == "xlsx":
        from tests.reference.workbooks import made
        from tests.reference.workbooks import rows as filled

        below = [[line] for line in dialect.below]
        return made(place, filled(["Export"], [], list(dialect.names), *rows, *below))
    if dialect.form in ("json", "jsonl"):
        objects = [dict(zip(dialect.names, row, strict=True)) for row in rows]
        lines = "\n".join(json.dumps(one, ensure_ascii=False) for one in objects)
        text = json.dumps(objects, indent=2) if dialect.form == "json" else lines
        place.write_text(text, "utf-8")
        return place
    place.write_bytes(text_of(dialect, rows).encode(dialect.encoding))
    return place


def text_of(dialect: Dialect, rows: list[list[Any]]) -> str:
    """Return a table of text, with what stands around it."""
    held = io.StringIO()
    how = csv.QUOTE_ALL if dialect.quoted else csv.QUOTE_MINIMAL
    table = csv.writer(
        held, delimiter=dialect.delimiter, quoting=how, lineterminator=dialect.ending
    )
    table.writerows([dialect.names, *dialect.under, *rows])
    lines = held.getvalue().split(dialect.ending)[:-1]
    if dialect.trailing:
        first = dialect.trailing == "rows"
        lines = [*lines[:first], *(line + dialect.delimiter for line in lines[first:])]
    if dialect.boxed == "psql":
        lines = [" " + line.replace("|", " | ") for line in lines]
        lines.insert(1, "+".join(["---------"] * len(dialect.names)))
    elif dialect.boxed:
        pad = " " * (dialect.boxed == "markdown")
        lines = [f"|{pad}{line.replace('|', f'{pad}|{pad}')}{pad}|" for line in lines]
        rule = "|---" * len(dialect.names) + "|" if pad else "-" * len(lines[0])
        lines = [lines[0], rule, *lines[1:]] if pad else [rule, lines[0], rule, *lines[1:], rule]
    every = [*dialect.above, *lines, *dialect.below]
    return "".join(line + dialect.ending for line in every)


def as_read(kind: str, column: list[Any], date: str) -> list[Any]:
    """Return what a column should hold once it is read: numbers, truths, texts; None is blank."""
    if kind == "date":
        days = [
            None if day is None else (day if "%d" in date or "%u" in date else day.replace(day=1))
            for day in column
        ]
        return [None if day is None else float((day - EPOCH).days) for day in days]
    return column
