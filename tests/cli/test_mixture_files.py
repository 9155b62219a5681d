"""Files of mixtures: what commands read, and what they say where they do not."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from suffice import GaussianMixture

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(size=(30, 2)), rng.normal(size=(20, 2)) + 9.0])
    place = tmp_path / "rows.csv"
    lines = [",".join(map(str, row)) for row in rows]
    place.write_text("\n".join(["height,width", *lines, ""]), "utf-8")
    return place


def mixture(table: Path, **settings: object) -> Path:
    rows = np.loadtxt(table, delimiter=",", skiprows=1)
    place = table.with_suffix(".suffice")
    GaussianMixture(**settings).fit(rows).save(place)  # type: ignore[arg-type]
    return place


def test_components_are_predicted_described_and_compared(
    table: Path, run: Callable[..., Run]
) -> None:
    file = mixture(table, components=[1, 2], covariance="auto")
    said = run("predict", file, table)
    assert said.code == 0
    assert said.out.split()[1:] == ["0"] * 30 + ["1"] * 20
    said = run("inspect", file)
    assert said.code == 0
    assert "GaussianMixture, learned from 50 rows" in said.out
    assert run("diff", file, file).code == 0
    assert run("sql", file).code == 0


@pytest.mark.parametrize("command", ["learn", "forget"])
def test_what_is_not_there_is_refused_in_words(
    command: str, table: Path, run: Callable[..., Run]
) -> None:
    file = mixture(table, components=2, covariance="EEE")
    before = file.read_bytes()
    said = run(command, file, table)
    assert said.code == 1
    assert "is a GaussianMixture" in said.err
    assert "Hint: suffice predict" in said.err
    assert file.read_bytes() == before


@pytest.mark.parametrize("noise", [False, True])
def test_clusters_are_drawn_judged_and_explained(
    noise: bool, table: Path, run: Callable[..., Run]
) -> None:
    file = table.with_suffix(".suffice")
    frame = pd.read_csv(table)
    model = GaussianMixture(2, "EEE", noise=noise).fit(frame)
    model.save(file)
    drawn = pd.read_csv(io.StringIO(run("sample", file, "-n", "40", "--class", "1").out))
    assert drawn.columns.tolist() == ["height", "width", "cluster"]
    assert set(drawn.cluster) == {1}
    assert (model.predict(drawn[["height", "width"]]) == 1).all()
    said = run("sample", file, "--class", "7")
    assert said.code == 1
    assert "the classes are 0, 1" in said.err
    with table.open("a", encoding="utf-8") as file_of_rows:
        file_of_rows.write("40,-40\n")
    odd = run("outliers", file, table, "--most", "1").out.splitlines()
    assert odd[0] == "row,cluster,typicality"
    assert odd[1].startswith("51,")
    judged = model.typicality(pd.read_csv(table)).max(axis=1)
    assert float(odd[1].split(",")[2]) == pytest.approx(judged[-1], abs=1e-6)
    said = run("explain", file, table, "--row", "3", "--json")
    (one,) = json.loads(said.out)
    odds = model.explain(frame.iloc[[2]]).log_odds[0]
    assert one["of"] == 0
    assert one["log_odds"] == pytest.approx(odds)
    content = json.loads(run("inspect", file, "--json").out)
    assert content["mixture"]["bic"] == pytest.approx(model.bic(frame))
    assert content["mixture"]["form"] == "EEE"
    assert ("Noise: " in run("inspect", file).out) == (noise and model.weights_[-1] > 0)


@pytest.mark.parametrize("command", ["predict", "sql"])
def test_noise_is_not_answered_for(command: str, table: Path, run: Callable[..., Run]) -> None:
    file = mixture(table, components=2, covariance="EEE", noise=True)
    said = run(command, file, *([table] if command == "predict" else []))
    assert said.code == 1
    assert "noise component" in said.err
