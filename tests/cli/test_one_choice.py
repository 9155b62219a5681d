"""Every command that chooses a model chooses the same one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import suffice
from tests.examples.test_chosen_models import table

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("kind", ["numbers", "blank numbers", "texts"])
def test_fit_takes_what_compare_recommends(run: Any, tmp_path: Path, kind: str) -> None:
    X, codes = table(kind)
    place = tmp_path / "table.csv"
    X.assign(label=[f"class {code}" for code in codes]).to_csv(place, index=False)
    done = run("fit", place, "-t", "label", "-o", tmp_path / "m.suffice", "--json")
    assert done.code == 0, done.err
    fitted = json.loads(done.out)
    compared = json.loads(run("compare", place, "-t", "label", "--no-curves", "--json").out)
    best = compared["recommendation"]["model"]
    assert compared["recommendation"]["best"] == best
    assert f"note: chose {best}: " in done.err
    assert fitted["judged"] == pytest.approx(compared["recommendation"]["judged"])
    losses = {one["model"]: one["log_loss"] for one in compared["models"]}
    assert fitted["log_loss"] == pytest.approx(losses)
    found = suffice.compare(X, [f"class {code}" for code in codes], curves=False)
    assert found.best == best
    model = suffice.load(tmp_path / "m.suffice")
    chosen = found.candidate(best).estimator
    assert type(model) is type(chosen)
    assert model.get_params() == chosen.get_params()


@pytest.mark.parametrize("kind", ["numbers", "texts"])
def test_best_is_the_single_model_of_least_loss(run: Any, tmp_path: Path, kind: str) -> None:
    X, codes = table(kind)
    place = tmp_path / "table.csv"
    X.assign(label=[f"class {code}" for code in codes]).to_csv(place, index=False)
    done = run(
        "fit", place, "-t", "label", "--model", "best", "-o", tmp_path / "m.suffice", "--json"
    )
    assert done.code == 0, done.err
    compared = json.loads(run("compare", place, "-t", "label", "--no-curves", "--json").out)
    losses = {one["model"]: one["log_loss"] for one in compared["models"]}
    del losses["pool of models"]
    assert json.loads(done.out)["log_loss"] == pytest.approx(losses)
    assert f"note: chose {min(losses, key=losses.__getitem__)}: " in done.err


@pytest.mark.slow
def test_report_train_fit_and_compare_name_the_same_model(run: Any, tmp_path: Path) -> None:
    X, codes = table("blank texts")
    frame = X.assign(label=[f"class {code}" for code in codes])
    place = tmp_path / "table.csv"
    frame.to_csv(place, index=False)
    page = run("report", place, "-t", "label", "--json", "--no-pictures", "-o", tmp_path / "p.html")
    assert page.code == 0, page.err
    best = json.loads(page.out)["recommended"]
    trained = suffice.train(place, target="label")
    assert trained.choice is not None
    assert trained.choice.model == best
    assert trained.judged is not None
    assert trained.judged.to_dict() == pytest.approx(json.loads(page.out)["judged"])
    again = suffice.train(frame, target="label")
    assert again.choice == trained.choice
    np.testing.assert_allclose(
        again.estimator.predict_proba(X), trained.estimator.predict_proba(X), rtol=1e-9
    )


def test_a_file_without_statistics_holds_no_pool(run: Any, tmp_path: Path) -> None:
    X, codes = table("texts")
    place, model = tmp_path / "table.csv", tmp_path / "m.suffice"
    X.assign(label=[f"class {code}" for code in codes]).to_csv(place, index=False)
    done = run("fit", place, "-t", "label", "--without-statistics", "-o", model)
    assert done.code == 0, done.err
    assert (
        "note: the best single model is chosen instead of a pool: a file without stat" in done.err
    )
    assert not isinstance(suffice.load(model), suffice.Pool)
