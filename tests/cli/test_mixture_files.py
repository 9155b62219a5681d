"""Files of mixtures: what commands read, and what they say where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
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


@pytest.mark.parametrize("command", ["sample", "outliers", "learn", "forget", "explain"])
def test_what_is_not_there_is_refused_in_words(
    command: str, table: Path, run: Callable[..., Run]
) -> None:
    file = mixture(table, components=2, covariance="EEE")
    before = file.read_bytes()
    said = run(command, file, *([] if command == "sample" else [table]))
    assert said.code == 1
    assert "is a GaussianMixture" in said.err
    assert "Hint: suffice predict" in said.err
    assert file.read_bytes() == before


@pytest.mark.parametrize("command", ["predict", "sql"])
def test_noise_is_not_answered_for(command: str, table: Path, run: Callable[..., Run]) -> None:
    file = mixture(table, components=2, covariance="EEE", noise=True)
    said = run(command, file, *([table] if command == "predict" else []))
    assert said.code == 1
    assert "component of noise" in said.err
