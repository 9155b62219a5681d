"""The summary in words and tables, for the terminal and for the page alike."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.small_tables.contenders import CONTENDERS
from benchmarks.small_tables.facts import facts
from benchmarks.small_tables.summary import LEAST_TO_LEARN, Place, Results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

MAIN_SIZES = (50, 200)
"""The sizes that wins and gains are pooled over."""
WORST = 6
"""Cells that are named as the worst."""


def summary(results: Results, champion: str) -> str:
    """Return all sections as Markdown."""
    if not results.cells:
        return "No cells."
    sections = [_by_size(results), _left_out(results)]
    if champion in results.present:
        sections += [
            _gains(results, champion),
            _worst(results, champion),
            _by_kind(results, champion),
            _by_table(results, champion),
        ]
    else:
        sections.append(f"There are no cells of `{champion}`: no wins and gains.")
    sections.append(_refusals(results))
    return "\n\n".join(filter(None, sections))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table whose columns are also even on a terminal.

    >>> print(table(["a", "b"], [["x", "10"], ["longer", "1"]]))
    | a      |  b |
    |--------|---:|
    | x      | 10 |
    | longer |  1 |
    """
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[j]) for line in lines) for j in range(len(head))]

    def written(cells: Sequence[str]) -> str:
        first, *rest = (
            cell.ljust(width) if j == 0 else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "| " + " | ".join([first, *rest]) + " |"

    rule = "|" + "-" * (widths[0] + 2) + "|"
    rule += "".join("-" * (width + 1) + ":|" for width in widths[1:])
    return "\n".join([written(lines[0]), rule, *(written(line) for line in lines[1:])])


def _label(name: str) -> str:
    return CONTENDERS[name].label if name in CONTENDERS else name


def _mean(values: Iterable[float], digits: int = 3) -> str:
    some = list(values)
    return f"{np.mean(some):.{digits}f}" if some else "-"


def _by_size(results: Results) -> str:
    """Return one table for each number of training rows."""
    parts = []
    for n in results.sizes:
        sets = {place.table for place in results.cells if place.n == n}
        order = sorted(
            results.present,
            key=lambda name: np.mean(list(results.nls(name, [n]).values()) or [9.0]),
        )
        rows = [row for name in order if (row := _scores_row(results, name, n))]
        head = [
            f"n = {n}, {len(sets)} tables", "nl", "median", "log-loss", "Brier", "accuracy",
            "calibration", "rank", "CPU s", "tables", "refused",
        ]  # fmt: skip
        parts.append(table(head, rows))
    return "\n\n".join(parts)


def _scores_row(results: Results, name: str, n: int) -> list[str] | None:
    losses = results.scores(name, n, "log_loss")
    if not losses:
        return None
    seconds = [results.scores(name, n, part).values() for part in ("cpu_fit", "cpu_predict")]
    nls = list(results.nls(name, [n]).values())
    refused = sum(cell.n == n for cell in results.refusals.get(name, ()))
    return [
        _label(name),
        _mean(nls),
        f"{np.median(nls):.3f}" if nls else "-",
        _mean(losses.values()),
        *(
            _mean(results.scores(name, n, score).values())
            for score in ("brier", "accuracy", "calibration")
        ),
        _mean(results.ranks(name, n), 1),
        _mean([sum(pair) for pair in zip(*seconds, strict=True)], 2),
        str(len(losses)),
        str(refused),
    ]


def _left_out(results: Results) -> str:
    hard = results.too_hard
    if not hard:
        return ""
    by_size = {n: [place.table for place in hard if place.n == n] for n in results.sizes}
    words = "; ".join(f"n = {n}: {', '.join(some)}" for n, some in by_size.items() if some)
    return (
        f"Left out of nl, because the best contender is not {LEAST_TO_LEARN:g} better than the "
        f"class shares: {words}."
    )


def _pooled(results: Results) -> tuple[int, ...]:
    return tuple(n for n in results.sizes if n in MAIN_SIZES) or results.sizes


def _others(results: Results, champion: str) -> Iterator[str]:
    return (name for name in results.present if name != champion)


def _gains(results: Results, champion: str) -> str:
    sizes = _pooled(results)
    rows = []
    for other in _others(results, champion):
        found = results.gain(champion, other, sizes)
        if found is None:
            continue
        each = []
        for n in results.sizes:
            wins = results.wins(champion, other, [n])
            each.append(f"{100 * np.mean(list(wins.values())):.0f} %" if wins else "-")
        rows.append([
            _label(other),
            f"{100 * found.wins:.0f} %",
            str(found.places),
            f"{found.nl:+.3f}",
            f"{found.low:+.3f} to {found.high:+.3f}",
            *each,
        ])  # fmt: skip
    pooled = " and ".join(map(str, sizes))
    head = [f"{_label(champion)} against", f"wins, n = {pooled}", "cells", "gain in nl",
            "95 % interval", *(f"wins, n = {n}" for n in results.sizes)]  # fmt: skip
    return table(head, rows)


def _worst(results: Results, champion: str) -> str:
    rows = []
    for name in results.present:
        if name == "prior":
            continue
        row = [_label(name)]
        for n in results.sizes:
            means, places, singles, splits = results.worse_than_shares(name, n)
            row += [f"{means} of {places}", f"{singles} of {splits}"] if places else ["-", "-"]
        rows.append(row)
    head = ["worse than the class shares"]
    for n in results.sizes:
        head += [f"n = {n}", "single splits"]
    means, singles = [], []
    for place in results.cells:
        repeats = results.repeats(place, champion)
        if repeats:
            means.append((results.excess(place, champion, repeats), place, ""))
            singles += [
                (results.excess(place, champion, frozenset([r])), place, f", repeat {r}")
                for r in repeats
            ]
    return (
        f"{table(head, rows)}\n\n"
        f"The worst of {_label(champion)} beside the class shares, in nats. "
        f"Means: {_named(means)}. Single splits: {_named(singles)}."
    )


def _named(found: list[tuple[float, Place, str]]) -> str:
    worst = sorted(found, reverse=True)[:WORST]
    return "; ".join(f"{p.table} n = {p.n}{which} {value:+.3f}" for value, p, which in worst)


def _by_kind(results: Results, champion: str) -> str:
    known = facts()
    kinds: dict[str, Callable[[str], bool]] = {
        "numeric": lambda name: known[name].kind == "numeric",
        "categorical": lambda name: known[name].kind == "categorical",
        "mixed": lambda name: known[name].kind == "mixed",
        "with blanks": lambda name: known[name].blanks > 0,
    }
    sizes = _pooled(results)
    nls = {name: results.nls(name, sizes) for name in results.present}
    sets = {place.table for place in results.cells if place.n in sizes}
    rows = []
    for name, found in nls.items():
        row = [_label(name)]
        for of_kind in kinds.values():
            row.append(_mean(value for place, value in found.items() if of_kind(place.table)))
            if name == champion:
                row.append("")
                continue
            wins = results.wins(champion, name, sizes)
            some = [value for place, value in wins.items() if of_kind(place.table)]
            row.append(f"{100 * np.mean(some):.0f} %" if some else "-")
        rows.append(row)
    head = [f"nl, n = {' and '.join(map(str, sizes))}"]
    for kind, of_kind in kinds.items():
        head += [f"{kind} ({sum(map(of_kind, sets))})", "beaten"]
    return table(head, rows)


def _by_table(results: Results, champion: str) -> str:
    """Return wins and losses by table: against how many others, and who is best."""
    known = facts()
    sizes = _pooled(results)
    rows = []
    for name in sorted({place.table for place in results.cells if place.n in sizes}):
        row = [name, known[name].kind + (", blanks" if known[name].blanks else "")]
        for n in sizes:
            row += _place_row(results, champion, Place(name, n))
        rows.append(row)
    head = ["table", "kind"]
    for n in sizes:
        head += [f"n = {n}", "class shares", "best other", "", "beats"]
    return table(head, rows)


def _place_row(results: Results, champion: str, place: Place) -> list[str]:
    repeats = results.repeats(place, champion) if place in results.cells else frozenset()
    if not repeats:
        return ["-"] * 5
    losses = results.losses(place, champion, repeats)
    own = losses.pop(champion)
    shares = losses.pop("prior", None)
    prior = results.prior(place, repeats) if shares is None else shares
    best = min(losses, key=losses.__getitem__, default=None)
    beaten = sum(own < other for other in losses.values())
    return [
        f"{own:.3f}",
        f"{prior:.3f}",
        "-" if best is None else f"{losses[best]:.3f}",
        best or "",
        f"{beaten} of {len(losses)}",
    ]


def _refusals(results: Results) -> str:
    lines = []
    for name, cells in results.refusals.items():
        reasons = Counter(_reason(cell.refusal) for cell in cells)
        words = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common(4))
        where = ", ".join(sorted({cell.table for cell in cells}))
        lines.append(f"- {_label(name)}: {len(cells)} cells ({where}). {words}")
    return "Cells without a result:\n\n" + "\n".join(lines) if lines else ""


def _reason(refusal: str) -> str:
    return refusal if len(refusal) < 90 else refusal[:87] + "…"
