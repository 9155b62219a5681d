"""Words by which the last row of an export says that it holds sums of the others."""

from __future__ import annotations

TOTALS = frozenset(
    {
        "total", "totals", "sum", "sums", "subtotal", "grand-total", "summe", "gesamt",
        "gesamtsumme", "insgesamt", "zusammen", "somme", "totaux", "totale", "totali", "suma",
        "razem", "sumy", "somma", "итого", "всего", "totaal", "som", "summa", "yhteensä",
        "celkem", "összesen", "toplam",
        "total-général", "total-general", "sumatorio", "合计", "合計", "총계", "soma",
        "endsumme", "zwischensumme", "teilsumme", "gesamtergebnis", "gesamtbetrag", "sous-total",
        "totalt", "i-alt", "ialt", "sammanlagt", "spolu", "ukupno", "skupaj", "kokku", "jumlah",
        "σύνολο", "общо", "المجموع", "الإجمالي", "общий-итог", "всього", "총합계", "小計", "小计",
        "tổng",
    }
)  # fmt: skip
"""Words by which a last row says that it holds the sums of the others."""


def says_total(text: str) -> bool:
    """Whether the first cell of a row says that the others are sums.

    >>> [says_total(text) for text in ("Total", "Grand Total", "Summe:", "Totnes", "")]
    [True, True, True, False, False]
    """
    first = text.strip().rstrip(":").strip().lower()
    words = (first, first.partition(" ")[0], first.replace(" ", "-"))
    return any(word in TOTALS for word in words)
