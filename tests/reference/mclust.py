"""Tables and values of R's mclust, from the reference data beside the project."""

from __future__ import annotations

import csv
import json
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.reference.data_sets import FOLDER

if TYPE_CHECKING:
    from numpy.typing import NDArray

FILES = {
    "faithful": "faithful",
    "diabetes": "diabetes_mclust",
    "thyroid": "thyroid",
    "banknote": "banknote_swiss",
}
"""Files of the tables that are not in scikit-learn."""
TABLES = ("iris", *FILES)
"""Every table that R's values are for."""


@cache
def mclust_reference() -> dict[str, Any]:
    """Return what R's mclust 6.0.0 made of each table."""
    text = (FOLDER / "reference" / "mclust_reference.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@cache
def mclust_table(name: str) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return rows and known classes, in R's order."""
    if name == "iris":
        from sklearn.datasets import load_iris

        data = load_iris()
        return data.data, np.asarray(data.target_names)[data.target]
    with (FOLDER / "data" / "clusters" / f"{FILES[name]}.csv").open(encoding="utf-8") as file:
        header, *lines = list(csv.reader(file))
    columns = [j for j, column in enumerate(header) if column != "target"]
    rows = np.array([[float(line[j]) for j in columns] for line in lines])
    return rows, np.array([line[0] for line in lines])
