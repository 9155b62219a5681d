"""Rows that mixtures draw keep to what the columns of their table showed."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from suffice import GaussianMixture, LatentClasses, MixtureDiscriminant
from suffice.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def rows(size: int = 300) -> Any:
    """Return an amount, a count and a share: normal laws leave the bounds of each."""
    rng = np.random.default_rng(0)
    return np.column_stack(
        [np.exp(rng.normal(3, 1, size)).round(2), rng.poisson(1, size), rng.beta(0.4, 0.4, size)]
    )


def drawn(name: str, **how: Any) -> Any:
    """Return rows drawn by one of the mixtures."""
    X = rows()
    if name == "discriminant":
        return MixtureDiscriminant(2, "EEE").fit(X, X[:, 0] > 20).sample(500, None, 0, **how)[0]
    if name == "latent":
        model = LatentClasses(2, families="gaussian", random_state=0).fit(X)
        return model.sample(500, 0, **how)[0]
    return GaussianMixture(2, name).fit(X).sample(500, 0, **how)[0]


@pytest.mark.parametrize("name", ["VVV", "EEI", "VVI", "discriminant", "latent"])
def test_no_number_is_outside_of_what_rows_showed(name: str) -> None:
    X = rows()
    law, found = np.asarray(drawn(name)), np.asarray(drawn(name, within=X))
    assert (law < X.min(axis=0)).any()  # else nothing would be shown
    assert (found >= X.min(axis=0)).all()
    assert (found <= X.max(axis=0)).all()
    assert (found[:, 1] == np.round(found[:, 1])).all()
    assert np.abs(found.mean(axis=0) - X.mean(axis=0)).max() < 0.35 * X.std(axis=0).max()
    np.testing.assert_array_equal(drawn(name, within=None), law)


def test_rules_that_are_none_are_refused() -> None:
    model = GaussianMixture(2, "VVV").fit(rows())
    with pytest.raises(BadSetting, match="is not a rule"):
        model.sample(5, within="somehow")
    with pytest.raises(BadSetting, match="has not recorded"):
        model.sample(5, within="training")


@pytest.mark.parametrize("model", [[], ["--model", "latent-classes"]])
def test_files_of_clusters_know_their_bounds(
    model: list[str], run: Callable[..., Any], tmp_path: Path
) -> None:
    table, out = tmp_path / "a.csv", tmp_path / "m.suffice"
    given = pd.DataFrame(rows(150), columns=["amount", "count", "share"]).round(3)
    given.to_csv(table, index=False)
    assert run("cluster", table, "-k", "2", *model, "-o", out).code == 0
    found = pd.read_csv(io.StringIO(run("sample", out, "-n", "300").out))[list(given)]
    assert (found >= given.min()).all(axis=None)
    assert (found <= given.max()).all(axis=None)
    beyond = pd.read_csv(io.StringIO(run("sample", out, "-n", "300", "--beyond").out))[list(given)]
    assert (beyond < given.min()).any(axis=None)
