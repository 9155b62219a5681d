"""Targets that are quantities: cut into classes, by the fit and by all that comes later."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.errors import BadFile, BadLabels, BadSetting
from suffice.learning.table_recipe import LABEL_BINS as STATE
from suffice.training.table_columns.label_bins import LabelBins, label_bins_in

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 240


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    size = rng.normal(size=SIZE)
    return pd.DataFrame(
        {"size": size.round(3), "price": (1000 + 400 * size + 90 * rng.normal(size=SIZE)).round(2)}
    )


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table as a German shop writes it."""

    def money(value: float) -> str:
        return f"{value:,.2f} €".translate(str.maketrans(",.", ".,"))

    lines = [f"{str(size).replace('.', ',')};{money(price)}" for size, price in frame().to_numpy()]
    place = tmp_path / "shop.csv"
    place.write_text("size;price\n" + "\n".join(lines) + "\n", "utf-8")
    return place


def test_bins_have_as_many_rows_and_are_the_same_from_a_file_a_frame_and_parquet(
    table: Path, tmp_path: Path
) -> None:
    frame().to_parquet(tmp_path / "a.parquet")
    found = [
        suffice.train(data, target="price", bins=4, model="gda")
        for data in (table, frame(), tmp_path / "a.parquet")
    ]
    for one in found:
        bins = label_bins_in(one.saved.notes)
        assert bins is not None
        _, counts = np.unique(bins.cut(frame()["price"].to_numpy()), return_counts=True)
        assert counts.min() >= SIZE / 4 - 1
        assert one.estimator.classes_.tolist() == found[0].estimator.classes_.tolist()
    assert "price is cut into 4 classes: below " in found[0].notes[-1]


def test_every_command_cuts_later_rows_too(table: Path, run: Any, tmp_path: Path) -> None:
    model = tmp_path / "m.suffice"
    assert run("fit", table, "-t", "price", "--bins", "700,1300", "--model", "gda", "-o", model
               ).code == 0  # fmt: skip
    done = run("predict", model, table)
    assert set(done.rows[1:] if done.rows[0] == "prediction" else done.rows) == {
        "below 700", "700 to 1300", "1300 or more"
    }  # fmt: skip
    right, _, total = done.err.partition("note: ")[2].split()[:3]
    assert int(total) == SIZE
    assert int(right) > 0.7 * SIZE
    counts = json.loads(run("inspect", model, "--json").out)
    assert run("learn", model, table).code == 0
    assert run("forget", model, table).code == 0
    assert json.loads(run("inspect", model, "--json").out) == counts
    more = tmp_path / "more.csv"
    more.write_text(run("sample", model, "-n", "50").out)
    assert run("learn", model, more).code == 0  # classes by their names
    for command in ("compare", "report", "audit"):
        out = ["-o", str(tmp_path / "r.html")] if command == "report" else []
        assert run(command, table, "-t", "price", "--bins", "3", *out).code == 0, command


def test_a_cell_that_is_no_number_is_refused_with_its_column(
    table: Path, run: Any, tmp_path: Path
) -> None:
    model = tmp_path / "m.suffice"
    assert run("fit", table, "-t", "price", "--bins", "3", "--model", "gda", "-o", model).code == 0
    table.write_text(table.read_text("utf-8") + "1,5;cheap\n", "utf-8")
    done = run("learn", model, table)
    assert done.code == 1
    assert "price: 'cheap' is neither a number nor one of the classes" in done.err


@pytest.mark.parametrize("bins", [0, 1, 51, "x", "3,2", [2, 1], [float("nan")], [], True, "1,1"])
def test_bins_that_are_none_are_refused(bins: Any) -> None:
    with pytest.raises(BadSetting, match=r"bins"):
        suffice.train(frame(), target="price", bins=bins)


def test_names_of_classes_are_not_cut() -> None:
    table = frame().assign(y=["a", "b"] * (SIZE // 2))
    with pytest.raises(BadLabels, match="'a' is not a number"):
        suffice.train(table, target="y", bins=3)
    with pytest.raises(BadLabels, match="the same number"):
        suffice.train(table.assign(y=1.0), target="y", bins=3)


def test_a_target_of_many_whole_numbers_is_asked_about(run: Any, tmp_path: Path) -> None:
    ages = 18 + np.arange(SIZE) % 30
    table = frame().assign(age=ages)
    with pytest.raises(BadLabels, match=r"30 different whole numbers .* or names of") as no:
        suffice.train(table, target="age", model="gda")
    assert no.value.hint == (
        "bins=\"4\" cuts a quantity into classes of about equal size; columns={'age': 'category'} "
        "declares that these are classes"
    )
    found = suffice.train(table, target="age", model="gda", columns={"age": "category"})
    assert found.estimator.classes_.tolist() == list(range(18, 48))
    assert len(suffice.train(table, target="age", model="gda", bins="4").estimator.classes_) == 4
    few = table.assign(age=ages % 20)
    assert len(suffice.train(few, target="age", model="gda").estimator.classes_) == 20
    table.to_csv(tmp_path / "a.csv", index=False)
    done = run("fit", tmp_path / "a.csv", "-t", "age", "-o", tmp_path / "m.suffice")
    assert "--bins 4" in done.err
    assert "--column age=category" in done.err


def test_what_a_file_says_of_bins_is_checked() -> None:
    from suffice.learning.table_recipe import TableNotes

    good = LabelBins((1.0, 2.5)).to_dict()
    assert label_bins_in(TableNotes(more={STATE: good})) == LabelBins((1.0, 2.5))
    for bad in ({}, {"at": [], "spelling": None}, {"at": [2, 1], "spelling": None},
                {"at": ["a"], "spelling": None}, {"at": [1.0], "spelling": {"x": 1}},
                {"at": [float("inf")], "spelling": None}, [1.0]):  # fmt: skip
        with pytest.raises(BadFile, match=r"damaged|does not record"):
            label_bins_in(TableNotes(more={STATE: bad}))
