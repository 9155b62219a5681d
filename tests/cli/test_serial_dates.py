"""Dates that are numbers in a table are the same dates as numbers by type, wherever these come."""

from __future__ import annotations

import csv
import datetime as dt
import io
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet

import suffice
from suffice.errors import NotANumber
from tests.searches import examples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DAY_ZERO = dt.datetime(1899, 12, 30)  # noqa: DTZ001  day 0 of a spreadsheet
SIZE = 80
CELLS = st.one_of(
    st.none(),
    st.integers(61, 199_999),
    st.dates(dt.date(1970, 1, 1), dt.date(2200, 1, 1)).map(lambda day: int(f"{day:%Y%m%d}")),
    st.integers(100_000_000, 99_999_999_999),
    st.integers(100_000_000_000, 9_999_999_999_999),
)
"""Days of a spreadsheet, 20240105, seconds and milliseconds since 1970, and blanks."""
DAYS = [44_950, 45_030, None, 45_100]
LIST = list[int | None]


def texts(cells: LIST) -> list[str | None]:
    return [None if cell is None else str(cell) for cell in cells]


def moments(cells: LIST) -> list[dt.datetime | None]:
    return [None if cell is None else DAY_ZERO + dt.timedelta(cell) for cell in cells]


def frames(cells: LIST) -> dict[str, Any]:
    """Return numbers as each library may type them."""
    doubles = [np.nan if cell is None else float(cell) for cell in cells]
    mixed = [str(cell) if i % 2 and cell is not None else cell for i, cell in enumerate(cells)]
    return {
        "pandas, doubles": pd.DataFrame({"d": doubles}),
        "pandas, beside a label": pd.DataFrame({"y": ["a"] * len(cells), "d": doubles}),
        "pandas, nullable": pd.DataFrame({"d": pd.array(cells, dtype="Int64")}),
        "pandas, objects": pd.DataFrame({"d": pd.Series(cells, dtype=object)}),
        "pandas, texts among them": pd.DataFrame({"d": pd.Series(mixed, dtype=object)}),
        "polars": pl.DataFrame({"d": pl.Series(cells, dtype=pl.Int64)}),
        "polars, doubles": pl.DataFrame({"d": pl.Series(cells, dtype=pl.Float64)}),
        "polars, decimals": pl.DataFrame({"d": pl.Series(cells, dtype=pl.Decimal(20, 2))}),
        "arrow": pa.table({"d": pa.array(cells, pa.int64())}),
        "arrow, doubles": pa.table({"d": pa.array(cells, pa.float64())}),
    }


def typed(cells: LIST) -> dict[str, Any]:
    """Return the same days of a spreadsheet as dates by type."""
    held = moments(cells)
    dates = [None if one is None else one.date() for one in held]
    return {
        "pandas": pd.DataFrame({"d": pd.to_datetime(held)}),
        "pandas, objects": pd.DataFrame({"d": pd.Series(dates, dtype=object)}),
        "polars": pl.DataFrame({"d": pl.Series(dates, dtype=pl.Date)}),
        "polars, moments": pl.DataFrame({"d": pl.Series(held, dtype=pl.Datetime("ms"))}),
        "arrow": pa.table({"d": pa.array(dates, pa.date32())}),
        "arrow, moments": pa.table({"d": pa.array(held, pa.timestamp("us"))}),
    }


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    place = tmp_path_factory.mktemp("serials") / "a.csv"
    with place.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["d", "y"])
        rows.writerows((45_000 + round(60 * (i % 2) + 40 * rng.normal()), "ab"[i % 2])
                       for i in range(SIZE))  # fmt: skip
    return place


def trained(table: Path, model: str) -> Any:
    return suffice.train(table, target="y", model=model, columns={"d": "date"})


@pytest.fixture(scope="module")
def model(table: Path) -> Any:
    return trained(table, "naive-bayes").estimator


@examples(40)
@given(st.lists(CELLS, min_size=1, max_size=5), st.lists(st.integers(61, 199_999), min_size=1))
def test_a_typed_number_is_the_date_that_its_text_is(model: Any, cells: LIST, days: LIST) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = model.predict_log_proba(pd.DataFrame({"d": texts(cells)}, dtype=object))
        for name, frame in frames(cells).items():
            np.testing.assert_array_equal(model.predict_log_proba(frame), expected, err_msg=name)
        expected = model.predict_log_proba(pd.DataFrame({"d": texts(days)}))
        for name, frame in typed(days).items():
            np.testing.assert_array_equal(model.predict_log_proba(frame), expected, err_msg=name)


