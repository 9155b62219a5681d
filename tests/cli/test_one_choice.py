"""Every command that chooses a model chooses the same one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

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
    losses = {one["model"]: one["log_loss"] for one in compared["models"]}
    assert fitted["log_loss"] == pytest.approx(losses)
    found = suffice.compare(X, [f"class {code}" for code in codes], curves=False)
    assert found.best == best
    model = suffice.load(tmp_path / "m.suffice")
    chosen = found.candidate(best).estimator
    assert type(model) is type(chosen)
    assert model.get_params() == chosen.get_params()
