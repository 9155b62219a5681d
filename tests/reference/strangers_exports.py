"""More exported tables, of strangers: what stands around a table, other scripts, other programs.

Dialects of `exported_tables` that were made after the sixty there were read.
"""

from __future__ import annotations

from tests.reference.exported_tables import FRENCH, GERMAN, ITALIAN, SPANISH, Dialect

QUESTIONS = (
    "How much, in all?", "Which share, would you say?", "On which day?", "Was it paid?",
    "Of which kind, please?", "Which code, if any?", "Which class?",
)  # fmt: skip
IDENTIFIERS = tuple(f'{{"ImportId":"QID{n}"}}' for n in range(7))
STRANGERS: tuple[Dialect, ...] = (
    # What stands around the table.
    Dialect("sep line", ";", (",", "."), date="%d.%m.%Y", above=("sep=;",), names=GERMAN),
    Dialect("sep line, quoted, with a mark", above=('"sep=,"',), encoding="utf-8-sig"),
    Dialect("sep line, tabs", "\t", above=("sep=\t",), encoding="utf-16", ending="\r\n"),
    Dialect(
        "german bank statement", ";", (",", "."), "{} EUR", date="%d.%m.%Y", truths=("ja", "nein"),
        encoding="windows-1252", names=GERMAN, quoted=True,
        above=('"Konto";"DE12 5001 0517 5407 3249 31"', '"Zeitraum";"01.01.2021 - 31.12.2024"',
               '"Kontostand";"12.345,67 EUR"', ""),
    ),
    Dialect(
        "us card statement", money="${}", marks=(".", ","), minus="({})", date="%m/%d/%Y",
        truths=("Y", "N"),
        above=("First Example Bank", "Account ending in 1234", "Statement: 2021 to 2024", ""),
        below=("", "Opening balance $1,000.00", "This is not a tax document"),
    ),
    Dialect(
        "french bank statement", ";", (",", " "), "{} €", date="%d/%m/%Y", truths=("oui", "non"),
        names=FRENCH, above=("Téléchargement du 02/05/2024;;", "Compte;0001234;", ";;"),
    ),
    Dialect(
        "italian shop with totals", ";", (",", "."), "{} €", date="%d/%m/%Y", truths=("sì", "no"),
        names=ITALIAN, below=("Totale;12,5%;;;;;",),
    ),
    Dialect("totals in the last row", below=("Total,55.5%,,,,,",)),
    Dialect("grand total below a line", below=("Grand total:,55.5%,,,,,", "", "Printed by Acme 7")),
    Dialect("comments", above=("# exported by tool 3.2", "# rows: 60, columns: 7")),
    Dialect("survey with questions", under=(QUESTIONS,), date="%Y-%m-%d %H:%M:%S"),
    Dialect("survey with identifiers", under=(QUESTIONS, IDENTIFIERS), date="%Y-%m-%d %H:%M:%S"),
    Dialect(
        "laboratory with units", "\t", under=(("mg/l", "%", "date", "", "", "", ""),), blank="n.d.",
        truths=("true", "false"),
    ),
    Dialect("delimiters at the end", ";", (",", "."), date="%d.%m.%Y", trailing="all"),
    Dialect("delimiters at the end of rows", trailing="rows"),
    Dialect("sap list", "|", (",", "."), minus="{}-", date="%d.%m.%Y", boxed="sap", blank=" "),
    Dialect("markdown", "|", boxed="markdown", date="%d %b %Y", blank="—"),
    Dialect("psql", "|", boxed="psql", truths=("t", "f"), below=("(60 rows)",)),
    Dialect("sap, tabs", "\t", (",", "."), minus="{}-", date="%d.%m.%Y", truths=("Ja", "Nein")),
    Dialect("old macintosh", ending="\r", date="%m/%d/%y"),
    Dialect(
        "windows-1252 with a title", ";", (",", "."), "{} €", date="%d.%m.%Y", names=GERMAN,
        encoding="windows-1252", above=("Umsätze 2024",), ending="\r\n",
    ),
    # Other scripts and languages.
    Dialect("arabic", money="{} ر.س", marks=("٫", "٬"), date="%Y/%m/%d", truths=("نعم", "لا"),
            percent="{}٪", zero="٠"),
    Dialect("persian", marks=("٫", "٬"), date="%Y/%m/%d", truths=("بله", "خیر"), percent="{}٪",
            zero="۰"),
    Dialect("japanese, wide", money="{}円", marks=("．", "，"), date="%Y年%m月%d日", percent="{}％",
            truths=("はい", "いいえ"), zero="０"),
    Dialect("hindi", money="₹ {}", marks=(".", ","), date="%d/%m/%Y", truths=("हाँ", "नहीं"),
            zero="०"),
    Dialect("hebrew", money="\u200f{} ₪", marks=(".", ","), date="%d.%m.%Y", truths=("כן", "לא")),
    Dialect("japanese accounts", money="¥ {}", minus="▲{}", marks=(".", ","), date="%Y/%m/%d",
            truths=("はい", "いいえ")),
    Dialect("turkish, percent first", ";", (",", "."), "₺{}", percent="%{}", date="%d.%m.%Y",
            truths=("Evet", "Hayır")),
    Dialect("bulgarian", ";", (",", " "), "{} лв.", date="%d.%m.%Y г.", truths=("да", "не")),
    Dialect("croatian", ";", (",", "."), "{} €", date="%d.%m.%Y.", truths=("da", "ne")),
    Dialect("slovak", ";", (",", " "), "{} €", date="%d. %m. %Y", truths=("áno", "nie")),
    Dialect("lithuanian", ";", (",", " "), "{} €", date="%Y-%m-%d", truths=("taip", "ne")),
    Dialect("estonian", ";", (",", " "), "{} €", date="%d.%m.%Y", truths=("jah", "ei")),
    Dialect("romanian", ";", (",", "."), "{} lei", date="%d.%m.%Y", truths=("da", "nu")),
    Dialect("vietnamese", ";", (",", "."), "{} ₫", date="%d/%m/%Y", truths=("có", "không")),
    Dialect("indonesian", ";", (",", "."), "Rp {}", date="%d/%m/%Y", truths=("ya", "tidak")),
    Dialect("thai", money="฿{}", marks=(".", ","), date="%d %b %Y", truths=("ใช่", "ไม่ใช่")),
    Dialect("polish, windows-1250", ";", (",", "\u00a0"), "{} zl", date="%d.%m.%Y",
            truths=("tak", "nie"), encoding="windows-1250"),
    # Other programs.
    Dialect("accounting", money="{}", minus="$ ({})", marks=(".", ","), date="%d-%b-%Y"),
    Dialect("indian invoices", money="Rs. {}/-", marks=(".", ","), date="%d-%b-%y", blank="NIL"),
    Dialect("iso weeks", date="%G-W%V-%u"),
    Dialect("javascript", date="%a %b %d %Y %H:%M:%S GMT+0000 (Coordinated Universal Time)"),
    Dialect("oracle", date="%d-%b-%y %I.%M.%S.000000 %p", blank="(null)"),
    Dialect("afternoons", date="%d/%m/%Y %I:%M:%S %p", truths=("Y", "N"), minus="{}-"),
    Dialect("swiss francs", ";", (".", "’"), "Fr. {}", date="%d.%m.%y", percent="{} %",
            truths=("Ja", "Nein"), names=GERMAN),
    Dialect("dashes for minus", minus="\u2013{}", date="%Y.%m.%d"),
    Dialect("json in persian", form="json", marks=("٫", "٬"), money="{} ریال", zero="۰",
            percent="{}٪"),
    Dialect("json lines of a bank", form="jsonl", money="{} zł", marks=(",", " "), date="%d.%m.%Y",
            truths=("tak", "nie")),
    Dialect("workbook with remarks", form="xlsx", below=("Printed on Monday",)),
    Dialect("workbook of texts in spanish", form="xlsx", money="{} €", marks=(",", "."),
            date="%d/%m/%Y", names=SPANISH, truths=("sí", "no"), below=("Fuente: ventas",)),
)  # fmt: skip
