"""The generated part of docs/small-tables.md."""

from __future__ import annotations

import csv
from datetime import date
from typing import TYPE_CHECKING

from benchmarks.small_tables.printing import summary, table
from benchmarks.small_tables.tables import FOLDER

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.small_tables.summary import Results

START = "<!-- From here to the next mark: made by `python -m benchmarks.small_tables --page`. -->"
END = "<!-- End of what is made. -->"
PUBLISHED = FOLDER.parents[1] / "reference" / "tabzilla_small.csv"
"""TabZilla's mean log-losses after tuning, on folds of its own."""
THEIR_NAMES = {
    "colic (25)": "horse_colic",
    "credit-approval": "credit_a",
    "diabetes (pima)": "pima",
    "lymph": "lymphography",
    "mfeat-morphological": "mfeat_morph",
    "splice": "dna_binary",
    "vowel": "vowel_esl",
}
"""Tables that have another name there; in others, a dash is an underscore here."""


def write_page(path: Path, results: Results, champion: str) -> None:
    """Put the summary between the marks of a page; the rest of it stays."""
    text = path.read_text("utf-8")
    if text.count(START) != 1 or text.count(END) != 1:
        raise SystemExit(f"{path} needs the two marks once each:\n{START}\n{END}")
    before, rest = text.split(START)
    after = rest.split(END)[1]
    made = f"Measured up to {date.today().isoformat()}.\n\n{summary(results, champion)}"  # noqa: DTZ011
    beside = published(results, champion)
    path.write_text(f"{before}{START}\n\n{made}\n\n{beside}\n\n{END}{after}", "utf-8")


def published(results: Results, champion: str) -> str:
    """Return a table of ours beside TabZilla's, for tables that both have."""
    largest = {}
    for place in sorted(results.cells, key=lambda place: place.n):
        if results.repeats(place, champion):
            largest[place.table] = place
    rows = []
    with PUBLISHED.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            name = THEIR_NAMES.get(row["dataset"], row["dataset"].replace("-", "_"))
            if name not in largest:
                continue
            place = largest[name]
            own = results.mean(place, champion, results.repeats(place, champion), "log_loss")
            theirs = [row[key] for key in ("best_of_18", "catboost_tuned", "linear_model")]
            rows.append([name, str(place.n), f"{own:.3f}", *(_number(text) for text in theirs)])
    if not rows:
        return ""
    head = ["log-loss; other folds", "rows here", "here", "best of 18", "CatBoost, tuned", "linear"]
    return (
        "Beside TabZilla's published figures: other folds, most of the table to learn from, "
        "settings tuned. They stand beside ours, not against them.\n\n" + table(head, rows)
    )


def _number(text: str) -> str:
    return f"{float(text):.3f}" if text else "-"
