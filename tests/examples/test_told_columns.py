"""What columns are, by what they tell: codes among whole numbers, and numbers that name rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.storage.model_file import read_model
from suffice.training.table_columns.code_columns import smoothness
from suffice.training.table_columns.row_names import is_named_so

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

SIZE = 4000


def made_table(seed: int, codes: int) -> pd.DataFrame:
    """Return codes without any order beside quantities with few values, and a class."""
    rng = np.random.default_rng(seed)
    columns: dict[str, NDArray[Any]] = {}
    score = np.zeros(SIZE)
    for j in range(codes):
        many = int(rng.integers(6, 16))
        effects = rng.permutation(np.linspace(-1.2, 1.2, many))
        cells = rng.integers(0, many, SIZE)
        columns[f"code{j}"] = rng.choice(90, many, replace=False)[cells]
        score += effects[cells]
    columns["children"] = rng.poisson(1.4, SIZE)
    columns["rooms"] = rng.integers(1, 9, SIZE)
    columns["decade"] = 10 * rng.integers(190, 202, SIZE)
    score += (
        0.5 * columns["children"]
        - 0.05 * (columns["rooms"] - 4) ** 2
        + 0.1 * (columns["decade"] - 1960) / 10
    )
    columns["y"] = np.where(score + rng.logistic(size=SIZE) > np.median(score), "in", "out")
    return pd.DataFrame(columns)


@pytest.mark.slow
def test_codes_are_found_and_quantities_of_few_values_are_none(tmp_path: Path) -> None:
    frame = made_table(3, 4)
    table = tmp_path / "a.csv"
    frame.to_csv(table, index=False)
    found = suffice.train(table, target="y", model="naive-bayes")
    (note,) = found.notes
    assert note.startswith("code0, code1, code2, code3 are read as categories: few whole numbers")
    assert note.endswith("columns={'code0': 'number'} keeps code0 as numbers")
    codes = {f"code{j}": "category" for j in range(4)}
    declared = suffice.train(table, target="y", model="naive-bayes", columns=codes)
    plain = suffice.train(
        table, target="y", model="naive-bayes", columns=dict.fromkeys(codes, "number")
    )
    assert not declared.notes
    assert not plain.notes
    rows = frame.drop(columns="y")
    ours, theirs = (one.estimator.predict_proba(rows) for one in (found, declared))
    assert ours == pytest.approx(theirs)
    assert found.judged.log_loss < plain.judged.log_loss - 0.02
    found.save(tmp_path / "m")
    assert read_model(tmp_path / "m").state["table"]["spellings"]["code0"] == {"kind": "category"}
    loaded = suffice.load(tmp_path / "m")
    assert loaded.predict_proba(rows) == pytest.approx(ours)
    again = suffice.train(frame, target="y", model="naive-bayes")
    assert again.estimator.predict_proba(rows) == pytest.approx(ours)


@pytest.mark.parametrize("shape", ["linear", "bent", "wave", "step"])
def test_what_changes_smoothly_is_no_code(shape: str) -> None:
    rng = np.random.default_rng(1)
    cells = rng.integers(0, 16, SIZE)
    x = cells / 16
    effect = {"linear": 3 * x, "bent": 9 * (x - 0.5) ** 2, "wave": 2 * np.sin(5 * x),
              "step": np.minimum(6 * x, 2.0)}[shape]  # fmt: skip
    y = np.where(effect - effect.mean() + rng.logistic(size=SIZE) > 0, "a", "b")
    found = suffice.train(pd.DataFrame({"x": cells, "y": y}), target="y", model="naive-bayes")
    assert found.table == "1 numeric column"


def test_an_order_of_codes_is_smooth_by_chance_as_often_as_any() -> None:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(200):
        shares = rng.uniform(0.1, 0.9, 9)
        found.append(smoothness(np.column_stack([500 * shares, 500 * (1 - shares)])))
    assert np.mean(np.array(found) <= 0.1) == pytest.approx(0.1, abs=0.06)
    rising = np.linspace(0.1, 0.9, 9)
    assert smoothness(np.column_stack([500 * rising, 500 * (1 - rising)])) < 0.01


@pytest.mark.parametrize(
    ("name", "cells", "why"),
    [
        ("n", range(1, 201), "it counts the rows, from 1 to 200: row numbers"),
        ("n", range(200, 0, -1), "it counts the rows, from 200 to 1: row numbers"),
        ("customer_id", [17 * i + 1000 for i in range(200)], "every row has a different number"),
        ("orderID", [(7 * i) % 997 for i in range(200)], "every row has a different number"),
        ("year", range(1820, 2020), None),
        ("width", [17 * i + 1000 for i in range(200)], None),
        ("id", [i % 150 for i in range(200)], None),
        ("id", [i + 0.5 for i in range(200)], None),
    ],
)
def test_numbers_that_name_rows_are_left_out(name: str, cells: Any, why: str | None) -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {name: list(cells), "x": rng.normal(size=200), "y": ["ab"[i > 99] for i in range(200)]}
    )
    found = suffice.train(frame, target="y", model="naive-bayes")
    assert [one.name for one in found.dropped] == ([] if why is None else [name])
    if why is not None:
        assert found.notes[0].startswith(f"{name} is left out: {why}")
        assert found.notes[0].endswith(f"columns={{'{name}': 'number'}} keeps it")
        kept = suffice.train(frame, target="y", model="naive-bayes", columns={name: "number"})
        assert not kept.dropped


def test_a_table_of_row_numbers_alone_keeps_them() -> None:
    frame = pd.DataFrame({"n": range(100), "y": ["ab"[i > 49] for i in range(100)]})
    assert not suffice.train(frame, target="y", model="naive-bayes").dropped


def test_names_of_ids_are_told_from_words_that_end_alike() -> None:
    assert all(map(is_named_so, ["id", "ID", "user id", "lfd. Nr.", "Unnamed: 0", "rowKey", "pk"]))
    assert not any(map(is_named_so, ["width", "period", "humid", "piano", "turkey", "idle", "age"]))


@pytest.mark.parametrize(
    "order",
    [
        ["<0", "0–200", ">200"],
        ["1st", "2nd", "10th"],
        ["niedrig", "mittel", "hoch"],
        ["jamais", "parfois", "souvent", "toujours"],
        ["nunca", "a veces", "siempre"],
        ["piccolo", "medio", "grande"],
        ["I", "II", "IV", "IX"],
        ["Strongly disagree", "Neutral", "Agree"],
    ],
)
def test_declared_orders_are_said(order: list[str]) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"c": rng.choice(order, 90), "y": rng.choice(["a", "b"], 90)})
    how: dict[str, Any] = {"target": "y", "model": "naive-bayes", "columns": {"c": "ordered"}}
    assert suffice.train(frame, **how).notes[0] == f"c is ordered: {' < '.join(order)}"


def test_an_order_that_is_not_known_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    table.write_text(
        "c,y\n" + "".join(f"{['red', 'blue'][i % 2]},{'ab'[i % 3 > 0]}\n" for i in range(40))
    )
    with pytest.raises(suffice.errors.BadSetting, match="c: 'red', 'blue' have no known order"):
        suffice.train(table, target="y", model="naive-bayes", columns={"c": "ordered"})
