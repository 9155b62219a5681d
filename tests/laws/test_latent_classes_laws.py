"""Hidden classes: EM never falls, and knows neither order, split, repetition nor blank columns."""

from __future__ import annotations

import pickle
import warnings
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import LatentClasses, load
from suffice.errors import (
    BadRows,
    BadSetting,
    BadWeights,
    DidNotConverge,
    DifferentKinds,
    NotFinite,
)
from suffice.families import Binned, Common, Poisson, Product
from suffice.kernels.latent.steps import level_sums
from suffice.models.latent.maximization import HiddenClasses
from suffice.models.latent.rows import DistinctRows, LatentRows
from suffice.models.latent.sums import LatentExpectation, given_sums
from suffice.models.naive_bayes.families.registry import family_named
from suffice.rows import read_table
from suffice.storage.model_file import read_model
from tests.searches import examples

if TYPE_CHECKING:
    from pathlib import Path

FAMILIES: list[Any] = [
    "categorical", "bernoulli", "poisson", "gaussian", "shared-gaussian", "lognormal",
    Binned(edges=(0.0, 1.0, 3.0, 9.0)), "multinomial", Common(Poisson()), "common gaussian",
    "common categorical",
]  # fmt: skip
"""Every family that hidden classes may have."""


def drawn(seed: int, size: int = 90, blank: float = 0.0) -> tuple[pd.DataFrame, Any]:
    """Return rows of two classes that are apart, of every kind, and which each is of."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, size)
    colours = np.array(["red", "blue", "green"])
    frame = pd.DataFrame(
        {
            "colour": [
                rng.choice(colours, p=[0.8, 0.1, 0.1] if c else [0.1, 0.2, 0.7]) for c in codes
            ],
            "shape": [
                rng.choice(["round", "flat"], p=[0.9, 0.1][:: 1 if c else -1]) for c in codes
            ],
            "size": rng.normal(np.where(codes, 5.0, -3.0), 1.0),
            "faults": rng.poisson(np.where(codes, 25.0, 2.0)).astype(float),
            "new": pd.array(rng.random(size) < np.where(codes, 0.9, 0.2), dtype="boolean"),
        }
    )
    holes = rng.random(frame.shape) < blank
    return frame.astype(object).mask(holes, None), codes


@pytest.mark.parametrize("rows", [False, True])
def test_the_compiled_step_is_the_plain_one(rows: bool) -> None:
    rng = np.random.default_rng(0)
    places = rng.integers(0, 9, (700, 5)).astype(np.int32)
    table = np.log(rng.uniform(0.1, 1.0, (9, 3)))
    table[0] = 0.0
    table[4, 1] = -np.inf
    base = rng.normal(size=(700, 3) if rows else 3)
    for weights in (np.empty(0), rng.uniform(0.1, 2.0, 700)):
        given = places, table, base, weights, rows
        for plain, fast in zip(level_sums.plain(*given), level_sums.compiled(*given), strict=True):
            np.testing.assert_allclose(fast, plain, rtol=1e-11, atol=1e-11)
    table[4] = -np.inf  # impossible in every class: no NaN
    given = places, table, base, np.empty(0), True
    for found in (level_sums.plain(*given), level_sums.compiled(*given)):
        assert found[0] == -np.inf
        assert not np.isnan(found[4]).any()


@pytest.mark.parametrize("family", FAMILIES, ids=str)
@examples(3)
@given(seed=st.integers(0, 10_000), alpha=st.sampled_from([0.0, 0.5]))
def test_statistics_of_shares_are_those_of_weighted_rows(
    family: Any, seed: int, alpha: float
) -> None:
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 2, (40, 2)) + (0.0 if family == "bernoulli" else 1.0)
    if family not in ("bernoulli", "multinomial"):
        cells[rng.random(cells.shape) < 0.2] = np.nan
    product = Product.of_columns([family_named(family, "all")] * 2)
    blocks = product.read(read_table(cells))
    shares = rng.dirichlet(np.ones(3), 40)
    weights = rng.uniform(0.5, 2.0, 40)
    found = given_sums(product, LatentRows.of(blocks, weights), shares, (0, 1, 2)).statistics
    each = [
        product.summarize(blocks, np.zeros(40, dtype=np.intp), [c], weights * shares[:, c])
        for c in range(3)
    ]
    hidden = HiddenClasses(product, alpha)
    ours, theirs = hidden.fit(found).model, hidden.fit(reduce(add, each)).model
    np.testing.assert_allclose(ours.log_joint(blocks), theirs.log_joint(blocks), rtol=1e-9)


@pytest.mark.parametrize("family", FAMILIES, ids=str)
@examples(2)
@given(seed=st.integers(0, 10_000), alpha=st.sampled_from([0.0, 0.3, 2.0]))
def test_no_step_falls(family: Any, seed: int, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, 60)
    cells = rng.poisson(np.where(codes, 4.0, 1.0)[:, np.newaxis], (60, 3)) + 1.0
    if family == "bernoulli":
        cells = (cells > 2.0).astype(float)
    if family != "multinomial":
        cells[rng.random(cells.shape) < 0.1] = np.nan
    named: Any = {(0, 1, 2): family} if family == "multinomial" else dict.fromkeys(range(3), family)
    start = rng.dirichlet(np.ones(3), 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LatentClasses(3, named, smoothing=alpha, start=start, tol=1e-10).fit(cells)
    history = model.history_
    assert np.diff(history).min(initial=0.0) >= -1e-11 * np.abs(history).max()
    assert len(history) > 2


@examples(2)
@given(seed=st.integers(0, 10_000), blank=st.sampled_from([0.0, 0.15]))
def test_order_split_and_repetitions_do_not_matter(seed: int, blank: float) -> None:
    frame, _ = drawn(seed, 80, blank)
    rng = np.random.default_rng(seed)
    model = LatentClasses(2, starts=4).fit(frame)
    shuffled = frame.sample(frac=1.0, random_state=seed)
    other = LatentClasses(2, starts=4).fit(shuffled)
    np.testing.assert_allclose(other.predict_proba(frame), model.predict_proba(frame), atol=1e-8)
    assert other.log_likelihood_ == pytest.approx(model.log_likelihood_, rel=1e-12)
    weights = rng.integers(0, 3, len(frame))
    repeated = LatentClasses(2, starts=4).fit(frame.loc[np.repeat(frame.index, weights)])
    weighed = LatentClasses(2, starts=4).fit(frame, sample_weight=weights)
    np.testing.assert_allclose(
        weighed.predict_proba(frame), repeated.predict_proba(frame), atol=1e-8
    )
    assert weighed.bic(frame, weights) == pytest.approx(
        repeated.bic(frame.loc[np.repeat(frame.index, weights)])
    )


def test_sums_of_parts_are_those_of_the_whole() -> None:
    frame, _ = drawn(1, 200, 0.1)
    model = LatentClasses(2, starts=2).fit(frame)
    learned, _ = model._require()
    product = learned.learner.chosen.product
    step = LatentExpectation(learned.model)
    rows = LatentRows.of(product.read(read_table(frame)), None)
    whole = step(rows)
    parts = [step(rows[start : start + 37]) for start in range(0, 200, 37)]
    found = reduce(add, parts)
    assert found.likelihood == pytest.approx(whole.likelihood, rel=1e-12)
    assert whole.likelihood == pytest.approx(model.score_samples(frame).sum(), rel=1e-12)
    hidden = HiddenClasses(product, 1.0)
    ours, theirs = (hidden.fit(one.statistics).model for one in (found, whole))
    np.testing.assert_allclose(
        ours.log_joint(rows.blocks), theirs.log_joint(rows.blocks), rtol=1e-11
    )


def test_a_blank_column_is_as_if_absent_and_a_blank_row_no_row() -> None:
    frame, _ = drawn(3)
    model = LatentClasses(2, starts=3, smoothing=0.5).fit(frame)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        wide = LatentClasses(2, starts=3, smoothing=0.5).fit(frame.assign(nothing=np.nan))
    assert ["nothing" in str(one.message) for one in told] == [True]
    assert wide.n_parameters_ == model.n_parameters_
    assert wide.log_likelihood_ == pytest.approx(model.log_likelihood_, rel=1e-12)
    longer = pd.concat([frame, pd.DataFrame([[None] * 5] * 4, columns=frame.columns)])
    again = LatentClasses(2, starts=3, smoothing=0.5).fit(longer)
    assert again.log_likelihood_ == model.log_likelihood_
    assert again.bic(longer) == pytest.approx(model.bic(frame), rel=1e-12)
    np.testing.assert_allclose(again.predict_proba(longer)[-1], again.weights_)
    assert again.score_samples(longer)[-1] == 0.0


@pytest.mark.slow  # three searches
def test_classes_are_found_and_told_apart() -> None:
    frame, codes = drawn(5, 300, 0.1)
    model = LatentClasses().fit(frame)
    assert model.components_ == 2
    found = model.predict(frame)
    assert max(np.mean(found == codes), np.mean(found != codes)) > 0.97
    assert model.families_ == {
        "colour": "categorical", "shape": "categorical", "size": "gaussian",
        "faults": "gaussian", "new": "bernoulli",
    }  # fmt: skip
    best = [own[0]["column"] for own in model.profiles()]
    assert set(best) <= {"size", "faults"}
    assert model.trials_[0]["components"] == 2
    assert model.trials_[0]["criterion"] == pytest.approx(model.bic(frame))
    overlap = LatentClasses(range(1, 4), criterion="icl", starts=3).fit(frame)
    assert overlap.trials_[0]["criterion"] == pytest.approx(overlap.icl(frame))
    assert model.uncertainty(frame).max() < 0.5 + 1e-9
    p = model.typicality(frame)
    assert ((p >= 0.0) & (p <= 1.0)).all()
    contributions = model.explain(frame).contributions
    assert contributions.shape == frame.shape


def test_blanks_are_filled_and_cells_condition() -> None:
    frame, _ = drawn(6, 300, 0.2)
    model = LatentClasses(2, starts=3).fit(frame)
    filled = model.impute(frame)
    assert not filled.isna().any().any()
    held = frame.notna()
    for name in frame:
        assert (filled[name][held[name]] == frame[name][held[name]]).all()
    tables = model.impute(frame, draws=2, random_state=1)
    assert len(tables) == 2
    assert not tables[0].equals(tables[1])
    known = model.conditional({"size": 5.0})
    expected = model.predict_proba(pd.DataFrame({**{n: [None] for n in frame}, "size": [5.0]}))
    np.testing.assert_allclose(known.weights_, expected[0])
    assert list(known.feature_names_in_) == [n for n in frame if n != "size"]
    np.testing.assert_allclose(
        model.marginal(["colour", "size"]).score_samples(frame[["colour", "size"]]),
        model.score_samples(frame.assign(shape=None, faults=np.nan, new=None)),
    )
    back = pickle.loads(pickle.dumps(known))
    np.testing.assert_array_equal(back.weights_, known.weights_)
    assert known.parameters_["colour"] == model.parameters_["colour"]
    with pytest.raises(BadSetting, match="not counted"):
        known.bic(frame.drop(columns="size"))


def test_a_start_is_followed_and_its_classes_keep_their_numbers() -> None:
    frame, codes = drawn(7, 120)
    model = LatentClasses(start=1 - codes).fit(frame)
    assert model.components_ == 2
    assert np.mean(model.predict(frame) == 1 - codes) > 0.95
    same = LatentClasses(start=np.eye(2)[1 - codes]).fit(frame)
    np.testing.assert_allclose(same.predict_proba(frame), model.predict_proba(frame))
    weights = np.r_[np.zeros(20), np.ones(100)]
    some = LatentClasses(start=codes).fit(frame, sample_weight=weights)
    few = LatentClasses(start=codes[20:]).fit(frame[20:])
    np.testing.assert_allclose(some.predict_proba(frame), few.predict_proba(frame), rtol=1e-9)


def test_streams_come_near_to_one_fit_and_files_go_on() -> None:
    frame, _ = drawn(8, 2000)
    whole = LatentClasses(2, starts=3).fit(frame)
    stream = LatentClasses(2, starts=3)
    for start in range(0, 2000, 200):
        stream.partial_fit(frame[start : start + 200])
    assert stream.score(frame) > whole.score(frame) - 0.01
    assert float(stream._require()[0].statistics.weight) == pytest.approx(2000.0)
    strange = frame[:50].assign(colour="violet")
    before = stream.weights_
    stream.set_params(smoothing=0.0).partial_fit(strange)
    assert np.isfinite(stream.weights_).all()
    assert not np.array_equal(stream.weights_, before)


def test_a_sum_is_the_mixture_of_both() -> None:
    frame, _ = drawn(9, 100)
    one = LatentClasses(2, starts=2, smoothing=0.0).fit(frame[:60])
    other = LatentClasses(1, starts=2, smoothing=0.0).fit(frame[60:])
    both = one + other
    assert both.components_ == 3
    expected = np.logaddexp(
        np.log(0.6) + one.score_samples(frame), np.log(0.4) + other.score_samples(frame)
    )
    np.testing.assert_allclose(both.score_samples(frame), expected, rtol=1e-9)
    with pytest.raises(AttributeError):
        _ = both.log_likelihood_
    with pytest.raises(DifferentKinds, match="families differ"):
        _ = one + LatentClasses(1, {"size": "binned"}).fit(frame)
    with pytest.raises(DifferentKinds, match="columns"):
        _ = one + LatentClasses(1).fit(frame[["size", "new"]])


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_files_hold_the_classes_bit_for_bit(alpha: float, tmp_path: Path) -> None:
    frame, _ = drawn(10, 100, 0.1)
    model = LatentClasses(2, starts=2, smoothing=alpha).fit(frame)
    model.save(tmp_path / "m")
    back = load(tmp_path / "m")
    for question in ("predict", "predict_proba", "score_samples", "typicality", "bic"):
        np.testing.assert_array_equal(
            getattr(back, question)(frame), getattr(model, question)(frame)
        )
    assert back.trials_ == model.trials_
    assert back.families_ == model.families_
    np.testing.assert_array_equal(back.history_, model.history_)
    more = back.partial_fit(frame[:40])
    np.testing.assert_array_equal(
        more.predict_proba(frame), model.partial_fit(frame[:40]).predict_proba(frame)
    )
    more.save(tmp_path / "stream")
    assert load(tmp_path / "stream").components_ == 2
    model.save(tmp_path / "small", statistics=False)
    assert read_model(tmp_path / "small").state["statistics"] is None
    np.testing.assert_array_equal(load(tmp_path / "small").predict(frame), model.predict(frame))


BAD: dict[str, tuple[Any, Any, Any, str]] = {
    "no class": (LatentClasses(0), [["a"], ["b"]], BadSetting, "components=0"),
    "more than rows": (LatentClasses(3), [["a"], ["b"]], BadSetting, "n_samples=2"),
    "more than contents": (LatentClasses(3), [["a"], ["b"], ["a"]], BadSetting, "2 different rows"),
    "more than one": (LatentClasses(2), [["a"], ["a"]], BadSetting, "there is 1 different row,"),
    "blank": (LatentClasses(1), [[None], [None]], BadRows, "all cells are blank"),
    "select": (LatentClasses(2, "select"), [["a"], ["b"]], BadSetting, "labels"),
    "held out": (LatentClasses(2, smoothing="held-out"), [["a"]], BadSetting, "labels"),
    "predictive": (
        LatentClasses(2, "predictive-gaussian"), [[1.5], [2.5]], BadSetting,
        "x0: latent classes cannot have columns of family 'predictive-gaussian'",
    ),
    "infinite": (
        LatentClasses(2, "gaussian"), [[1.0], [np.inf], [2.0]], NotFinite, "row 1"),
    "start": (LatentClasses(2, start=[0]), [["a"], ["b"]], BadSetting, "shape"),
    "criterion": (LatentClasses(2, criterion="dic"), [["a"], ["b"]], BadSetting, "dic"),
    "tolerance": (LatentClasses(2, tol=-1.0), [["a"], ["b"]], BadSetting, "tol"),
    "starts": (LatentClasses(2, starts=0), [["a"], ["b"]], BadSetting, "starts=0"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_has_no_meaning_is_refused(name: str) -> None:
    model, rows, kind, words = BAD[name]
    with pytest.raises(kind, match=words) as refusal:
        model.fit(rows)
    assert "Hint:" in str(refusal.value)


def test_equal_rows_are_one_class_and_constant_columns_say_nothing() -> None:
    rows = [["a", 1.5, True]] * 6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LatentClasses().fit(rows)
        assert model.components_ == 1
        frame, _ = drawn(11)
        plain = LatentClasses(2, starts=3).fit(frame)
        constant = LatentClasses(2, starts=3).fit(frame.assign(same="x", one=1.5))
    assert np.isfinite(model.score_samples(rows)).all()
    assert constant.n_parameters_ == plain.n_parameters_
    assert constant.log_likelihood_ == pytest.approx(plain.log_likelihood_, rel=1e-9)
    with pytest.raises(BadWeights, match="all 6 sample weights are zero"):
        LatentClasses().fit(rows, sample_weight=np.zeros(6))


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_level_never_seen_has_an_answer(alpha: float) -> None:
    frame, _ = drawn(12)
    model = LatentClasses(2, starts=3, smoothing=alpha).fit(frame)
    row = frame[:1].assign(colour="violet")
    assert np.isfinite(model.predict_proba(row)).all()
    assert model.predict_proba(row).sum() == pytest.approx(1.0)
    assert np.isneginf(model.score_samples(row)[0]) == (alpha == 0.0)


def test_too_few_steps_are_told() -> None:
    frame, _ = drawn(13, blank=0.3)
    with pytest.warns(DidNotConverge, match="after 2 steps"):
        model = LatentClasses(2, max_iter=2, starts=2).fit(frame)
    assert not model.converged_
    assert np.isfinite(model.log_likelihood_)


def test_normal_columns_do_not_collapse_under_the_prior() -> None:
    rng = np.random.default_rng(14)
    rows = np.r_[rng.normal(size=(60, 2)), np.full((3, 2), 0.25)]
    model = LatentClasses(3, "gaussian").fit(rows)
    least = min(one["variance"] for own in model.parameters_.values() for one in own.values())
    assert least > 1e-4
    assert model.log_likelihood_ < 0.0


def test_equal_rows_are_merged_only_if_they_are_equal() -> None:
    product = Product.of_columns([family_named("categorical", "all")] * 2)
    blocks = product.read(read_table([["a", "x"], ["b", "x"], ["a", "x"], ["a", None]]))
    found = DistinctRows.of(product, blocks, None)
    assert len(found.rows) == 3
    assert sorted(found.rows.weights.tolist()) == [1.0, 1.0, 2.0]
    assert found.rows.weight == 4.0
