"""Texts beside columns: log-loss of both together, and of either alone.

    python -m benchmarks.text_columns [--real] [--family bytes]

Three tables that are made, and with `--real` the SMS Spam Collection and 20 Newsgroups
(`tests/reference/text_tables.py`). Each is naive Bayes fitted on the training part and judged on
the other: all columns, the texts alone, the other columns alone; and `TextClassifier` of words.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice import NaiveBayes, TextClassifier
from tests.reference.text_tables import MADE, newsgroups_table, sms_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.reference.text_tables import TextTable


class Judged:
    """The mean log-loss of some columns of a table, its standard error, errors and CPU time."""

    def __init__(
        self, table: TextTable, names: tuple[str, ...], family: str, **settings: Any
    ) -> None:
        families = {j: family for j, name in enumerate(names) if name in table.texts}
        begun = time.process_time()
        model = NaiveBayes(families, **settings)
        model.fit(table.rows(names, test=False), table.y(test=False))
        self._keep(model, table.rows(names, test=True), table.y(test=True))
        self.seconds = time.process_time() - begun

    def _keep(self, model: Any, rows: Any, y: NDArray[Any]) -> None:
        proba = model.predict_proba(rows)
        places = np.searchsorted(model.classes_, y)
        own = np.maximum(proba[np.arange(len(y)), places], 1e-16)
        self.losses = -np.log(own)
        self.loss = float(self.losses.mean())
        self.error = float(np.mean(model.predict(rows) != y))


def judged(table: TextTable, family: str) -> dict[str, Judged]:
    """Return how good all columns, the texts and the others are."""
    every = tuple(table.columns)
    return {
        "all": Judged(table, every, family),
        "texts": Judged(table, table.texts, family),
        "others": Judged(table, table.others, family),
    }


def text_classifier(table: TextTable, family: str) -> float:
    """Return the log-loss of `TextClassifier`, which is another path to the same."""
    y = table.y(test=False)

    def texts(*, test: bool) -> list[str]:
        rows = table.rows(table.texts, test=test)
        return ["\n".join(cell for cell in row if cell is not None) for row in rows]

    model = TextClassifier("boolean" if family == "words" else "language").fit(texts(test=False), y)
    proba = model.predict_proba(texts(test=True))
    y = table.y(test=True)
    own = proba[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return float(-np.log(np.maximum(own, 1e-16)).mean())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.text_columns", description=__doc__)
    parser.add_argument("--real", action="store_true", help="SMS and 20 Newsgroups, too")
    parser.add_argument("--family", choices=["words", "bytes"], default="words")
    options = parser.parse_args()
    tables = [make() for make in MADE]
    if options.real:
        tables += [sms_table(), newsgroups_table()]
    print("| table | rows | all | texts alone | others alone | gain over the better, ± | "
          "TextClassifier | errors: all, texts, others | CPU s |")  # fmt: skip
    print("|" + "---|" * 9)
    for table in tables:
        found = judged(table, options.family)
        better = min(("texts", "others"), key=lambda name: found[name].loss)
        gain = found[better].losses - found["all"].losses
        alone = text_classifier(table, options.family)
        errors = ", ".join(f"{100 * one.error:.1f} %" for one in found.values())
        print(
            f"| {table.name} | {table.training} | {found['all'].loss:.4f} | "
            f"{found['texts'].loss:.4f} | {found['others'].loss:.4f} | {gain.mean():+.4f} ± "
            f"{gain.std() / np.sqrt(len(gain)):.4f} | {alone:.4f} | {errors} | "
            f"{found['all'].seconds:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
