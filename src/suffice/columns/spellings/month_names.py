"""Names of months, and their beginnings, in the languages that spreadsheets are written in."""

from __future__ import annotations

MONTH_NAMES: tuple[str, ...] = (
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "jänner feber maerz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "januari februari mars april maj juni juli augusti september oktober november december",
    "januar februar marts april maj juni juli august september oktober november december",
    (
        "styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad "
        "grudzień"
    ),
    (
        "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października "
        "listopada grudnia"
    ),
    "leden únor březen duben květen červen červenec srpen září říjen listopad prosinec",
    "ledna února března dubna května června července srpna září října listopadu prosince",
    (
        "január február március április május június július augusztus szeptember október november "
        "december"
    ),
    "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
    "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
    (
        "ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου "
        "οκτωβρίου νοεμβρίου δεκεμβρίου"
    ),
)
"""The twelve months, a language each; read by `month_of`."""
WRITTEN_SHORT = {"mrt": 3, "mar": 3, "mai": 5, "maj": 5, "jun": 6, "jul": 7, "sept": 9, "ago": 8}
"""Short forms that are no beginnings of one name alone, or no beginnings at all."""
SHORTEST = 3
"""Letters of the shortest beginning that is a name."""


def _known() -> dict[str, int]:
    """Return what every name, and every beginning that two months do not share, stands for."""
    full: dict[str, int] = {}
    begun: dict[str, set[int]] = {}
    for names in MONTH_NAMES:
        for number, name in enumerate(names.split(), start=1):
            full[name] = number
            for end in range(SHORTEST, len(name)):
                begun.setdefault(name[:end], set()).add(number)
    short = {text: months.pop() for text, months in begun.items() if len(months) == 1}
    return {**short, **WRITTEN_SHORT, **full}


_MONTHS = _known()  # for `month_of`


def month_of(word: str) -> int | None:
    """Return which month a word is, from 1 on; None if it is none.

    >>> [month_of(word) for word in ("Jan", "März", "août", "Sept", "mayo", "Monday")]
    [1, 3, 8, 9, 5, None]
    """
    return _MONTHS.get(word.lower())
