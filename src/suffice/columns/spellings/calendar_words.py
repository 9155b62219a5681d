"""Names of months and weekdays, in the languages that spreadsheets are written in."""

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
    (
        "sausio vasario kovo balandžio gegužės birželio liepos rugpjūčio rugsėjo spalio lapkričio "
        "gruodžio"
    ),
    (
        "tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu "
        "marraskuu joulukuu"
    ),
    (
        "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta "
        "syyskuuta lokakuuta marraskuuta joulukuuta"
    ),
    "januar februar mars april mai juni juli august september oktober november desember",
    "gener febrer març abril maig juny juliol agost setembre octubre novembre desembre",
    (
        "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie "
        "decembrie"
    ),
    "januari februari maret april mei juni juli agustus september oktober november desember",
    "jaanuar veebruar märts aprill mai juuni juuli august september oktoober november detsember",
    (
        "janvāris februāris marts aprīlis maijs jūnijs jūlijs augusts septembris oktobris "
        "novembris decembris"
    ),
    "január február marec apríl máj jún júl august september október november december",
    "januára februára marca apríla mája júna júla augusta septembra októbra novembra decembra",
    "januar februar marec april maj junij julij avgust september oktober november december",
    "януари февруари март април май юни юли август септември октомври ноември декември",
    "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر",
    "ינואר פברואר מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר",
)
"""The twelve months, a language each; read by `month_of`.

Croatian is missing: its listopad is October, that of Polish and Czech November."""
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


WEEKDAYS = frozenset(
    """
    mon tue tues wed thu thur thurs fri sat sun monday tuesday wednesday thursday friday saturday
    sunday mo di mi do fr sa so montag dienstag mittwoch donnerstag freitag samstag sonnabend
    sonntag lun mar mer jeu ven sam dim lundi mardi mercredi jeudi vendredi samedi dimanche mié
    mie jue vie sáb sab dom lunes martes miércoles miercoles jueves viernes sábado sabado domingo
    gio lunedì martedì mercoledì giovedì venerdì domenica seg ter qua qui sex segunda terça quarta
    quinta sexta segunda-feira terça-feira quarta-feira quinta-feira sexta-feira ma wo vr za zo
    maandag dinsdag woensdag donderdag vrijdag zaterdag zondag man tir tor lør søn mandag tirsdag
    onsdag torsdag fredag lørdag søndag mån tis ons tors fre lör sön måndag tisdag lördag söndag
    ke pe la su maanantai tiistai keskiviikko torstai perjantai lauantai sunnuntai pon wt śr czw
    pt sob niedz poniedziałek wtorek środa czwartek piątek sobota niedziela po út st čt pá ne
    pondělí úterý středa čtvrtek pátek neděle hétfő kedd szerda csütörtök péntek szombat vasárnap
    pzt sal çar per cum cmt paz pazartesi salı çarşamba perşembe cuma cumartesi pazar пн вт ср чт
    пт сб вс понедельник вторник среда четверг пятница суббота воскресенье
    """.split()  # noqa: SIM905  by hand
)
"""The days of the week, in full and short: what stands before a date, and says no more than it."""
