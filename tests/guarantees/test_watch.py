"""Watches: what moved is named, what did not raises no alarm, and streams hold at any time."""

from __future__ import annotations

import json
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice
from suffice import GaussianDiscriminant, LogisticRegression, NaiveBayes, watch
from suffice.cli.app import main
from suffice.errors import BadRows, BadSetting
from suffice.monitoring import streams
from suffice.monitoring.streams import RankedCells, StreamBets
from tests.searches import examples, repeats

if TYPE_CHECKING:
    from pathlib import Path


def drawn(rng: Any, n: int, d: int = 4, tails: str = "normal") -> tuple[Any, Any]:
    y = rng.integers(0, 2, n)
    noise = {
        "normal": rng.normal(size=(n, d)),
        "t": rng.standard_t(5, size=(n, d)),
        "lognormal": np.exp(rng.normal(size=(n, d))),
    }[tails]
    return noise + y[:, None], y


@pytest.mark.parametrize("model", [GaussianDiscriminant, NaiveBayes])
def test_what_moved_is_named(model: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = drawn(rng, 500)
    fitted = model(calibration_rows=400).fit(X, y)
    new, labels = drawn(rng, 400)
    new[:, 1] += 1.0
    new[:, 2] *= 2.0
    new[:100, 3] = np.nan
    found = suffice.watch(fitted, new, labels)
    assert not found.ok
    what = {(test.column, test.what) for test in found.moved}
    assert {("x1", "mean"), ("x2", "shape"), ("x3", "blanks")} <= what
    assert not any(column == "x0" for column, _ in what)
    assert "columns have drifted" in found.verdict
    assert list(found.columns.columns)[:5] == ["column", "what", "old", "new", "z"]


@pytest.mark.slow
@pytest.mark.parametrize("tails", ["normal", "t", "lognormal"])
@pytest.mark.filterwarnings("ignore")
def test_false_alarms_are_as_rare_as_stated(tails: str) -> None:
    rng = np.random.default_rng(1)
    count, draws, held = 0, repeats(30, 1000), 0
    for _ in range(draws):
        X, y = drawn(rng, 500, tails=tails)
        model = GaussianDiscriminant(calibration_rows=400).fit(X, y)
        new, labels = drawn(rng, 300, tails=tails)
        found = suffice.watch(model, new, labels)
        count += not found.ok
        assert found.expected is not None
        assert found.observed is not None
        held += found.expected.low <= found.observed.estimate <= found.expected.high
    assert count <= draws * 0.05 + 3.0 * np.sqrt(draws * 0.05)
    assert held >= 0.85 * draws


def alarms(rng: Any, size: int, reference: int) -> float:
    found, draws = 0, repeats(60, 1000)
    for _ in range(draws):
        bets = StreamBets.against(("a",), rng.standard_t(3, size=(reference, 1)))
        found += bets.take(rng.standard_t(3, size=(size, 1))) >= 20.0
    return found / draws


@pytest.mark.parametrize("held", [10_000, 40], ids=["held", "counted"])
def test_streams_raise_few_false_alarms_at_any_time(
    held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where later rows are counted between earlier ones, and not held."""
    monkeypatch.setattr(streams, "MOST_HELD", held)
    most = 0.05 + 3.0 * np.sqrt(0.05 / repeats(60, 1000))
    assert alarms(np.random.default_rng(0), 600, 30) <= most
    # Without the new rows in the reference, which is estimated and then held, they are many.
    monkeypatch.setattr(RankedCells, "grow", lambda *_: None)
    monkeypatch.setattr(streams, "STEP", 20)
    assert alarms(np.random.default_rng(0), 600, 30) > 0.25


@pytest.mark.parametrize("held", [3, 4, 5, 100])
@pytest.mark.parametrize("values", [(0, 1, 2, 3, 4, 5), (0, 0, 1, 1, 1, 2)], ids=["all", "ties"])
def test_ranks_of_a_stream_are_independent_and_uniform(
    held: int, values: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In all orders of the same cells: the first three are the reference, the others are ranked."""
    monkeypatch.setattr(streams, "MOST_HELD", held)
    lows, highs = [], []
    for order in permutations(values):
        cells = np.array(order, dtype=float)
        ranked = RankedCells.of(cells[:3])
        ranked.grow(cells[:0])  # the reference alone may be as many as are held
        below, same, size = (np.concatenate(p) for p in zip(
            ranked.take(cells[3:4]), ranked.take(cells[4:]), strict=True
        ))  # fmt: skip
        lows.append(below / (size + 1))
        highs.append((below + same + 1) / (size + 1))
    low, high = np.array(lows), np.array(highs)
    for level in (0.1, 0.25, 0.5, 0.8):
        # The chance of u <= level, given where u may be, for each of the three ranks.
        under = np.clip((level - low) / (high - low), 0.0, 1.0)
        np.testing.assert_allclose(under.mean(axis=0), level, atol=1e-12)
        for a, b in ((0, 1), (0, 2), (1, 2)):
            np.testing.assert_allclose((under[:, a] * under[:, b]).mean(), level**2, atol=1e-12)


@given(st.integers(0, 2**32), st.lists(st.integers(1, 700), min_size=1, max_size=4))
@examples(5)
def test_streams_are_the_same_in_whatever_pieces_they_come(seed: int, sizes: list[int]) -> None:
    rng = np.random.default_rng(seed)
    old, new = rng.normal(size=(20, 2)), rng.normal(size=(sum(sizes), 2))
    new[rng.random(new.shape) < 0.1] = np.nan
    whole, parts = (StreamBets.against(("a", "b"), old, 7) for _ in range(2))
    told = whole.take(new)
    for part in np.split(new, np.cumsum(sizes)[:-1]):
        last = parts.take(part)
    assert last == pytest.approx(told, rel=1e-9)
    np.testing.assert_allclose(parts.e_values, whole.e_values, rtol=1e-9)


def test_streams_find_shifts() -> None:
    rng = np.random.default_rng(0)
    bets = StreamBets.against(("a", "b"), rng.normal(size=(500, 2)))
    found = bets.take(rng.normal(size=(300, 2)) + np.array([0.0, 0.7]))
    assert found >= 20.0
    assert bets.columns_at(0.05) == ["b"]
    X, y = drawn(rng, 400)
    model = GaussianDiscriminant(calibration_rows=300).fit(X, y)
    new, _ = drawn(rng, 300)
    assert suffice.watch(model, new, stream=True).ok
    told = suffice.watch(model, new + np.array([0.0, 0.0, 1.0, 0.0]), stream=True)
    assert not told.ok
    assert "x2" in told.verdict


def test_models_with_other_families_are_compared_in_units_that_both_have() -> None:
    """A mean of logarithms is no mean: of such columns nothing is said, or the logarithms are."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = np.exp(rng.normal(size=(400, 2)) + y[:, None])
    normal, logs = (
        NaiveBayes({0: family, 1: "gaussian"}).fit(X, y) for family in ("gaussian", "lognormal")
    )
    assert suffice.watch(normal, logs).ok
    assert suffice.watch(logs, normal).ok
    moved = suffice.watch(logs, X * 3.0).moved
    assert ("x0", "mean of logarithms") in {(test.column, test.what) for test in moved}


def test_class_shares_are_not_called_moved_where_the_model_does_not_fit() -> None:
    """Estimated shares are wrong here before anything has moved: kept rows are as wrong."""
    rng = np.random.default_rng(0)

    def skewed(n: int, share: float = 0.2) -> tuple[Any, Any]:
        y = (rng.random(n) < share).astype(int)
        return np.exp(rng.normal(size=(n, 1))) * np.where(y, 1.0, 4.0)[:, None], y

    alarms = missed = found = 0
    draws = repeats(30, 300)
    for _ in range(draws):
        model = GaussianDiscriminant("per-class", calibration_rows=500).fit(*skewed(2000))
        told = suffice.watch(model, skewed(1000)[0])
        alarms += bool(told.moved_priors)
        interval = told.priors.intervals[1]
        missed += not interval[0] <= 0.2 <= interval[1]
        found += bool(suffice.watch(model, skewed(1000, 0.6)[0]).moved_priors)
    assert missed > 0.5 * draws  # against training shares most draws would be called moved
    assert alarms <= 0.01 * draws + 3.0 * np.sqrt(0.01 * draws)
    assert found > 0.9 * draws


def test_priors_labels_and_levels_that_moved() -> None:
    rng = np.random.default_rng(2)
    y = np.array(["no", "yes"])[rng.integers(0, 2, 400)]
    X = pd.DataFrame(
        {"n": rng.normal(size=400) + 3.0 * (y == "yes"), "c": rng.choice(list("uvw"), 400)}
    )
    model = NaiveBayes(calibration_rows=400).fit(X, y)
    yes = X[y == "yes"]
    assert set(suffice.watch(model, yes).moved_priors) == {"no", "yes"}
    other = X.assign(c=np.where(rng.random(400) < 0.4, "u", X["c"]))
    assert any(t.column == "c" and "share of" in t.what for t in suffice.watch(model, other).moved)
    lied = np.where(rng.random(400) < 0.5, "no", "yes")
    found = suffice.watch(model, X.assign(label=lied), target="label")
    assert found.worse
    assert "right less often" in found.verdict
    merged = NaiveBayes(calibration_rows=400).fit(other, y)
    assert "columns have drifted" in suffice.watch(model, merged).verdict
    assert suffice.watch(model, model).ok


def test_without_kept_rows_it_says_what_is_missing() -> None:
    rng = np.random.default_rng(3)
    X, y = drawn(rng, 300)
    found = suffice.watch(GaussianDiscriminant().fit(X, y), X[:100])
    assert found.expected is None
    assert any("keeps no rows" in note for note in found.notes)
    with pytest.raises(BadSetting, match="this one keeps none"):
        suffice.watch(GaussianDiscriminant().fit(X, y), X, stream=True)
    with pytest.raises(BadSetting, match="keeps no statistics"):
        suffice.watch(LogisticRegression(1.0).fit(X, y), X)
    with pytest.raises((BadRows, ValueError)):
        suffice.watch(GaussianDiscriminant().fit(X, y), X[:0])


def test_the_command_leaves_with_a_code_for_schedulers(tmp_path: Path, capsys: Any) -> None:
    rng = np.random.default_rng(4)
    X, y = drawn(rng, 400)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=np.array(["n", "p"])[y])
    old, new, moved = (tmp_path / name for name in ("old.csv", "new.csv", "moved.csv"))
    frame[:300].to_csv(old, index=False)
    frame[300:].to_csv(new, index=False)
    frame[300:].assign(b=frame["b"] + 2.0).to_csv(moved, index=False)
    model = str(tmp_path / "m.suffice")
    fit = ["fit", str(old), "--target", "y", "--model", "gda", "--calibration-rows", "300"]
    assert main([*fit, "-o", model]) == 0
    capsys.readouterr()
    assert main(["watch", model, str(new), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True
    assert main(["watch", model, str(moved)]) == 3
    assert "columns have drifted: b" in capsys.readouterr().out
    assert main(["watch", model, model]) == 0
    lacking = tmp_path / "lacking.csv"
    frame[["a", "b"]].to_csv(lacking, index=False)
    assert main(["watch", model, str(lacking)]) == 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_classes_that_look_alike_raise_no_alarm_about_their_shares() -> None:
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(8):
        y = np.arange(600) % 2
        model = GaussianDiscriminant(calibration_rows=300).fit(rng.normal(size=(600, 2)), y)
        found = suffice.watch(model, rng.normal(size=(300, 2)))
        assert found.priors is not None
        alarms += bool(found.moved_priors)
    assert alarms == 0
    X = rng.normal(size=(600, 2)) + 2.0 * y[:, None]
    shifted = np.concatenate([X[y == 0], X[y == 1][:60]])
    model = GaussianDiscriminant(calibration_rows=300).fit(X, y)
    assert suffice.watch(model, shifted).moved_priors == (0, 1)
    bare = suffice.watch(GaussianDiscriminant().fit(X, y), shifted)
    assert bare.moved_priors == ()  # nobody knows how far such a model misses shares
    assert any("shares are estimated and not tested" in note for note in bare.notes)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("named", [True, False], ids=["frame", "array"])
@pytest.mark.parametrize(
    "model",
    [
        GaussianDiscriminant(),
        GaussianDiscriminant("per-class", calibration_rows=100),
        GaussianDiscriminant("diagonal"),
        NaiveBayes(),
    ],
    ids=str,
)
@given(st.integers(0, 2**32))
@examples(2)
def test_a_category_is_one_column_and_levels_never_seen_are_one_of_its_levels(
    model: Any, named: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)

    def drawn(n: int, new: float = 0.0, moved: float = 0.0, blank: float = 0.0) -> Any:
        y = rng.integers(0, 2, n)
        cells = np.empty((n, 2), dtype=object)
        cells[:, 0] = rng.choice(list("abcd"), n, p=[0.4, 0.3, 0.2, 0.1])
        for chance, level in ((moved, "a"), (new, "zz"), (blank, None)):
            cells[rng.random(n) < chance, 0] = level
        cells[:, 1] = rng.normal(size=n) + y
        return pd.DataFrame(cells, columns=["k", "v"]) if named else cells, y

    fitted = model.fit(*drawn(400))
    column = "k" if named else "x0"
    columns = {test.column for test in watch(fitted, drawn(100)[0]).tests}
    assert columns == {column, "v" if named else "x1"}
    for settings, said in (
        ({"new": 0.1}, ("levels never seen", "zz")),
        ({"moved": 0.4}, ("share of a",)),
        ({"blank": 0.2}, ("blanks",)),
    ):
        found = watch(fitted, drawn(300, **settings)[0]).moved
        assert any(t.column == column and any(s in t.what for s in said) for t in found)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_path_of_a_table_is_as_good_as_its_rows(ending: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    X, y = drawn(rng, 300)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=np.array(["n", "p"])[y])
    new = frame[200:].assign(b=frame["b"] + 1.0)
    place = tmp_path / f"new.{ending}"
    if ending == "csv":
        new.to_csv(place, index=False)
    else:
        new.to_parquet(place)
    trained = suffice.train(frame[:200], target="y", model="gda", calibration_rows=100)
    trained.save(tmp_path / "m.suffice")
    here = watch(trained.estimator, new, target="y")
    for model in (trained.estimator, tmp_path / "m.suffice"):
        there = watch(model, place)  # the file knows the target
        assert there.observed == here.observed
        assert there.verdict == here.verdict
        assert [t.column for t in there.tests] == [t.column for t in here.tests]
    bare = GaussianDiscriminant(calibration_rows=100).fit(frame[:200].drop(columns="y"), y[:200])
    assert watch(bare, str(place)).observed is None
    assert watch(bare, str(place), target="y").observed is not None
    with pytest.raises(suffice.errors.SufficeError, match="no column 'z'"):
        watch(bare, place, target="z")
    (tmp_path / "head.csv").write_text("a,b,c,d\n", encoding="utf-8")
    with pytest.raises(BadRows, match="no rows"):
        watch(bare, tmp_path / "head.csv")


def test_labels_that_the_model_does_not_know_are_said() -> None:
    rng = np.random.default_rng(6)
    X, y = drawn(rng, 200)
    model = GaussianDiscriminant(calibration_rows=100).fit(X, y)
    new, labels = drawn(rng, 60)
    found = watch(model, new, np.where(np.arange(60) < 5, 7, labels))
    assert any("does not know: 7 (rows: 5)" in note for note in found.notes)
    assert not any("does not know" in note for note in watch(model, new, labels).notes)
