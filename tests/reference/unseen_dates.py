"""Exports that were made to see how those of strangers fare: dates and times in many notations."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from tests.reference.made_exports import SIZE, Column, column
from tests.reference.unseen_exports import (
    TABLES,
    days,
    drawn,
    export,
    grouped,
    moments,
    money,
    truths,
)

if TYPE_CHECKING:
    from numpy.random import Generator

MONTHS = {
    "italian": (
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre "
        "novembre dicembre"
    ),
    "portuguese": (
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"
    ),
    "russian": ("янв. февр. мар. апр. мая июн. июл. авг. сент. окт. нояб. дек."),
    "norwegian": ("jan. feb. mars apr. mai juni juli aug. sep. okt. nov. des."),
    "finnish": (
        "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta "
        "elokuuta syyskuuta lokakuuta marraskuuta joulukuuta"
    ),
    "hungarian": (
        "január február március április május június július augusztus szeptember október "
        "november december"
    ),
    "catalan": (
        "gener febrer març abril maig juny juliol agost setembre octubre novembre desembre"
    ),
    "romanian": (
        "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie "
        "noiembrie decembrie"
    ),
    "croatian": (
        "siječnja veljače ožujka travnja svibnja lipnja srpnja kolovoza rujna listopada "
        "studenoga prosinca"
    ),
}
"""Names of months as exports have them."""


@export("times of day")
def _(rng: Generator) -> list[Column]:
    clock = [dt.time(int(v) // 60, int(v) % 60) for v in rng.integers(0, 1440, SIZE)]
    spans = [dt.timedelta(seconds=int(v)) for v in rng.integers(60, 30000, SIZE)]
    return [
        column("start", "date", clock, lambda t: f"{t.hour}:{t.minute:02}"),
        column("end", "date", clock[::-1], lambda t: f"{t:%I:%M %p}"),
        column("lap", "date", spans, str),
        column("iso", "number", [s / dt.timedelta(hours=1) for s in spans], _iso),
        column("wait", "asked", [int(v) for v in rng.integers(5, 90, SIZE)], lambda v: f"{v} min"),
    ]


def _iso(hours: float) -> str:
    seconds = round(hours * 3600)
    return f"PT{seconds // 3600}H{seconds // 60 % 60}M{seconds % 60}S"


@export("two digits of years", delimiter="\t")
def _(rng: Generator) -> list[Column]:
    return [
        column(
            "opened", "date", days(rng, "1994-02-03", 6000), lambda d: f"{d.day}.{d.month}.{d:%y}"
        ),
        column("closed", "date", days(rng), lambda d: f"{d.month}/{d.day}/{d:%y}"),
        column("due", "date", days(rng), lambda d: f"{d:%d-%b-%y}".upper()),
        column("month", "date", [d.replace(day=1) for d in days(rng)], lambda d: f"{d:%b-%y}"),
    ]


@export("months of many languages", delimiter="|")
def _(rng: Generator) -> list[Column]:
    def of(names: str, how: str) -> Any:
        held = names.split()
        return lambda d: how.format(d=d.day, m=held[d.month - 1], y=d.year)

    written = {
        "italian": "{d} {m} {y}",
        "portuguese": "{d} de {m} de {y}",
        "russian": "{d} {m} {y} г.",
        "norwegian": "{d}. {m} {y}",
        "finnish": "{d}. {m} {y}",
        "hungarian": "{y}. {m} {d}.",
        "catalan": "{d} {m} {y}",
        "romanian": "{d} {m} {y}",
        "croatian": "{d}. {m} {y}.",
    }
    return [column(n, "date", days(rng), of(MONTHS[n], how)) for n, how in written.items()]


@export("german weekdays and quarters", delimiter=";")
def _(rng: Generator) -> list[Column]:
    held = days(rng)
    names = ["Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"]

    def start(d: dt.date) -> dt.date:
        return d.replace(month=3 * ((d.month - 1) // 3) + 1, day=1)

    return [
        column("Tag", "date", held, lambda d: f"{names[d.weekday()]}, {d:%d.%m.%Y}"),
        column(
            "Quartal",
            "date",
            list(map(start, held)),
            lambda d: f"{d.month // 3 + 1}. Quartal {d.year}",
        ),
        column("Q", "date", list(map(start, days(rng))), lambda d: f"Q{d.month // 3 + 1} {d:%Y}"),
        column(
            "KW",
            "date",
            [d - dt.timedelta(days=d.weekday()) for d in days(rng)],
            lambda d: f"KW {d.isocalendar()[1]:02}/{d.isocalendar()[0]}",
        ),
        column("Jahr", "number", [d.year for d in held], str),
        column("Monat", "text", drawn(rng, "Januar", "Mai", "Oktober"), str),
    ]


@export("eras and ten thousands", encoding="utf-8-sig")
def _(rng: Generator) -> list[Column]:
    return [
        column("日付", "date", days(rng), lambda d: f"令和{d.year - 2018}年{d.month}月{d.day}日"),
        column("金額", "number", money(rng, 1, 9e6, 0), lambda v: f"￥{v:,.0f}"),
        column("売上", "asked", money(rng, 1, 900, 1), lambda v: f"{v}万"),
        column(
            "時刻",
            "date",
            [dt.time(int(v) // 60, int(v) % 60) for v in rng.integers(0, 1440, SIZE)],
            lambda t: f"{t.hour}時{t.minute:02}分",
        ),
    ]


@export("northern times", delimiter=";")
def _(rng: Generator) -> list[Column]:
    held = [t.replace(second=0) for t in moments(rng)]
    return [
        column("svensk", "date", held, lambda t: f"{t:%Y-%m-%d} kl. {t:%H:%M}"),
        column(
            "suomi", "date", held[::-1], lambda t: f"{t.day}.{t.month}.{t.year} klo {t.hour}.{t:%M}"
        ),
        column("dansk", "date", held, lambda t: f"{t:%d-%m-%Y kl. %H.%M}"),
        column(
            "belopp",
            "number",
            money(rng),
            lambda v: grouped(abs(v), ",", "\u00a0").join(["\u2212" * (v < 0), " SEK"]),
        ),
    ]


@export("american afternoons")
def _(rng: Generator) -> list[Column]:
    return [
        column(
            "posted", "date", moments(rng), lambda t: f"{t:%b} {t.day}, {t.year}, {t:%I:%M:%S %p}"
        ),
        column("short", "date", days(rng), lambda d: f"{d.month}/{d.day}/{d:%y} 0:00"),
        column(
            "amount",
            "number",
            money(rng),
            lambda v: f"${grouped(v, '.', ',')}" if v >= 0 else f"-${grouped(-v, '.', ',')}",
        ),
        column("k", "asked", money(rng, 1, 90, 1), lambda v: f"${v}k"),
        column("bool", "truth", truths(rng), lambda v: "Yes" if v else "No", "N/A"),
    ]


__all__ = ["TABLES"]
