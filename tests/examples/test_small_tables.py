"""The tournament on small tables: draws, scores, files that only grow, and sums done by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from benchmarks.small_tables.__main__ import main, planned
from benchmarks.small_tables.cells import Cell, append, mend, read_cells, read_stored, store
from benchmarks.small_tables.contenders import CONTENDERS
from benchmarks.small_tables.facts import facts
from benchmarks.small_tables.page import END, START, write_page
from benchmarks.small_tables.peer_models import CrossValidatedLogistic, Prepared, _folds
from benchmarks.small_tables.preparation import usual_columns
from benchmarks.small_tables.running import OVER_BUDGET, measured
from benchmarks.small_tables.scores import FLOOR, aligned, scores
from benchmarks.small_tables.summary import LIST, Place, Results
from benchmarks.small_tables.tables import draw, names, table

if TYPE_CHECKING:
    from pathlib import Path


def cell(table: str, contender: str, loss: float, prior: float, repeat: int = 0) -> Cell:
    return Cell(table, 50, repeat, contender, loss, 0.2, 0.9, 0.05, 0.1, 0.01, prior)


BY_HAND = (
    # Means .5 and .4, class shares 1: nl is .1 / .6 and 0.
    cell("a", "pool", 0.4, 1.0), cell("a", "pool", 0.6, 1.0, 1),
    cell("a", "catboost", 0.3, 1.0), cell("a", "catboost", 0.5, 1.0, 1),
    # nl is 0 and .1 / .2.
    cell("b", "pool", 0.5, 0.7), cell("b", "catboost", 0.6, 0.7),
    # Nobody is better than the class shares by .005.
    cell("c", "pool", 0.499, 0.5), cell("c", "catboost", 0.51, 0.5),
)  # fmt: skip


def test_nl_is_zero_for_the_best_and_one_for_the_class_shares() -> None:
    found = Results.of((*BY_HAND, cell("b", "prior", 0.7, 0.7)))
    assert found.nls("pool", [50]) == pytest.approx({("a", 50): 1 / 6, ("b", 50): 0.0})
    assert found.nls("catboost", [50]) == pytest.approx({("a", 50): 0.0, ("b", 50): 0.5})
    assert found.nls("prior", [50]) == pytest.approx({("b", 50): 1.0})


def test_a_table_that_teaches_nobody_is_left_out_of_nl_and_listed() -> None:
    assert Results.of(BY_HAND).too_hard == (Place("c", 50),)
    learned = (replace(BY_HAND[6], log_loss=0.494), *BY_HAND[:6])
    assert Results.of(learned).too_hard == ()
    # One lucky draw of somebody else's is not enough.
    lucky = (cell("d", "pool", 0.3, 0.5), cell("d", "pool", 0.8, 0.5, 1))
    found = Results.of((*lucky, cell("d", "forest", 0.5, 0.5)))
    assert found.too_hard == (Place("d", 50),)
    assert found.nls("forest", [50]) == {}


def test_wins_are_counted_by_means_over_draws_and_gains_have_an_interval_over_tables() -> None:
    found = Results.of(BY_HAND)
    assert found.wins("pool", "catboost", [50]) == {("a", 50): 0.0, ("b", 50): 1.0, ("c", 50): 1.0}
    gain = found.gain("pool", "catboost", [50])
    assert gain is not None
    assert (gain.wins, gain.places) == (pytest.approx(2 / 3), 3)
    assert gain.nl == pytest.approx((-1 / 6 + 1 / 2) / 2)
    # Two tables drawn twice: both the first with probability 1/4, both the second as often.
    assert (gain.low, gain.high) == (pytest.approx(-1 / 6), pytest.approx(1 / 2))
    assert found.gain("pool", "forest", [50]) is None
    assert found.ranks("pool", 50) == [2, 1, 1]


def test_a_contender_is_compared_on_the_draws_that_it_answered() -> None:
    refused = Cell("a", 50, 1, "forest", prior_log_loss=1.0, refusal="budget")
    found = Results.of((*BY_HAND, cell("a", "forest", 0.2, 1.0), refused))
    # On draw 0 the forest is best, .2 better than the pool: taken for both draws, .3 and not .5.
    assert found.nls("forest", [50]) == {("a", 50): 0.0}
    assert found.nls("pool", [50])["a", 50] == pytest.approx(0.2 / 0.7)  # type: ignore[index]
    assert found.losses(Place("a", 50), "pool", frozenset([0, 1])) == pytest.approx(
        {"pool": 0.5, "catboost": 0.4, "forest": 0.3}
    )
    gain = found.gain("pool", "forest", [50])
    assert gain is not None
    assert gain.nl == pytest.approx(-(0.4 - 0.2) / (1.0 - 0.2))
    assert found.refusals == {"forest": [refused]}


def test_worse_than_the_class_shares_is_counted_by_means_and_by_single_draws() -> None:
    worse = cell("b", "pool", 0.85, 0.7, 1)  # the mean of .5 and .85 is still below .7
    found = Results.of((*BY_HAND, worse))
    assert found.worse_than_shares("pool", 50) == (0, 3, 1, 5)
    assert found.worse_than_shares("catboost", 50) == (1, 3, 1, 4)


def test_scores_by_hand() -> None:
    p = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]])
    found = scores(p, np.array([0, 1, 1, 0]))
    assert found["log_loss"] == pytest.approx(-np.log([0.9, 0.4, 0.8, 0.3]).mean())
    assert found["brier"] == pytest.approx(2 * np.mean([0.1**2, 0.6**2, 0.2**2, 0.7**2]))
    assert found["accuracy"] == 0.5
    # Four rows in ten bins: each is a bin of its own.
    assert found["calibration"] == pytest.approx(np.mean([0.1, 0.6, 0.2, 0.7]))


def test_calibration_is_that_of_whole_bins() -> None:
    p = np.tile([0.75, 0.25], (40, 1))
    truth = np.tile([0, 0, 0, 1], 10)  # right three times of four in every bin
    assert scores(p, truth)["calibration"] == pytest.approx(0.0)


def test_a_class_that_is_missing_or_impossible_costs_the_floor() -> None:
    p = aligned([[1.0, 0.0], [np.nan, np.nan]], ["b", "a"], np.array(["a", "b", "c"]))
    assert p.sum(axis=1) == pytest.approx(1.0)
    assert -math.log(p[0, 0]) == pytest.approx(-math.log(FLOOR)) == pytest.approx(36.05, abs=0.01)
    assert p[0, 2] == p[0, 0]
    assert p[1] == pytest.approx(1 / 3)


def test_a_run_goes_on_after_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "cells.jsonl"
    mend(path)
    for one in BY_HAND[:3]:
        append(path, one)
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])  # killed while the third was written
    assert list(read_cells(path).values()) == list(BY_HAND[:2])
    mend(path)
    append(path, BY_HAND[2])
    assert path.read_bytes() == whole
    assert list(read_cells(path).values()) == list(BY_HAND[:3])


def test_a_torn_line_in_the_middle_is_no_killed_run(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    append(path, BY_HAND[0])
    path.write_bytes(path.read_bytes()[:-7] + b"\n")
    append(path, BY_HAND[1])
    with pytest.raises(ValueError):
        read_cells(path)


def test_stored_cells_are_rounded_and_the_same_bytes_in_any_order(tmp_path: Path) -> None:
    one = replace(BY_HAND[0], log_loss=0.123456789, made_by="catboost 1.2")
    two = Cell("a", 50, 0, "ebm", prior_log_loss=1.0, refusal='comma, and "mark"')
    store([one, two], tmp_path / "1.csv.gz")
    store([two, one], tmp_path / "2.csv.gz")
    assert (tmp_path / "1.csv.gz").read_bytes() == (tmp_path / "2.csv.gz").read_bytes()
    found = read_stored(tmp_path / "1.csv.gz")
    assert found == {one.key: replace(one, log_loss=0.12346), two.key: two}


def test_the_stored_cells_of_peers_can_be_read_and_are_small() -> None:
    from benchmarks.small_tables.cells import STORED

    cells = read_stored()
    assert STORED.stat().st_size < 1_000_000
    assert {key.contender for key in cells} >= {"catboost", "forest", "logistic-cv", "old-auto"}
    assert all(CONTENDERS[key.contender].stored for key in cells)
    assert all((one.log_loss is None) == bool(one.refusal) for one in cells.values())


def test_blanks_are_a_level_or_the_median_and_unknown_levels_are_nothing() -> None:
    X = pd.DataFrame({"x": [1.0, 3.0, np.nan, 8.0], "c": ["u", None, "v", "u"]})
    columns = usual_columns(X).fit(X)
    coded = columns.transform(pd.DataFrame({"x": [np.nan, 3.0], "c": [None, "w"]}))
    assert coded[0, 0] == coded[1, 0]  # the median of 1, 3, 8
    assert coded[:, 1:].tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]  # blank, u, v


def test_a_class_of_one_row_is_learned_from_in_every_fold() -> None:
    codes = np.array([0] * 6 + [1] * 3 + [2])
    folds = _folds(codes)
    assert len(folds) == 3
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(9))
    assert all(9 in train for train, _ in folds)
    X = pd.DataFrame({"x": np.arange(10.0)})
    model = Prepared(CrossValidatedLogistic()).fit(X, np.array(list("aaaaaabbbc")))
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict_proba(X).argmax(axis=1).tolist() != [0] * 10


@pytest.mark.shared
def test_a_draw_depends_on_its_arguments_alone() -> None:
    first = draw("credit_a", 50, 1)
    table.cache_clear()
    np.random.default_rng(7).random(3)
    assert draw("credit_a", 50, 2) is not None
    again = draw("credit_a", 50, 1)
    assert first is not None
    assert again is not None
    pd.testing.assert_frame_equal(first.X, again.X)
    pd.testing.assert_frame_equal(first.X_test, again.X_test)
    assert (first.y == again.y).all()
    assert (first.y_test == again.y_test).all()
    assert len(first.X) == 50
    assert set(first.y_test) <= set(first.y)
    # What it is, in a few numbers: a draw that changes makes stored cells worthless.
    assert first.X["A2"].head(3).tolist() == [36.25, 26.17, 26.17]
    assert first.y[:5].tolist() == ["+", "-", "-", "+", "+"]


@pytest.mark.shared
def test_the_list_of_tables_knows_which_draws_there_are() -> None:
    small = [name for name in names() if facts()[name].rows < 1000]
    keys = planned(small, [25, 50, 200], 1, ["prior"])
    there = {(name, n) for name in small for n in (25, 50, 200) if draw(name, n, 0) is not None}
    assert {(key.table, key.n) for key in keys} == there
    assert len(keys) == len(there) > 40


@pytest.mark.shared
@pytest.mark.process
@pytest.mark.slow
def test_who_needs_more_time_than_the_budget_is_ended_and_the_next_one_is_measured() -> None:
    keys = planned(["iris"], [50], 1, ["forest", "prior"])
    over, prior = measured(keys, 1, budget=0.02)
    assert (over.refusal, over.log_loss) == (OVER_BUDGET, None)
    assert prior.refusal == ""
    assert prior.log_loss == prior.prior_log_loss == pytest.approx(1.1, abs=0.1)


@pytest.mark.shared
@pytest.mark.process
@pytest.mark.slow
def test_the_command_measures_once_and_sums_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cells.jsonl"
    asked = ["--tables", "iris", "--sizes", "25", "--repeats", "1", "--cells", str(path)]
    main([*asked, "--contenders", "logistic,prior", "--processes", "1"])
    measured_once = path.read_bytes()
    assert [one.contender for one in read_cells(path).values()] == ["logistic", "prior"]
    assert all(one.refusal == "" for one in read_cells(path).values())
    assert "LogisticRegression(penalty=1)" in capsys.readouterr().out
    main([*asked, "--contenders", "logistic,prior", "--processes", "1"])
    assert path.read_bytes() == measured_once
    # Cells of ours that other sources made are measured again.
    path.write_bytes(measured_once.replace(CONTENDERS["logistic"].made_by.encode(), b"suffice 0"))
    main([*asked, "--contenders", "logistic,prior", "--processes", "1"])
    assert len(path.read_bytes().splitlines()) == 3


@pytest.mark.shared
def test_the_page_keeps_what_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(f"Before.\n{START}\nold\n{END}\nAfter.\n", "utf-8")
    cells = [replace(one, table="iris") for one in BY_HAND[:4]]
    write_page(path, Results.of(cells), "pool")
    text = path.read_text("utf-8")
    assert text.startswith("Before.\n")
    assert text.endswith("\nAfter.\n")
    assert "\nold\n" not in text
    assert "| suffice.Pool " in text
    assert "other folds" in text
    path.write_text("No marks.\n", "utf-8")
    with pytest.raises(SystemExit, match="two marks"):
        write_page(path, Results.of(cells), "pool")


def test_every_contender_of_the_list_is_known() -> None:
    assert set(LIST) <= set(CONTENDERS)
