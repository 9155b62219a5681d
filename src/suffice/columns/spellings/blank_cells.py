"""Words that say that there is nothing, and the plain words for truths."""

from __future__ import annotations

import re

BLANKS = frozenset(
    {
        "NA", "N/A", "n/a", "#NA", "#N/A", "<NA>", "NaN", "nan", "NAN", "-NaN", "-nan",
        "null", "Null", "NULL", "None", "none", "?", "-", ".",
        "na", "n.a.", "N.A.", "n.a", "N.A", "n. a.", "#N/A N/A", "(null)", "<null>", "\\N", "nil",
        "Nil", "NIL",
        "NONE", "??", "???", "--", "---", "–", "—", "..", "...", "…", "(blank)", "(empty)",
        "unknown", "Unknown", "UNKNOWN", "missing", "Missing", "MISSING", "not available", "tbd",
        "TBD", "k.A.", "k. A.", "k.a.", "unbekannt", "s/d", "s.d.", "n.d.", "N.D.", "nd", "ND",
        "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!",
        "#NV", "#WERT!", "#BEZUG!", "#ZAHL!", "#VALEUR!", "#NOM?", "#NOMBRE!", "#NUL!",
        "#¡VALOR!", "#¡DIV/0!", "#¡REF!", "#¿NOMBRE?", "#¡NUM!", "#VALORE!", "#RIF!", "#NOME?",
        "#DZIEL/0!", "#ARG!", "#ADR!", "#LICZBA!", "#ДЕЛ/0!", "#ЗНАЧ!", "#Н/Д", "#ССЫЛКА!",
        "keine Angabe", "Keine Angabe", "keine Angaben", "nicht erhoben", "nicht bekannt", "n.v.",
        "n. v.", "n.b.", "entfällt", "no data", "No data", "not reported", "Not reported",
        "not known",
        "not applicable", "Not applicable", "Not available", "not stated", "no answer", "No answer",
        "non disponible", "non renseigné", "inconnu", "sin datos", "no disponible", "desconocido",
        "non disponibile", "sconosciuto", "sem dados", "não disponível", "onbekend", "brak",
        "brak danych", "b.d.", "нет данных", "н/д", "neznámé", "veri yok", "bilinmiyor", "ukendt",
        "ukjent", "okänt", "ei tietoa", "不明", "データなし", "なし", "无", "暂无", "없음",
        "غير متوفر",
        "prefer not to say", "prefer not to answer", "rather not say", "don't know", "do not know",
        "dont know", "not sure", "no response", "not taken", "not done", "not measured",
        "not tested", "weiß nicht", "keine Antwort", "möchte ich nicht sagen", "nicht gemessen",
        "NSP", "ne sait pas", "sans réponse", "non réponse", "non mesuré", "NS/NC", "ns/nc",
        "no sabe", "no contesta", "no sabe/no contesta", "sin respuesta", "no medido", "non so",
        "non risponde", "nessuna risposta", "não sabe", "não respondeu", "ns/nr", "weet niet",
        "geen antwoord", "vet ej", "ved ikke", "nie wiem", "не знаю", "затрудняюсь ответить",
        "#ЧИСЛО!", "n.c.", "0000-00-00", "0000-00-00 00:00:00", "00.00.0000", "00/00/0000",
    }
)  # fmt: skip
"""Words that say, beside numbers, dates and truths, that there is none: what people type, what
databases and laboratories write, and the errors of spreadsheets in the languages that have their
own. Among words each may be a category like any other."""
_PLAIN = frozenset(word.casefold() for word in BLANKS if len(word) > 4)
"""The same in small letters: people and programs write them in any."""
_ERROR = re.compile(r"#[^\W\d_a-z](?:[^\W\d_]|[/_\xa0 ]|0(?=[!?]?$))+[!?]?")
"""An error of a spreadsheet in any language: `#` and words in capitals (#REF!, #N/D, #PUUTTUU!,
#NENÍ_K_DISPOZICI, #DIV/0!); a colour has digits, or does not stand beside numbers."""
_MISSING = re.compile(r"\.[a-z_]")
"""A missing value of a statistics program that says why: .a to .z."""
TRUTHS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
"""Cells that are truths in any table; `yes` and `no` are where a whole column is made of them."""


def is_blank(cell: str) -> bool:
    """Whether a cell says nothing, beside numbers, dates or truths."""
    if not cell or cell.isspace() or cell in BLANKS:
        return True
    if not ("#" < cell[0] < "0" or cell[0] in "#\xa0 " or cell[0].isalpha()) or len(cell) > 40:
        return False
    plain = cell.strip()
    if plain[0] == "#":
        return plain in BLANKS or (plain == plain.upper() and _ERROR.fullmatch(plain) is not None)
    known = plain in BLANKS or plain.casefold() in _PLAIN
    return known or _MISSING.fullmatch(plain) is not None
