"""Exports of one more round, made before anything was mended for them: banks and spreadsheets."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from tests.reference.made_exports import SIZE, Column, Export, column
from tests.reference.unseen_exports import days, drawn, grouped, moments, money, truths

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

LATER: list[Export] = []


def add(name: str, make: Callable[[Generator], list[Column]], **how: Any) -> None:
    """Add an export."""
    LATER.append(Export(name, make, **how))


def said(name: str, yes: str, no: str) -> Callable[[Generator], Column]:
    return lambda rng: column(name, "truth", truths(rng), lambda v: yes if v else no)


def money_of(
    name: str, form: str, point: str = ",", thousands: str = ".", blank: str = "", digits: int = 2
) -> Callable[[Generator], Column]:
    def cell(v: float) -> str:
        return ("-" if v < 0 else "") + form.format(grouped(abs(v), point, thousands, digits))

    return lambda rng: column(name, "number", money(rng, digits=digits), cell, blank)


def dates_of(name: str, write: Any) -> Callable[[Generator], Column]:
    return lambda rng: column(
        name, "date", days(rng), write if callable(write) else f"{{:{write}}}".format
    )


def times_of(name: str, write: Any) -> Callable[[Generator], Column]:
    return lambda rng: column(
        name, "date", moments(rng), write if callable(write) else f"{{:{write}}}".format
    )


def minutes_of(name: str, write: Any) -> Callable[[Generator], Column]:
    return lambda rng: column(
        name, "date", [t.replace(second=0) for t in moments(rng)],
        write if callable(write) else f"{{:{write}}}".format,
    )  # fmt: skip


def words(name: str, *known: str) -> Callable[[Generator], Column]:
    return lambda rng: column(name, "text", drawn(rng, *known), str)


def whole(
    name: str, low: int, high: int, write: Any = str, blank: str = ""
) -> Callable[[Generator], Column]:
    return lambda rng: column(
        name, "number", [int(v) for v in rng.integers(low, high, SIZE)], write, blank
    )


def table(*columns: Callable[[Generator], Column]) -> Callable[[Generator], list[Column]]:
    return lambda rng: [make(rng) for make in columns]


def month_names(*names: str) -> Callable[[Any], str]:
    return lambda d: names[d.month - 1]


GEN = month_names(
    *["gen", "feb", "mar", "apr", "mag", "giu", "lug", "ago", "set", "ott", "nov", "dic"]
)
ENE = month_names(
    *["ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sep", "oct", "nov", "dic"]
)
THAI = month_names(
    "ม.ค.", "ก.พ.", "มี.ค.", "เม.ย.", "พ.ค.", "มิ.ย.", "ก.ค.", "ส.ค.", "ก.ย.", "ต.ค.", "พ.ย.", "ธ.ค."
)
INDO = month_names("Januari", "Februari", "Maret", "April", "Mei", "Juni", "Juli", "Agustus",
                   "September", "Oktober", "November", "Desember")  # fmt: skip

# Spreadsheets of a dozen languages: their words for true and false, and for errors.
add(
    "swedish sheet",
    table(
        money_of("Belopp", "{} kr", ",", "\xa0"),
        said("Betald", "SANT", "FALSKT"),
        dates_of("Datum", "%Y-%m-%d"),
        money_of("Kvot", "{}", blank="#SAKNAS!"),
    ),
    delimiter=";",
)
add(
    "italian sheet",
    table(
        money_of("Importo", "€ {}"),
        said("Pagato", "VERO", "FALSO"),
        dates_of("Data", lambda d: f"{d.day:02}-{GEN(d)}-{d.year}"),
        money_of("Rapporto", "{}", blank="#RIF!"),
    ),
    delimiter=";",
)
add(
    "german sheet",
    table(
        money_of("Betrag", "{} €", blank="#NV"),
        said("Bezahlt", "WAHR", "FALSCH"),
        dates_of("Datum", "%d.%m.%Y"),
        money_of("Quote", "{}", blank="#BEZUG!"),
        money_of("Rest", "{}", blank="#WERT!"),
    ),
    delimiter=";",
    encoding="windows-1252",
    ending="\r\n",
)
add(
    "french sheet",
    table(
        money_of("Montant", "{} €", ",", "\u202f", blank="#N/D"),
        said("Payé", "VRAI", "FAUX"),
        dates_of("Date", "%d/%m/%Y"),
        money_of("Ratio", "{}", ",", "\u202f", blank="#VALEUR!"),
    ),
    delimiter=";",
    encoding="utf-8-sig",
)
add(
    "spanish sheet",
    table(
        money_of("Importe", "{} €", blank="#¡DIV/0!"),
        said("Pagado", "VERDADERO", "FALSO"),
        dates_of("Fecha", "%d/%m/%Y"),
        money_of("Razón", "{}", blank="#¡REF!"),
    ),
    delimiter=";",
)
add(
    "dutch sheet",
    table(
        lambda rng: column("Bedrag", "number", money(rng), lambda v: "€ " + grouped(v, ",", ".")),
        said("Betaald", "WAAR", "ONWAAR"),
        dates_of("Datum", "%d-%m-%Y"),
        money_of("Deel", "{}", blank="#N/B"),
    ),
    delimiter=";",
)
add(
    "portuguese sheet",
    table(
        money_of("Valor", "{} €", ",", " "),
        said("Pago", "VERDADEIRO", "FALSO"),
        dates_of("Data", "%d/%m/%Y"),
        money_of("Taxa", "{}", blank="#N/D"),
    ),
    delimiter=";",
)
add(
    "finnish sheet",
    table(
        money_of("Summa", "{} €", ",", "\xa0", blank="#PUUTTUU!"),
        said("Maksettu", "TOSI", "EPÄTOSI"),
        minutes_of("Aika", lambda t: f"{t.day}.{t.month}.{t.year} klo {t.hour}.{t.minute:02}"),
    ),
    delimiter=";",
)
add(
    "danish sheet",
    table(
        money_of("Beløb", "kr. {}", blank="#I/T"),
        said("Betalt", "SAND", "FALSK"),
        dates_of("Dato", "%d-%m-%Y"),
    ),
    delimiter=";",
    encoding="latin-1",
)
add(
    "czech sheet",
    table(
        money_of("Částka", "{} Kč", ",", "\xa0", blank="#NENÍ_K_DISPOZICI"),
        said("Zaplaceno", "PRAVDA", "NEPRAVDA"),
        minutes_of("Čas", lambda t: f"{t.day}. {t.month}. {t.year} {t.hour}:{t.minute:02}"),
    ),
    delimiter=";",
)
add(
    "hungarian sheet",
    table(
        money_of("Összeg", "{} Ft", ",", " ", digits=0, blank="#HIÁNYZIK"),
        said("Fizetve", "IGAZ", "HAMIS"),
        dates_of("Dátum", "%Y. %m. %d."),
    ),
    delimiter=";",
)
add(
    "russian bank",
    table(
        money_of("Сумма", "{} руб.", ",", "\xa0", blank="#Н/Д"),
        said("Оплачено", "ИСТИНА", "ЛОЖЬ"),
        times_of("Время", "%d.%m.%Y %H:%M:%S"),
    ),
    delimiter=";",
    encoding="utf-16",
)
add(
    "ukrainian bank",
    table(
        money_of("Сума", "{} грн", ",", " "),
        said("Сплачено", "так", "ні"),
        dates_of("Дата", "%d.%m.%Y"),
        money_of("Кешбек", "{} ₴", ",", " "),
    ),
    delimiter=";",
)
add(
    "greek sheet",
    table(
        money_of("Ποσό", "{} €", blank="#Δ/Υ"),
        said("Πληρωμένο", "ΑΛΗΘΕΣ", "ΨΕΥΔΕΣ"),
        minutes_of(
            "Ώρα",
            lambda t: (
                f"{t.day}/{t.month}/{t.year} {(t.hour - 1) % 12 + 1}:{t.minute:02} "
                + ("πμ" if t.hour < 12 else "μμ")
            ),
        ),
    ),
    delimiter=";",
)
add(
    "polish errors",
    table(
        money_of("Kwota", "{} zł", ",", "\xa0", blank="#N/D!"),
        said("OK", "PRAWDA", "FAŁSZ"),
        money_of("Iloraz", "{}", ",", "\xa0", blank="#DZIEL/0!"),
    ),
    delimiter=";",
)
add(
    "norwegian sheet",
    table(
        money_of("Beløp", "kr {}", ",", "\xa0"),
        said("Betalt", "SANN", "USANN"),
        dates_of("Dato", "%d.%m.%Y"),
    ),
    delimiter=";",
)
# Asia, Africa, the Americas.
add(
    "korean bank",
    table(
        money_of("금액", "₩{}", ".", ",", digits=0),
        said("확인", "예", "아니요"),
        dates_of("날짜", lambda d: f"{d.year}. {d.month}. {d.day}."),
        dates_of("마감", lambda d: f"{d.year}년 {d.month}월 {d.day}일"),
    ),
)
add(
    "chinese shop",
    table(
        money_of("金额", "￥{}", ".", ","),
        said("已付", "是", "否"),
        minutes_of("时间", lambda t: f"{t.year}年{t.month}月{t.day}日 {t.hour:02}:{t.minute:02}"),
        money_of("余额", "{}元", ".", ","),
    ),
    encoding="gb18030",
)
add(
    "thai shop",
    table(
        money_of("ยอด", "฿{}", ".", ","),
        said("จ่ายแล้ว", "ใช่", "ไม่"),
        dates_of("วันที่", lambda d: f"{d.day} {THAI(d)} {d.year + 543}"),
    ),
)
add(
    "indonesian shop",
    table(
        money_of("Harga", "Rp{}"),
        said("Lunas", "Ya", "Tidak"),
        dates_of("Tanggal", lambda d: f"{d.day} {INDO(d)} {d.year}"),
    ),
    delimiter=";",
)
add(
    "mexican bank",
    table(
        money_of("Monto", "${} MXN", ".", ","),
        said("Pagado", "Sí", "No"),
        dates_of("Fecha", lambda d: f"{d.day:02}/{ENE(d)}/{d.year}"),
    ),
)
add(
    "south african bank",
    table(
        money_of("Amount", "R {}", ",", " "),
        dates_of("Date", "%Y/%m/%d"),
        words("Branch", "CPT", "JHB", "DBN"),
    ),
    delimiter=";",
)
add(
    "australian bank",
    table(
        money_of("Amount", "A${}", ".", ","),
        dates_of("Date", "%d/%m/%y"),
        minutes_of(
            "Seen",
            lambda t: (
                f"{t:%d/%m/%Y} {(t.hour - 1) % 12 + 1}:{t.minute:02}{'am' if t.hour < 12 else 'pm'}"
            ),
        ),
    ),
)
add(
    "canadian french bank",
    table(
        money_of("Montant", "{} $", ",", "\xa0"),
        dates_of("Date", "%Y-%m-%d"),
        said("Actif", "Vrai", "Faux"),
    ),
    delimiter=";",
)
add(
    "argentinian bank",
    table(
        money_of("Importe", "$ {}"),
        dates_of("Fecha", "%d/%m/%Y"),
        words("Tipo", "Débito", "Crédito"),
    ),
    delimiter=";",
)
add(
    "kenyan wallet",
    table(
        money_of("Paid In", "KSh {}", ".", ","),
        times_of("Completion Time", "%Y-%m-%d %H:%M:%S"),
        words("Status", "Completed", "Failed"),
    ),
)
add(
    "nigerian bank",
    table(
        money_of("Amount", "NGN {}", ".", ","),
        dates_of("Trans Date", "%d-%b-%Y"),
        money_of("Balance", "₦{}", ".", ","),
    ),
)
add(
    "egyptian and gulf money",
    table(
        money_of("Price", "AED {}", ".", ","),
        money_of("Cost", "E£{}", ".", ","),
        dates_of("Date", "%d %B %Y"),
    ),
)
# Programs.
add(
    "oracle listing",
    table(
        money_of("AMOUNT", "{}", ".", ","),
        dates_of("POSTED", lambda d: f"{d:%d-%b-%y}".upper()),
        words("ORG", "A10", "B20"),
        lambda rng: column(
            "BALANCE",
            "number",
            money(rng),
            lambda v: grouped(abs(v), ".", ",") + (" DR" if v < 0 else " CR"),
        ),
    ),
)
add(
    "bookkeeping, parentheses",
    table(
        lambda rng: column(
            "Amount",
            "number",
            money(rng),
            lambda v: f"({grouped(-v, '.', ',')})" if v < 0 else grouped(v, ".", ","),
        ),
        dates_of("Date", "%m/%d/%Y"),
        words("Account", "4000 Sales", "5000 Cost", "6000 Rent"),
    ),
    above=("Acme LLC", "Transaction Detail by Account", "January - December 2024", ""),
    below=("", '"Wednesday, January 31, 2025 09:13 AM GMT+1 - Accrual Basis"'),
)
add(
    "accounting format",
    table(
        lambda rng: column(
            "Net",
            "number",
            [0.0 if i % 9 == 0 else v for i, v in enumerate(money(rng))],
            lambda v: (
                " $ -   "
                if v == 0
                else f" $ ({grouped(-v, '.', ',')})"
                if v < 0
                else f" $ {grouped(v, '.', ',')} "
            ),
        ),
        words("Unit", "north", "south"),
    ),
)
add(
    "payment service",
    table(
        money_of("Gross", "{}", ".", ","),
        dates_of("Date", "%m/%d/%Y"),
        lambda rng: column(
            "Time", "date", [t.time() for t in moments(rng)], lambda t: f"{t:%H:%M:%S}"
        ),
        words("TimeZone", "PST", "PDT"),
        money_of("Fee", "{}", ".", ","),
    ),
    encoding="utf-8-sig",
)
add(
    "shop platform",
    table(
        times_of("Created at", lambda t: f"{t:%Y-%m-%d %H:%M:%S} +0000"),
        money_of("Total", "{}", ".", ""),
        said("Accepts Marketing", "yes", "no"),
        words("Currency", "EUR", "USD"),
    ),
)
add(
    "market place",
    table(
        times_of("date/time", lambda t: f"{t.day} {t:%b %Y %H:%M:%S} UTC"),
        money_of("total", "{}", ".", ","),
        words("type", "Order", "Refund", "Transfer"),
    ),
    above=(
        '"Includes Marketplace, Fulfilment and Webstore transactions"',
        '"All amounts in GBP, unless specified"',
    ),
)
add(
    "advertisements",
    table(
        whole("Impr.", 0, 90000, "{:,}".format),
        lambda rng: column(
            "CTR",
            "number",
            [round(v, 4) for v in rng.uniform(0, 1, SIZE)],
            lambda v: f"{100 * v:.2f}%",
            " --",
        ),
        money_of("Cost", "{}", ".", ",", blank=" --"),
        words("Device", "Mobile phones", "Computers"),
    ),
    above=("Campaign report", '"January 1, 2024 - January 31, 2024"'),
)
add(
    "running watch",
    table(
        lambda rng: column(
            "Time",
            "date",
            [dt.timedelta(seconds=int(v)) for v in rng.integers(3600, 15000, SIZE)],
            str,
            "--",
        ),
        whole("Avg HR", 100, 190, blank="--"),
        times_of("Date", "%Y-%m-%d %H:%M:%S"),
        said("Favorite", "true", "false"),
    ),
)
add(
    "mails as in headers",
    table(
        times_of("Date", lambda t: f"{t:%a, %d %b %Y %H:%M:%S} +0000"),
        whole("Size", 100, 99999),
        words("Folder", "INBOX", "Sent"),
    ),
)
add(
    "web server log",
    table(
        times_of("time", lambda t: f"{t:%d/%b/%Y:%H:%M:%S} +0000"),
        whole("bytes", 100, 99999, blank="-"),
        words("method", "GET", "POST"),
    ),
)
add(
    "indian offsets",
    table(
        lambda rng: column(
            "at",
            "date",
            [
                t.replace(tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=30)))
                for t in moments(rng)
            ],
            lambda t: t.isoformat(),
            gaps=False,
        ),
        lambda rng: column("utc", "date", moments(rng), lambda t: f"{t:%Y-%m-%dT%H:%M:%S}.000Z"),
        whole("n", 0, 500),
    ),
)
add(
    "statistics program",
    table(
        lambda rng: column("income", "number", money(rng, 0), lambda v: f"{v:.2f}", ".a"),
        whole("kids", 0, 9, blank="."),
        words("region", "East", "West"),
    ),
    delimiter="\t",
)
# Quarters, months, durations.
add(
    "fiscal quarters",
    table(
        words("Period", "FY24 Q1", "FY24 Q2", "FY24 Q3", "FY24 Q4", "FY25 Q1"),
        money_of("Revenue", "${}", ".", ","),
        words("Half", "H1 2024", "H2 2024", "H1 2025"),
    ),
)
add(
    "months alone",
    table(
        lambda rng: column(
            "Month", "date", [d.replace(day=1) for d in days(rng)], "{:%Y-%m}".format
        ),
        lambda rng: column(
            "Billed", "date", [d.replace(day=1) for d in days(rng)], "{:%b-%y}".format
        ),
        lambda rng: column("Due", "date", [d.replace(day=1) for d in days(rng)], "{:%m/%Y}".format),
    ),
)
add(
    "durations in letters",
    table(
        lambda rng: column(
            "Spent",
            "date",
            [dt.timedelta(minutes=int(v)) for v in rng.integers(5, 900, SIZE)],
            lambda v: f"{v.seconds // 3600}h {v.seconds // 60 % 60}m",
        ),
        lambda rng: column(
            "Call",
            "date",
            [dt.timedelta(seconds=int(v)) for v in rng.integers(5, 3000, SIZE)],
            lambda v: f"{v.seconds // 60}m {v.seconds % 60:02}s",
        ),
        words("Team", "red", "blue"),
    ),
)
add(
    "years of two centuries",
    table(
        lambda rng: column(
            "Born",
            "date",
            [dt.date(1950, 1, 1) + dt.timedelta(days=int(v)) for v in rng.integers(0, 26000, SIZE)],
            "{:%d.%m.%Y}".format,
        ),
        lambda rng: column(
            "Hired",
            "date",
            [dt.date(1985, 1, 1) + dt.timedelta(days=int(v)) for v in rng.integers(0, 14000, SIZE)],
            "{:%d.%m.%y}".format,
        ),
        whole("Kids", 0, 7),
    ),
    delimiter=";",
)
