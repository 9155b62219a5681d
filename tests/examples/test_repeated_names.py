"""A frame whose columns have one name twice is refused in words, whoever reads it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import suffice
from suffice.errors import BadRows

CELLS = np.random.default_rng(0).normal(size=(20, 2))
KIND = ["x", "y"] * 10
READERS: dict[str, Any] = {
    "GaussianDiscriminant": lambda f: suffice.GaussianDiscriminant().fit(f, target="kind"),
    "partial_fit": lambda f: suffice.NaiveBayes().partial_fit(f, target="kind"),
    "logistic": lambda f: suffice.LogisticRegression(missing="indicator").fit(f, target="kind"),
    "texts": lambda f: suffice.TextClassifier().fit(f, target="kind"),
    "pool": lambda f: suffice.Pool(["naive Bayes"]).fit(f, target="kind"),
    "hidden classes": lambda f: suffice.LatentClasses(2).fit(f),
    "a stream of hidden classes": lambda f: suffice.LatentClasses(2).partial_fit(f),
    "mixture": lambda f: suffice.GaussianMixture(2).fit(f),
    "train": lambda f: suffice.train(f, target="kind"),
    "compare": lambda f: suffice.compare(f, target="kind"),
    "audit": lambda f: suffice.audit(f, target="kind"),
    "rows": lambda f: suffice.GaussianDiscriminant().fit(f, KIND),
}


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
@pytest.mark.parametrize("twice", ["age", "kind"])
@pytest.mark.parametrize("reader", READERS)
def test_a_name_that_comes_twice_is_refused_in_words(reader: str, twice: str, library: str) -> None:
    names = ["age", "age", "kind"] if twice == "age" else ["age", "kind", "kind"]
    first, second = (pa.array(CELLS[:, j]) for j in (0, 1))
    table = pa.table([first, second if twice == "age" else pa.array(KIND), pa.array(KIND)], names)
    frame = table if library == "pyarrow" else table.rename_columns(list("abc")).to_pandas()
    if library == "pandas":
        frame.columns = names
    with pytest.raises(BadRows, match=f"more than one column is named {twice}"):
        READERS[reader](frame)


@pytest.mark.parametrize("make", [lambda: suffice.LatentClasses(2), suffice.GaussianMixture])
def test_numbers_that_are_no_names_may_repeat(make: Any) -> None:
    frame = pd.DataFrame(np.column_stack([CELLS, CELLS[:, 0] ** 2]), columns=[0, 0, 1])
    found, same = make().fit(frame), make().fit(frame.to_numpy())
    np.testing.assert_array_equal(found.predict(frame), same.predict(frame.to_numpy()))
