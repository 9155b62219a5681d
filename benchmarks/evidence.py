"""The full counts behind every claim, written to docs/evidence.md.

    python -m benchmarks.evidence                  everything (long)
    python -m benchmarks.evidence --only coverage  benchmarks/evidence_coverage.py alone

A module `benchmarks/evidence_<name>.py` offers `measure()`, which yields one `Figure` for each
claim it has measured. Its table becomes the section <name> of docs/evidence.md; sections of modules
that were not run stay as they are.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "evidence.md"
OPENING = """\
# Evidence

Every figure below was measured by the command beside it, on the date beside it. `make evidence`
measures them all again.
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """One claim and what was measured.

    `figure` and `bound` are for readers ("0.953", "0.91 to 0.98"); `holds` is the verdict, and
    `command` is what measures this figure again.
    """

    claim: str
    figure: str
    bound: str
    holds: bool
    command: str


def names(folder: Path = HERE) -> list[str]:
    """Return the registered modules, by the part of their name after `evidence_`."""
    return sorted(path.stem.removeprefix("evidence_") for path in folder.glob("evidence_*.py"))


def measured(name: str, measure: Callable[[], Iterable[Figure]]) -> list[Figure]:
    """Run one module and report as it goes; a crash is a claim that does not hold."""
    figures: list[Figure] = []
    try:
        for figure in measure():
            figures.append(figure)
            verdict = "holds" if figure.holds else "FAILS"
            print(f"{verdict}  {figure.claim}: {figure.figure} (bound: {figure.bound})", flush=True)
    except Exception as error:  # noqa: BLE001 - the other figures are still worth having
        what = f"{type(error).__name__}: {error}".splitlines()[0]
        print(f"FAILS  {name} stopped: {what}", flush=True)
        command = f"python -m benchmarks.evidence --only {name}"
        figures.append(Figure(f"{name} runs to its end", what, "no error", False, command))
    return figures


def section(name: str, figures: Iterable[Figure], date: str) -> str:
    """Return one module's table in Markdown."""

    def cell(text: str) -> str:
        return text.replace("|", "\\|").replace("\n", " ")

    lines = [
        f"## {name}",
        "",
        "| what | figure | bound | holds | command | date |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {cell(f.claim)} | {cell(f.figure)} | {cell(f.bound)} "
        f"| {'yes' if f.holds else '**no**'} | `{cell(f.command)}` | {date} |"
        for f in figures
    ]
    return "\n".join(lines) + "\n"


def page(sections: dict[str, str]) -> str:
    """Return the whole page, sections in the order of their names."""
    return "\n".join([OPENING, *(sections[name] for name in sorted(sections))])


def sections_of(text: str) -> dict[str, str]:
    """Return the sections of a page written before, by name."""
    parts = re.split(r"(?m)^(?=## )", text)[1:]
    return {part.splitlines()[0].removeprefix("## "): part.rstrip("\n") + "\n" for part in parts}


def write(path: Path, text: str) -> None:
    """Replace `path` in one step, so that an interrupted run leaves the old page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    with fresh.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, write the page, and return 1 if anything does not hold."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.evidence",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", action="append", metavar="NAME", help="measure this module alone")
    parser.add_argument("--output", type=Path, default=PAGE, help="the page (docs/evidence.md)")
    asked = parser.parse_args(argv)
    chosen = asked.only or names()
    unknown = sorted(set(chosen) - set(names()))
    if unknown:
        parser.error(
            f"no evidence named {', '.join(unknown)}; there is {', '.join(names()) or 'none'}"
        )

    verdicts: list[bool] = []
    for name in chosen:
        print(f"-- {name}", flush=True)
        module = importlib.import_module(f"benchmarks.evidence_{name}")
        figures = measured(name, module.measure)
        verdicts += [figure.holds for figure in figures]
        # Written after every module, and read anew: hours of measuring should hang neither on the
        # last of them nor on what was measured meanwhile.
        sections = sections_of(asked.output.read_text("utf-8")) if asked.output.exists() else {}
        sections = {other: text for other, text in sections.items() if other in names()}
        sections[name] = section(name, figures, f"{datetime.now(UTC):%Y-%m-%d}")
        write(asked.output, page(sections))
    print(f"{sum(verdicts)} of {len(verdicts)} claims hold -> {asked.output}")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
