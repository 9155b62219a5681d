"""The tables of reference data beside the project, as pandas reads them."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

FOLDER = Path(__file__).resolve().parents[3] / "shared"
TABLES = FOLDER / "data" / "tab"


@dataclass(frozen=True, slots=True)
class Table:
    """One table: rows exactly as the file has them, labels, and the source's own split."""

    name: str
    X: pd.DataFrame
    y: NDArray[Any]
    split: NDArray[np.str_] | None

    def part(self, which: str) -> tuple[pd.DataFrame, NDArray[Any]]:
        """Return the rows and labels of one part of the split, "train" or "test"."""
        assert self.split is not None
        chosen = self.split == which
        return self.X[chosen], self.y[chosen]

    def taken(self, most: int, seed: int = 0) -> Table:
        """Return at most `most` rows, drawn without regard to the classes."""
        import numpy as np

        if len(self.X) <= most:
            return self
        chosen = np.sort(np.random.default_rng(seed).permutation(len(self.X))[:most])
        split = None if self.split is None else self.split[chosen]
        return Table(self.name, self.X.iloc[chosen], self.y[chosen], split)


def manifest() -> dict[str, dict[str, str]]:
    """Return what is known of every table, by name."""
    with (TABLES / "manifest.csv").open(encoding="utf-8", newline="") as file:
        return {line["name"]: line for line in csv.DictReader(file)}


def names() -> list[str]:
    """Return the names of all tables there are."""
    return sorted(path.name.removesuffix(".csv.gz") for path in TABLES.glob("*.csv.gz"))


def numeric_names(most_width: int = 100) -> list[str]:
    """Return the names of the tables that are all numbers and not wider than `most_width`."""
    known = manifest()
    return [
        name
        for name in names()
        if int(known[name]["categorical"]) == 0 and int(known[name]["features"]) <= most_width
    ]


def load(name: str) -> Table:
    """Return one table: strings stay strings, blanks stay blank, nothing else is done."""
    import pandas as pd

    frame = pd.read_csv(TABLES / f"{name}.csv.gz")
    y = frame.pop("target").to_numpy()
    split = frame.pop("split").to_numpy() if "split" in frame else None
    return Table(name, frame, y, split)


def r_reference() -> dict[str, Any]:
    """Return what R's MASS computed."""
    path = FOLDER / "reference" / "r_reference.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found
