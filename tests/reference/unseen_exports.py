"""Exports that were made after all others had been read, to see how those of strangers fare."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from tests.reference.made_exports import SIZE, Column, Export, column

if TYPE_CHECKING:
    from numpy.random import Generator

TABLES: list[Export] = []
HOUR = dt.timezone(dt.timedelta(hours=1))


def export(name: str, **how: Any) -> Any:
    """Take a function that makes columns for an export."""

    def known(make: Any) -> Any:
        TABLES.append(Export(name, make, **how))
        return make

    return known


def money(rng: Generator, low: float = -3000, high: float = 90000, digits: int = 2) -> list[float]:
    return [round(float(v), digits) for v in rng.uniform(low, high, SIZE)]


def days(rng: Generator, first: str = "2021-02-13", many: int = 1100) -> list[dt.date]:
    start = dt.date.fromisoformat(first)
    return [start + dt.timedelta(days=int(v)) for v in rng.integers(0, many, SIZE)]


def moments(rng: Generator) -> list[dt.datetime]:
    start = dt.datetime(2022, 3, 1)  # noqa: DTZ001
    return [start + dt.timedelta(seconds=int(v)) for v in rng.integers(0, 5 * 10**7, SIZE)]


def drawn(rng: Generator, *words: str) -> list[str]:
    return [words[int(v)] for v in rng.integers(0, len(words), SIZE)]


def truths(rng: Generator) -> list[bool]:
    return [bool(v) for v in rng.integers(0, 2, SIZE)]


def grouped(value: float, point: str, thousands: str, digits: int = 2) -> str:
    text = f"{abs(value):,.{digits}f}".replace(",", "\0").replace(".", point)
    return "-" * bool(value < 0) + text.replace("\0", thousands)


def lakh(value: float) -> str:
    whole, _, rest = f"{abs(value):.2f}".partition(".")
    head, tail = whole[:-3], whole[-3:]
    while len(head) > 2:
        head, tail = head[:-2], f"{head[-2:]},{tail}"
    return f"{head},{tail}.{rest}" if head else f"{tail}.{rest}"


@export("swiss, both apostrophes", delimiter=";", encoding="windows-1252", ending="\r\n")
def _(rng: Generator) -> list[Column]:
    amounts, marks = money(rng), iter(range(10**6))
    return [
        column("Betrag CHF", "number", amounts, lambda v: grouped(v, ".", "'’"[next(marks) % 2])),
        column("Valuta", "date", days(rng), lambda d: f"{d.day}.{d.month}.{d.year}"),
        column("Ort", "text", drawn(rng, "Zürich", "Genève", "Chur"), str),
        column(
            "MWST",
            "number",
            [v / 1000 for v in rng.choice([25, 77, 81], SIZE)],
            lambda v: f"{100 * v:.1f} %",
        ),
    ]


@export("indian bank, credit and debit", encoding="utf-8-sig")
def _(rng: Generator) -> list[Column]:
    return [
        column("Txn Date", "date", days(rng), lambda d: f"{d:%d-%b-%Y}"),
        column(
            "Balance",
            "number",
            money(rng, -900000, 5e7),
            lambda v: f"{lakh(v)} {'Cr' if v >= 0 else 'Dr'}",
        ),
        column("Amount (INR)", "number", money(rng, 5, 3e6), lambda v: f"₹{lakh(v)}"),
        column("Mode", "text", drawn(rng, "UPI", "NEFT", "CHQ"), str),
    ]


@export("brazilian sales", delimiter=";", encoding="utf-8-sig")
def _(rng: Generator) -> list[Column]:
    months = ["jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set", "out", "nov", "dez"]
    return [
        column(
            "Valor",
            "number",
            money(rng),
            lambda v: ("-R$ " if v < 0 else "R$ ") + grouped(abs(v), ",", "."),
        ),
        column("Data", "date", days(rng), lambda d: f"{d.day:02}/{months[d.month - 1]}/{d.year}"),
        column("Situação", "text", drawn(rng, "Pago", "Pendente", "Cancelado"), str),
        column("Ativo", "truth", truths(rng), lambda v: "S" if v else "N"),
        column(
            "Taxa",
            "number",
            [round(v, 3) for v in rng.uniform(0, 2, SIZE)],
            lambda v: grouped(100 * v, ",", ".", 1) + "%",
        ),
    ]


@export("polish shop", delimiter=";", ending="\r\n")
def _(rng: Generator) -> list[Column]:
    months = ["sty", "lut", "mar", "kwi", "maj", "cze", "lip", "sie", "wrz", "paź", "lis", "gru"]
    return [
        column("Cena brutto", "number", money(rng, 1), lambda v: grouped(v, ",", " ") + " zł"),
        column("Data", "date", days(rng), lambda d: f"{d.day} {months[d.month - 1]} {d.year}"),
        column("Opłacone", "truth", truths(rng), lambda v: "PRAWDA" if v else "FAŁSZ"),
        column(
            "Rabat",
            "number",
            [v / 100 for v in rng.integers(0, 60, SIZE)],
            lambda v: f"{round(100 * v)}%",
            "brak",
        ),
    ]


@export("turkish spreadsheet", delimiter=";")
def _(rng: Generator) -> list[Column]:
    months = ["Oca", "Şub", "Mar", "Nis", "May", "Haz", "Tem", "Ağu", "Eyl", "Eki", "Kas", "Ara"]
    return [
        column("Tutar", "number", money(rng), lambda v: grouped(v, ",", ".") + "₺"),
        column("Tarih", "date", days(rng), lambda d: f"{d.day:02} {months[d.month - 1]} {d.year}"),
        column("Aktif", "truth", truths(rng), lambda v: "DOĞRU" if v else "YANLIŞ"),
        column(
            "Oran",
            "number",
            [round(v, 3) for v in rng.uniform(0, 1, SIZE)],
            lambda v: "%" + grouped(100 * v, ",", ".", 1),
        ),
    ]


@export("arabic months")
def _(rng: Generator) -> list[Column]:
    def wide(text: str) -> str:
        return text.translate({48 + n: 0x660 + n for n in range(10)})

    months = [
        "يناير",
        "فبراير",
        "مارس",
        "أبريل",
        "مايو",
        "يونيو",
        "يوليو",
        "أغسطس",
        "سبتمبر",
        "أكتوبر",
        "نوفمبر",
        "ديسمبر",
    ]
    return [
        column("المبلغ", "number", money(rng), lambda v: wide(grouped(v, "٫", "٬"))),
        column(
            "التاريخ", "date", days(rng), lambda d: wide(f"{d.day} {months[d.month - 1]} {d.year}")
        ),
        column(
            "النسبة",
            "number",
            [round(v, 3) for v in rng.uniform(0, 1, SIZE)],
            lambda v: "٪" + wide(grouped(100 * v, "٫", "", 1)),
        ),
        column("نشط", "truth", truths(rng), lambda v: "نعم" if v else "لا"),
    ]


@export(
    "bank with debit and credit",
    delimiter=";",
    encoding="latin-1",
    above=("Kontoauszug;", "IBAN;CH93 0076 2011 6238 5295 7", "Währung;CHF", ""),
)
def _(rng: Generator) -> list[Column]:
    moved = money(rng, -900, 900)
    balance = [round(10000 + sum(moved[: i + 1]), 2) for i in range(SIZE)]
    return [
        column("Buchungsdatum", "date", days(rng), lambda d: f"{d:%d.%m.%y}"),
        column(
            "Belastung",
            "number",
            [-v if v < 0 else None for v in moved],
            lambda v: grouped(v, ".", "'"),
            gaps=False,
        ),
        column(
            "Gutschrift",
            "number",
            [v if v >= 0 else None for v in moved],
            lambda v: grouped(v, ".", "'"),
            gaps=False,
        ),
        column("Saldo", "number", balance, lambda v: grouped(v, ".", "'"), gaps=False),
        column("Typ", "text", drawn(rng, "Zahlung", "Bezug", "Gehalt"), str),
    ]


@export("laboratory with limits", delimiter="\t", encoding="utf-16")
def _(rng: Generator) -> list[Column]:
    crp = [round(float(v), 1) for v in rng.exponential(20, SIZE)]
    signs = drawn(rng, "neg", "+", "++", "+++")
    return [
        column(
            "CRP [mg/l]", "asked", crp, lambda v: "<5" if v < 5 else ">100" if v > 100 else str(v)
        ),
        column(
            "Na (mmol/l)", "number", [int(v) for v in rng.integers(130, 150, SIZE)], str, "n.d."
        ),
        column(
            "Leukozyten [G/l]",
            "number",
            [round(float(v), 2) for v in rng.uniform(3, 12, SIZE)],
            lambda v: f"{v:.2f}".replace(".", ","),
        ),
        column("Urin", "text", signs, str),
        column("Abnahme", "date", moments(rng), lambda t: f"{t:%d.%m.%Y %H:%M:%S}"),
    ]


@export("shop with prices per unit", delimiter=";")
def _(rng: Generator) -> list[Column]:
    return [
        column(
            "Grundpreis", "asked", money(rng, 0.5, 60), lambda v: grouped(v, ",", ".") + " EUR/kg"
        ),
        column("Gewicht", "asked", money(rng, 0.1, 9, 1), lambda v: f"{v} kg".replace(".", ",")),
        column("Preis", "number", money(rng, 1, 2500), lambda v: "EUR " + grouped(v, ",", ".")),
        column(
            "Lager",
            "number",
            [int(v) for v in rng.integers(0, 12000, SIZE)],
            lambda v: grouped(v, ",", ".", 0),
        ),
        column(
            "EAN",
            "left out",
            [f"40{int(v)}" for v in rng.permutation(SIZE) + 10**10],
            str,
            gaps=False,
        ),
    ]


@export("survey from a web form")
def _(rng: Generator) -> list[Column]:
    return [
        column(
            "Timestamp",
            "date",
            [t.replace(tzinfo=HOUR) for t in moments(rng)],
            lambda t: f"{t:%Y/%m/%d} {t:%I:%M:%S %p} GMT+1",
            gaps=False,
        ),
        column(
            "I like it",
            "text",
            drawn(rng, "Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"),
            str,
        ),
        column("Media", "text", drawn(rng, "TV;Radio", "TV", "Web;TV;Radio", "None of these"), str),
        column("Age", "text", drawn(rng, "18-24", "25-34", "35-49", "50-64", "65+"), str),
        column("Recommend?", "number", [int(v) for v in rng.integers(0, 11, SIZE)], str),
    ]


@export("sensor log", delimiter="\t")
def _(rng: Generator) -> list[Column]:
    start = [1.7e9 + 60 * i for i in range(SIZE)]
    return [
        column("epoch", "number", [int(v) for v in start], str, gaps=False),
        column("ms", "number", [int(1000 * v) + 123 for v in start], str, gaps=False),
        column(
            "week",
            "date",
            [d - dt.timedelta(days=d.weekday()) for d in days(rng)],
            lambda d: f"{d.isocalendar()[0]}-W{d.isocalendar()[1]:02}",
        ),
        column("temp_C", "number", money(rng, -20, 40, 3), lambda v: f"{v:.5e}", "NaN"),
        column("flags", "text", drawn(rng, "0x1F", "0x00", "0xA3"), str),
        column("ok", "truth", truths(rng), lambda v: "True" if v else "False"),
    ]


@export("minus at the end", delimiter="|")
def _(rng: Generator) -> list[Column]:
    return [
        column(
            "Saldo",
            "number",
            money(rng, -5000, 5000),
            lambda v: grouped(abs(v), ",", ".") + "-" * bool(v < 0),
        ),
        column(
            "Menge",
            "number",
            [int(v) for v in rng.integers(-40, 40, SIZE)],
            lambda v: f"{abs(v)}{'-' if v < 0 else ''}",
        ),
        column(
            "Abweichung",
            "number",
            [round(v, 3) for v in rng.uniform(-2, 2, SIZE)],
            lambda v: grouped(abs(100 * v), ",", ".", 1) + "-" * bool(v < 0) + "%",
        ),
        column("S/H", "text", drawn(rng, "S", "H"), str),
    ]


@export("powers of ten", delimiter=";")
def _(rng: Generator) -> list[Column]:
    values = [float(f"{v:.3e}") for v in 10 ** rng.uniform(-6, 9, SIZE)]
    return [
        column("Konzentration", "number", values, lambda v: f"{v:.3E}".replace(".", ",")),
        column("Dichte", "number", values[::-1], lambda v: _times(v, "×", "^")),
        column(
            "Fluss",
            "number",
            values[3:] + values[:3],
            lambda v: _times(v, "·", "").replace(".", ","),
        ),
        column(
            "Rate",
            "number",
            values[9:] + values[:9],
            lambda v: f"{v:.3e}".replace("e", " e").replace(" ", "").replace(".", ","),
        ),
    ]


def _times(value: float, times: str, power: str) -> str:
    body, _, ten = f"{value:.3e}".partition("e")
    above = (
        str(int(ten)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")) if not power else ten
    )
    return f"{body}{times}10{power}{int(ten) if power else above}"


@export("percentages of all sizes", delimiter=";", encoding="windows-1252")
def _(rng: Generator) -> list[Column]:
    values = [round(float(v), 3) for v in rng.uniform(-3, 15, SIZE)]
    return [
        column("Wachstum", "number", values, lambda v: grouped(100 * v, ",", ".", 1) + " %"),
        column("Marge", "number", values[::-1], lambda v: f"{100 * v:+.1f}%".replace(".", ",")),
        column(
            "Abw.",
            "number",
            values[5:] + values[:5],
            lambda v: (
                f"({-100 * v:.1f} %)".replace(".", ",")
                if v < 0
                else f"{100 * v:.1f} %".replace(".", ",")
            ),
        ),
        column("Promille", "asked", values, lambda v: f"{v:.3f} ‰".replace(".", ",")),
    ]


@export("blanks of all kinds")
def _(rng: Generator) -> list[Column]:
    kinds = ["NA", "n/a", "-", "", "k. A.", "#DIV/0!", "N.A.", "missing", "keine Angabe", "NULL",
             "not reported", "n.v.", "#N/A", " ", "*", "x.x", "nicht erhoben", "--"]  # fmt: skip
    found = []
    for name, words in {
        "known": kinds[:8],
        "more": kinds[:12],
        "sas": [".", "", "NA"],
        "stars": ["*", "**", ""],
        "refused": ["refused", "don't know", ""],
    }.items():
        values: list[Any] = money(rng, 0, 50, 1)
        cells = [str(v) for v in values]
        for i, word in enumerate(words * 2):
            values[3 * i], cells[3 * i] = None, word
        kind = "asked" if name in ("stars", "refused") else "number"
        found.append(Column(name, kind, values, cells))
    return found
