"""Dates through every command that reads or writes rows."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.columns.spellings.spelling import Spelling
from suffice.storage.model_file import read_model

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 240
NAMES = ("opened", "seen", "at", "load", "y")


def moments() -> tuple[list[dt.datetime], list[str]]:
    """Return times of four years, and labels that weekends decide, for the most part."""
    rng = np.random.default_rng(3)
    start = dt.datetime(2019, 1, 1)  # noqa: DTZ001
    found = [start + dt.timedelta(minutes=int(m)) for m in rng.integers(0, 4 * 525_600, SIZE)]
    odd = rng.random(SIZE) < 0.1
    return found, [
        "ab"[(m.weekday() >= 5) ^ bool(flip)] for m, flip in zip(found, odd, strict=True)
    ]


def write(path: Path, day: str, moment: str) -> Path:
    """Write a table whose dates have some form."""
    found, labels = moments()
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(NAMES)
        for place, (one, label) in enumerate(zip(found, labels, strict=True)):
            cells = [one.strftime(day), one.strftime(moment), one.strftime("%H:%M")]
            table.writerow([*(cells if place != 7 else ("", "n.a.", "—")), place % 13, label])
    return path


@pytest.mark.slow
@pytest.mark.parametrize("model", ["naive-bayes", "gda", "logistic"])
def test_dates_of_any_form_are_the_same_rows(model: str, run: Any, tmp_path: Path) -> None:
    tables = [
        write(tmp_path / "a.csv", "%d.%m.%Y", "%d/%m/%Y %H:%M"),
        write(tmp_path / "b.csv", "%Y-%m-%d", "%Y-%m-%dT%H:%MZ"),
        write(tmp_path / "c.csv", "%B %d, %Y", "%m/%d/%y %I:%M %p"),
    ]
    answers, files = [], []
    for table in tables:
        files.append(table.with_suffix(".suffice"))
        done = run("fit", table, "-t", "y", "--model", model, "-o", files[-1])
        assert done.code == 0, done.err
        assert "the weekday of opened is a category beside it" in done.err
        answers.append(run("predict", files[-1], table, "--proba").out)
        # Any other form that the column itself can read has the same answers.
        other = run("predict", files[-1], tables[1], "--proba")
        assert other.out == answers[-1], other.err
    assert answers[0] == answers[1] == answers[2]
    refused = run("sql", files[0])
    assert refused.code != 0
    assert "opened (weekday)" in refused.err
    if model == "logistic":
        return
    drawn = run("sample", files[0], "-n", 30).out
    rows = list(csv.DictReader(io.StringIO(drawn)))
    assert tuple(rows[0]) == NAMES
    for row in rows:
        dt.date.fromisoformat(row["opened"])
        dt.datetime.fromisoformat(row["seen"])
    more = tmp_path / "more.csv"
    more.write_text(drawn, "utf-8")
    for command in ("learn", "forget"):
        done = run(command, files[0], more)
        assert done.code == 0, done.err
    assert run("predict", files[0], tables[0], "--proba").out == answers[0]


def test_what_was_decided_is_in_the_file_and_python_reads_the_same(
    run: Any, tmp_path: Path
) -> None:
    table = write(tmp_path / "a.csv", "%d.%m.%Y", "%Y-%m-%d %H:%M")
    found = suffice.train(table, target="y", model="naive-bayes")
    place = tmp_path / "a.suffice"
    found.save(place)
    stored = read_model(place).state["table"]["spellings"]
    assert stored["opened"] == {"kind": "number", "date": "dmy"}
    assert stored["opened (weekday)"] == {"kind": "category", "part": "weekday", "of": "opened"}
    frame = pd.read_csv(table, dtype=str, keep_default_na=False)
    frame["load"] = frame["load"].astype(float)
    loaded = suffice.load(place)
    expected = run("predict", place, table, "--proba", "--json").out
    told = [json.loads(line)["p(a)"] for line in expected.splitlines()]
    assert loaded.predict_proba(frame)[:, 0] == pytest.approx(told, abs=1e-9)
    again = suffice.train(frame, target="y", model="naive-bayes")
    assert again.estimator.predict_proba(frame) == pytest.approx(loaded.predict_proba(frame))


def test_weekdays_are_no_category_where_they_tell_nothing_or_the_date_tells_as_much(
    tmp_path: Path,
) -> None:
    found, _ = moments()
    rng = np.random.default_rng(0)
    noise = rng.choice(["a", "b"], SIZE)
    year = np.where([one.year < 2021 for one in found], "a", "b")
    for labels in (noise, year):
        frame = pd.DataFrame({"d": [f"{one:%Y-%m-%d}" for one in found], "y": labels})
        trained = suffice.train(frame, target="y", model="naive-bayes")
        assert trained.table == "1 numeric column"
    days = [dt.date(2024, 3, 1) + dt.timedelta(days=i // 4) for i in range(120)]
    rng = np.random.default_rng(4)
    many = [dt.date(2024, 1, 1) + dt.timedelta(days=i // 5) for i in range(900)]
    rising = [float(rng.random()) < i / 900 for i in range(900)]  # each month has more of them
    half = pd.DataFrame({"d": [f"{d}" for d in many], "y": np.where(rising, "b", "a")})
    assert suffice.train(half, target="y", model="naive-bayes").table == "1 numeric column"
    march = pd.DataFrame({"d": [f"{d}" for d in days], "y": ["ab"[d.day > 15] for d in days]})
    assert suffice.train(march, target="y", model="naive-bayes").table == "1 numeric column"


def test_an_open_order_is_said_and_changed_and_a_cell_that_denies_it_is_named(
    run: Any, tmp_path: Path
) -> None:
    table = tmp_path / "a.csv"
    rows = "".join(f"{1 + i % 12}/{1 + i % 11}/2024,{'ab'[i % 2]}\n" for i in range(60))
    table.write_text("d,y\n" + rows)
    fit = ("fit", table, "-t", "y", "--model", "naive-bayes", "--force", "-o", tmp_path / "m")
    said = run(*fit).err
    assert "line 3: '2/2/2024'" not in said
    assert "may be 2024-01-12 or 2024-12-01; it is read as 2024-12-01, month first" in said
    assert "--column d=date-dmy reads it differently" in said
    assert read_model(tmp_path / "m").state["table"]["spellings"]["d"]["date"] == "mdy"
    said = run(*fit, "--column", "d=date-dmy").err
    assert "may be" not in said
    assert read_model(tmp_path / "m").state["table"]["spellings"]["d"]["date"] == "dmy"
    table.write_text("d,y\n" + rows + "31/1/2024,a\n")
    assert "may be" not in run(*fit).err
    refused = run(*fit, "--column", "d=date-mdy")
    assert refused.code != 0
    assert "line 62: '31/1/2024' is not a date with the month first" in refused.err
    table.write_text("d,y\n" + rows + "soon,a\n")
    assert "line 62: 'soon' is not a date; 1 of 61" in run(*fit).err
    assert "d is declared a date: " in run(*fit, "--column", "d=date").err
    later = tmp_path / "later.csv"
    later.write_text("d\n2024-01-05\nnever\n")
    refused = run("predict", tmp_path / "m", later)
    assert refused.code != 0
    assert "line 3" in refused.err


def test_serial_numbers_are_dates_only_if_somebody_says_so(tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    table.write_text(
        "d,y\n" + "".join(f"{45_000 + 7 * (i % 40)},{'ab'[i % 2]}\n" for i in range(80))
    )
    assert suffice.train(table, target="y", model="naive-bayes").notes == ()
    found = suffice.train(table, target="y", model="naive-bayes", columns={"d": "date"})
    assert found.notes == ("d is read as dates (written as numbers), in days since 1970",)
    rows = found.estimator.predict_proba(pd.DataFrame({"d": ["2023-03-15", "45000", "20230315"]}))
    assert rows[0] == pytest.approx(rows[1])
    assert rows[0] == pytest.approx(rows[2])
    table.write_text(table.read_text() + "7,a\n")
    with pytest.raises(suffice.errors.NotANumber, match=r"line 82.*'7' does not match"):
        suffice.train(table, target="y", model="naive-bayes", columns={"d": "date"})
    assert Spelling("number", date="number").value("2024-01-05") == 19727.0
