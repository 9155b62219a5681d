"""Numbers as people write them: separators, currencies, percent, and signs that are no hyphens."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

POINT, COMMA = ".", ","
"""The two decimal marks."""
_CODES = """
AED ARS AUD BGN BHD BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HRK HUF IDR ILS INR ISK JPY KES
KRW KWD KZT MAD MXN MYR NGN NOK NZD PEN PHP PKR PLN QAR RON RSD RUB SAR SEK SGD THB TND TRY TWD UAH
USD UYU VND ZAR AMD AOA AZN BAM BDT BOB BWP BYN CRC DOP DZD ETB FJD GEL GHS GTQ HNL IQD IRR JMD JOD
KGS KHR LAK LBP LKR MDL MKD MMK MNT MUR MVR MZN NAD NIO NPR OMR PAB PYG RWF TTD TZS UGX UZS XAF XOF
XPF ZMW KSh Ksh KSH TSh USh FCFA CFA Gs. Tk Tk. Nu. kr kr. Kr Kr. Kč zł Ft lei руб руб. р. грн лв
лв. Fr Fr. SFr. sFr. Rs Rs. RM Rp Rp.
TL Euro euro Euros euros EURO DM din din. 円 圓 元 원 zl ریال ريال تومان درهم
دينار جنيه ر.س ر.س. د.إ د.إ. د.ك د.ك. ج.م ج.م. د.ب
"""  # for CURRENCIES
CURRENCIES = frozenset(_CODES.split())
"""Codes and abbreviations of currencies beside the signs that Unicode knows (€, $, US$, R$, ₹ …).
Codes are read in capitals only: `5 all` and `5 top` are words."""
LETTERS = frozenset({"R", "Q", "L", "P", "S/", "S/.", "B/.", "Bs", "Bs.", "C", "K"})
"""Abbreviations of currencies that are codes as well: `R 12` may be a room. They are currencies
where cents stand behind them: R 12,50."""
_CENTS = re.compile(r"[.,]\d\d$")
"""Cents at the end of an amount: for `LETTERS`."""
CREDIT_DEBIT = "Cr/Dr"
"""The unit of amounts whose sign is said behind them, as in bank statements: 12.50 Cr, 3.00 Dr."""
SPACES = "\u00a0\u2007\u2009\u202f"
"""Blanks that part thousands besides the ordinary one."""
_OUTSIDE = r"[^\d\s()+\-\u2212\u2013\u25b2\u25b3%\uff05\u066a.,'’ʼ´‘`]"  # what affixes are made of
# A currency or a unit: 5 €, 12 kg, 52.1° N.
_AFFIX = rf"(?:[\u0600-\u06ff]\.[\u0600-\u06ff]\.?|°\ [A-Z]|{_OUTSIDE}{{1,12}}\.?)"
_SIGN = r"[+\-\u2212\u2013\u25b2\u25b3\ufe63\uff0d]"  # plus, and all that is used for minus
_CELL = re.compile(
    rf"""\s*(?P<open>\()?\s*(?P<sign>{_SIGN})?\s*(?:(?P<before>{_AFFIX})\s*)?(?P<late>\()?\s*
    (?P<inner>{_SIGN})?\s*(?P<first>[%\uff05\u066a])?\s*
    (?P<body>(?:\d[\d.,'’ʼ´‘`\ {SPACES}]*|[.,]\d+)(?:[eE][+-]?\d+)?)
    (?P<dash>(?<=[.,])[-–—]{{1,2}}|/[-=])?\s*(?:(?P<behind>[-\u2212])(?=\s*[%\uff05\u066a]))?\s*(?P<percent>[%\uff05\u066a])?\s*(?P<after>{_AFFIX})?
    \s*(?P<trail>[-\u2212])?\s*(?P<close>\))?\s*""",
    re.VERBOSE,
)  # the parts of a cell; what it holds is looked at by `_BODIES`
_NOTHING = re.compile(
    rf"\s*(?:(?P<before>{_AFFIX})\s*[-–—]|[-–—]\s*(?P<after>{_AFFIX}))\s*"
)  # zero, as accountants write it: "$ -"
_BODIES = {
    POINT: re.compile(
        r"(?:(?:[1-9]\d{0,2}(?:([, '])\d{3})(?:\1\d{3})*|[1-9]\d?(?:,\d{2})+,\d{3}"
        r"|0|[1-9]\d*|0+(?=\.))(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
    ),
    COMMA: re.compile(
        r"(?:(?:[1-9]\d{0,2}(?:([. '])\d{3})(?:\1\d{3})*|0|[1-9]\d*|0+(?=,))(?:,\d*)?|,\d+)"
        r"(?:[eE][+-]?\d+)?"
    ),
}  # digits in groups of three, or as in India of two and then three; no group begins with a zero
_PLAIN = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)[eE][+-]?\d+")  # whatever else the column has
_UNIFIED = str.maketrans(
    {**dict.fromkeys(SPACES, " "), **dict.fromkeys("’ʼ´‘`", "'")}
)  # separators that mean the same
DIGITS = ("٠", "۰", "०", "০", "０")
"""The zeros of other scripts, each followed by its nine digits: Arabic, Persian, Devanagari,
Bengali, and the wide ones of East Asia."""
_SAME = {
    **{ord(zero) + n: str(n) for zero in DIGITS for n in range(10)},
    **{ord(mark): "." for mark in "٫．"},
    **{ord(mark): "," for mark in "٬，"},
    **dict.fromkeys([0x61C, 0x2060, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F),
                     *range(0x2066, 0x206A)], ""),
}  # fmt: skip  # digits and marks that mean the same, and marks of direction that nobody sees
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻−", "0123456789+--")  # exponents that stand above
# A power of ten behind a number: 1.5×10^5, 1,5·10⁻³.
_POWER = re.compile(
    r"(?<=\d)\s?[×·⋅∙*xX]\s?10(?:\^\(?(?P<plain>[+\-−]?\d{1,3})\)?|(?P<raised>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))"
)
# Degrees with minutes: 52°31'12"N, 13° 24′ E.
_DEGREES = re.compile(
    r"\s*(?P<sign>[-\u2212]?)(?P<degrees>\d{1,3})°\s?(?P<minutes>[0-5]?\d(?:[.,]\d+)?)['′’]\s?"
    r"(?:(?P<seconds>[0-5]?\d(?:[.,]\d+)?)(?:[\"″”]|'')\s?)?(?P<side>[NSEW])?\s*"
)
STAMP = 14
"""Digits before a Z that are a date with its time: 20240105103000Z."""
MOST_DIGITS = 15
"""Digits of a whole number that a double holds for certain; more are a code, and no number."""


class WrittenNumber(NamedTuple):
    """A cell that is a number, in one reading or in two.

    point, comma   its value by either decimal mark; None where it cannot be written so
    currency, unit what stands before or after it
    percent        whether it is followed by a percent sign: the value is in hundredths already
    """

    point: float | None
    comma: float | None
    currency: str = ""
    unit: str = ""
    percent: bool = False

    def value(self, decimal: str) -> float | None:
        """Return the number by one decimal mark."""
        return self.point if decimal == POINT else self.comma


def side_of(unit: str) -> float | None:
    """Return the sign that a unit of CREDIT_DEBIT stands for; None for any other unit.

    >>> side_of("Cr"), side_of("DR."), side_of("kg")
    (1.0, -1.0, None)
    """
    return {"cr": 1.0, "dr": -1.0}.get(unit.lower().rstrip("."))


def plain_digits(cell: str) -> str:
    """Return a cell with the digits and decimal marks of any script as those of this one.

    >>> plain_digits("١٢٫٥"), plain_digits("１，２００円"), plain_digits("12.5")
    ('12.5', '1,200円', '12.5')
    """
    return cell if cell.isascii() else cell.translate(_SAME)


def _without_powers(cell: str) -> str:
    """Return a cell with powers of ten as exponents: 1.5e5 for 1.5×10^5."""
    if "10" not in cell or ("^" in cell) + (not cell.isascii()) == 0:
        return cell
    return _POWER.sub(
        lambda found: "e" + (found["plain"] or found["raised"]).translate(_RAISED), cell, count=1
    )


@lru_cache(maxsize=1 << 12)
def is_currency(text: str) -> bool:
    """Whether a text before or after a number is a currency.

    >>> [is_currency(text) for text in ("€", "US$", "CHF", "kg", "Fr.")]
    [True, True, True, False, True]
    """
    if text in CURRENCIES:
        return True
    signs = [unicodedata.category(letter) == "Sc" for letter in text]
    return sum(signs) == 1 and len(text) <= 4


def written_number(cell: str) -> WrittenNumber | None:
    """Return what number a cell is, or None.

    >>> written_number("$1,653.76")
    WrittenNumber(point=1653.76, comma=None, currency='$', unit='', percent=False)
    >>> written_number("(1,234)").point, written_number("(1,234)").comma
    (-1234.0, -1.234)
    >>> written_number("31%").point, written_number("12 kg").unit, written_number("A12")
    (0.31, 'kg', None)
    >>> written_number("$ (1,200.50)").point, written_number(" $ -  ").point
    (-1200.5, 0.0)
    >>> written_number("%31").point, written_number("Rs. 1,10,000/-").point
    (0.31, 110000.0)
    >>> written_number("12,5-%").comma, written_number("1,5·10⁻³").comma
    (-0.125, 0.0015)
    >>> written_number("R 12,50").comma, written_number("R 12"), written_number("$5.00 MXN")[2]
    (12.5, None, 'MXN')
    >>> written_number("52°30′36″S").point
    -52.51
    """
    cell = _without_powers(plain_digits(cell))
    if _PLAIN.fullmatch(cell):
        return WrittenNumber(float(cell), float(cell))
    if len(cell) > 64:
        return None
    if "°" in cell and (degrees := _DEGREES.fullmatch(cell)) is not None:
        return _degrees(degrees)
    if (parts := _CELL.fullmatch(cell)) is None:
        return _zero(cell)
    before, after = parts["before"] or "", parts["after"] or ""
    body = parts["body"].rstrip(f" {SPACES}").translate(_UNIFIED)
    if before in LETTERS and _CENTS.search(body):
        return None if after else _amount(parts, body, before, "")
    if before and not is_currency(before):
        return None
    if before and is_currency(after):  # $ 12.50 MXN: the sign of many, and the code of one
        if after not in CURRENCIES or before in CURRENCIES:
            return None
        before, after = after, ""
    return _amount(parts, body, before, after)


def _amount(parts: re.Match[str], body: str, before: str, after: str) -> WrittenNumber | None:
    """Return the number in the parts of a cell, with what stands before and behind it."""
    opened = parts["open"] or parts["late"]
    signs = [parts["sign"], parts["inner"], parts["trail"], parts["behind"],
             parts["open"], parts["late"]]  # fmt: skip
    if sum(sign is not None for sign in signs) > 1 or (opened is None) != (parts["close"] is None):
        return None
    if parts["first"] is not None and parts["percent"] is not None:
        return None
    negative = any(sign is not None and sign != "+" for sign in signs)
    percent = (parts["first"] or parts["percent"]) is not None
    if parts["dash"] is not None and not parts["dash"].startswith("/"):
        body = body[:-1]  # 12.– and 5,-- are amounts without cents
    found = [_value(body, mark, negative, percent) for mark in (POINT, COMMA)]
    if found == [None, None] or (after == "Z" and len(body) == STAMP):
        return None
    unit = "" if is_currency(after) else after
    return WrittenNumber(found[0], found[1], before or ("" if unit else after), unit, percent)


def _degrees(parts: re.Match[str]) -> WrittenNumber | None:
    """Return degrees with minutes and seconds as degrees; south and west are below zero."""
    minutes, seconds = (
        float((parts[name] or "0").replace(",", ".")) for name in ("minutes", "seconds")
    )
    south = parts["side"] in ("S", "W")
    if parts["sign"] and parts["side"]:
        return None
    value = int(parts["degrees"]) + minutes / 60.0 + seconds / 3600.0
    value = -value if south or parts["sign"] else value
    return WrittenNumber(value, value)


def _zero(cell: str) -> WrittenNumber | None:
    """Return the amount that a currency beside a dash is."""
    found = _NOTHING.fullmatch(cell)
    currency = "" if found is None else found["before"] or found["after"]
    return WrittenNumber(0.0, 0.0, currency) if is_currency(currency) else None


def _value(body: str, mark: str, negative: bool, percent: bool) -> float | None:
    """Return the number that digits are by one decimal mark."""
    if _BODIES[mark].fullmatch(body) is None:
        return None
    other = COMMA if mark == POINT else POINT
    digits = body.replace(other, "").replace(" ", "").replace("'", "").replace(mark, POINT)
    if len(digits) > MOST_DIGITS and digits.isdigit():
        return None
    value = (
        float(digits) / 100.0
        if percent and "e" in digits.lower()
        else float(f"{digits}e-2" if percent else digits)
    )
    if value in (float("inf"), float("-inf")):
        return None
    return -value if negative else value


# What `shows_point` looks for: decimals that are no three digits, and nothing before them.
_POINTED = re.compile(r"\.(?!\d{3}(?![\d.eE]))|(?:^|[^\d.])[+-]?0*\.|\d{4}\.")


def shows_point(cells: str) -> bool:
    r"""Whether one of some plain numbers, a line each, can only be written with a decimal point.

    `12.345` may be twelve thousand where decimals have commas; `0.345` and `12.5` may not.

    >>> shows_point("12.345\n7"), shows_point("12.5"), shows_point("0.345"), shows_point("1234.500")
    (False, True, True, True)
    """
    return "." in cells and any(_POINTED.search(cell) is not None for cell in cells.split("\n"))
