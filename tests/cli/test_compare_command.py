"""`suffice compare`: what is compared, and with what."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path


def test_an_estimator_of_scikit_learn_is_compared_beside_ours(run: Any, flowers: Path) -> None:
    tree = "sklearn.tree.DecisionTreeClassifier"
    done = run("compare", flowers, "-t", "kind", "--no-curves", "--with", tree, "--json")
    names = {row["model"] for row in json.loads(done.out)["models"]}
    assert {"DecisionTreeClassifier", "GDA (shared covariance)", "GDA (auto)"} <= names


def test_it_can_be_compared_with_one_of_ours_alone(run: Any, flowers: Path) -> None:
    done = run(
        "compare", flowers, "-t", "kind", "--no-curves", "--model", "gda", "--json",
        "--with", "sklearn.naive_bayes.GaussianNB",
    )  # fmt: skip
    names = {row["model"] for row in json.loads(done.out)["models"]}
    assert names == {"GDA (shared covariance)", "GaussianNB"}


@pytest.mark.parametrize(
    "name", ["os.system", "sklearn.nowhere.Nothing", "sklearn.ensemble.VotingClassifier", "tree"]
)
def test_what_is_no_estimator_of_scikit_learn_is_not_imported(
    name: str, run: Any, flowers: Path
) -> None:
    done = run("compare", flowers, "-t", "kind", "--no-curves", "--with", name)
    assert done.code == 1
    assert done.err.splitlines()[-2:][0].startswith(
        f"error: {name!r} is not a scikit-learn classifier"
    )
    assert not done.out