def test_a_number_that_is_no_date_is_refused_with_its_row(
    model: Any, run: Any, table: Path, tmp_path: Path
) -> None:
    for name, frame in frames([45_000, 7]).items():
        with pytest.raises(NotANumber, match=r"row 1.*does not match the notation") as refused:
            model.predict(frame)
        assert refused.value.hint, name
    model.save(tmp_path / "m.suffice")
    parquet.write_table(pa.table({"d": [45_000, 7]}), tmp_path / "a.parquet")
    said = run("predict", tmp_path / "m.suffice", tmp_path / "a.parquet")
    assert said.code == 1
    assert "row 2, d: 7" in said.err
    assert "Hint: give the column a type of dates" in said.err


FILES: dict[str, Callable[[Path], None]] = {
    "csv": lambda place: pd.DataFrame({"d": texts(DAYS)}).to_csv(place, index=False),
    "jsonl": lambda place: place.write_text(
        "".join(f'{{"d": {"null" if day is None else day}}}\n' for day in DAYS)
    ) and None,
    "parquet": lambda place: parquet.write_table(pa.table({"d": DAYS}), place),
    "doubles.parquet": lambda place: parquet.write_table(
        pa.table({"d": pa.array(DAYS, pa.float64())}), place
    ),
    "dates.parquet": lambda place: parquet.write_table(
        pa.table({"d": pa.array(moments(DAYS)).cast(pa.date32())}), place
    ),
    "moments.parquet": lambda place: parquet.write_table(
        pa.table({"d": pa.array(moments(DAYS))}), place
    ),
    "feather": lambda place: feather.write_feather(
        pa.table({"d": DAYS}), place, compression="uncompressed"
    ),
}  # fmt: skip


@pytest.mark.parametrize("end", FILES)
def test_files_of_every_kind_hold_the_same_dates(
    model: Any, run: Any, tmp_path: Path, end: str
) -> None:
    model.save(tmp_path / "m.suffice")
    FILES[end](tmp_path / f"a.{end}")
    said = run("predict", tmp_path / "m.suffice", tmp_path / f"a.{end}", "--proba")
    assert said.code == 0, said.err
    found = pd.read_csv(io.StringIO(said.out))[["p(a)", "p(b)"]].to_numpy()
    expected = model.predict_proba(pd.DataFrame({"d": texts(DAYS)}, dtype=object))
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("form", [*frames(DAYS), *(f"{name}: dates" for name in typed(DAYS))])
def test_rows_are_learned_and_forgotten_in_any_form(table: Path, form: str) -> None:
    model = trained(table, "naive-bayes").estimator
    asked = pd.DataFrame({"d": texts([45_010, 45_050])})
    before = model.predict_proba(asked)
    name, _, dates = form.partition(": ")
    X, y = (typed(DAYS) if dates else frames(DAYS))[name], ["a", "b", "a", "b"]
    model.partial_fit(X, y)
    assert np.abs(model.predict_proba(asked) - before).max() > 1e-6
    model.forget(pd.DataFrame({"d": texts(DAYS)}, dtype=object), y)
    np.testing.assert_allclose(model.predict_proba(asked), before, rtol=1e-9)


@pytest.mark.parametrize("name", ["naive-bayes", "gda", "mixture-discriminant"])
@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars"])
def test_drawn_rows_are_read_as_the_dates_that_they_are(
    table: Path, name: str, library: str
) -> None:
    model = trained(table, name).estimator
    model.frame_ = library  # as if it had been fitted on a frame of that library
    model = suffice.load(_saved(model, table))
    drawn, _ = model.sample(50, random_state=0)
    days = pd.DataFrame(drawn.to_pandas() if hasattr(drawn, "to_pandas") else drawn)["d"]
    assert days.between("2022-09-01", "2023-12-31").all()
    again = model.predict_proba(drawn)
    written = pd.DataFrame({"d": days.dt.strftime("%Y-%m-%dT%H:%M:%S").astype(object)})
    np.testing.assert_allclose(again, model.predict_proba(written), atol=1e-4)


def _saved(model: Any, table: Path) -> Path:
    place = table.with_name("drawn.suffice")
    model.save(place)
    return place


def test_rows_without_a_label_have_the_same_dates_in_another_file(
    table: Path, tmp_path: Path
) -> None:
    days = [45_010 + 3 * i for i in range(40)]
    pd.DataFrame({"d": days}).to_csv(tmp_path / "more.csv", index=False)
    parquet.write_table(pa.table({"d": days}), tmp_path / "more.parquet")
    more = pd.DataFrame({"d": texts(list(days))})
    given = [more, pd.DataFrame({"d": days}), tmp_path / "more.csv", tmp_path / "more.parquet"]
    asked = pd.DataFrame({"d": texts([45_010, 45_050])})
    found = [
        suffice.train(
            table, target="y", model="gda", columns={"d": "date"}, unlabelled=one
        ).estimator.predict_proba(asked)
        for one in given
    ]
    for one in found[1:]:
        np.testing.assert_allclose(one, found[0], rtol=1e-9)
