"""What holds for every naive Bayes: any split, any order, any weights, and after forgetting."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from suffice import (
    BernoulliNaiveBayes,
    ComplementNaiveBayes,
    MultinomialNaiveBayes,
    NaiveBayes,
)
from suffice.errors import BadRows
from suffice.families import Binned
from suffice.models.naive_bayes.families.gaussian import GaussianColumns
from suffice.models.naive_bayes.families.same_in_all_classes import Common
from suffice.testing.same import PRECISION

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [
    pytest.mark.filterwarnings("ignore::suffice.errors.DegenerateData"),
    pytest.mark.filterwarnings("ignore::suffice.errors.OneClass"),
]

FAMILIES: dict[Any, Any] = {
    "word": "categorical",
    "flag": "bernoulli",
    "calls": "poisson",
    "size": "gaussian",
    "price": "lognormal",
    "age": Binned(edges=(0.0, 20.0, 35.0, 80.0)),
    "height": "shared-gaussian",
    "depth": Common(GaussianColumns()),
    ("up", "down"): "multinomial",
}
WORDS = np.array(["red", "green", "blue", "rare", None], dtype=object)
CLASSES = np.array(["a", "b", "c"])
seeds = st.integers(0, 2**32 - 1)


# Rows of every kind


def labels(rng: np.random.Generator, size: int) -> Any:
    """Return labels of two classes, and perhaps one row of a third."""
    y = CLASSES[rng.integers(0, 2, size)]
    y[:4] = ["a", "b", "a", "b"]
    if rng.random() < 0.7:
        y[rng.integers(4, size)] = "c"
    return y


def mixed(rng: np.random.Generator, size: int = 24) -> tuple[Any, Any]:
    """Return rows of numbers, words, truths and counts with blanks, and labels."""
    y = labels(rng, size)
    code = np.searchsorted(CLASSES, y)
    columns = [
        WORDS[(rng.integers(0, 5, size) + code) % 5],
        rng.random(size) < 0.3 + 0.2 * code,
        rng.poisson(1.0 + 2.0 * code).astype(float),
        rng.normal(50.0 + 3.0 * code, 1.0 + code),
        rng.lognormal(1.0 + 0.5 * code, 0.6),
        rng.uniform(0.0, 90.0, size),
        rng.normal(code, 2.0),
        rng.normal(code, 3.0),
        rng.poisson(1.0, size),
        rng.poisson(1.0 + code),
    ]
    x = np.empty((size, 10), dtype=object)
    for j, cells in enumerate(columns):
        x[:, j] = cells.tolist()
    x[:, :8][rng.random((size, 8)) < 0.1] = None
    if rng.random() < 0.2:
        x[:, rng.integers(0, 8)] = None
    return x, y


def some(rng: np.random.Generator) -> tuple[Any, Any]:
    """Return only the words, calls, sizes and the two counts of `mixed`."""
    x, y = mixed(rng)
    return x[:, [0, 2, 3, 8, 9]], y


def frames(rng: np.random.Generator, size: int) -> tuple[Any, Any]:
    """Return the same as a frame."""
    x, y = mixed(rng, size)
    names = [*list(FAMILIES)[:8], "up", "down"]
    frame = pd.DataFrame(x, columns=names).astype({"flag": "boolean", "word": object})
    numbers = [name for name in names if name not in ("flag", "word")]
    return frame.astype(dict.fromkeys(numbers, float)), y


def counts(rng: np.random.Generator, size: int = 24, width: int = 6) -> tuple[Any, Any]:
    """Return rows of counts, some of them empty, some words in no row or in all, and labels."""
    y = labels(rng, size)
    code = np.searchsorted(CLASSES, y)
    rates = rng.gamma(0.5, 1.0, size=(3, width))
    x = rng.poisson(rates[code]).astype(float)
    x[rng.random(size) < 0.1] = 0.0
    x[:, 0], x[:, 1] = 0.0, 1.0 + x[:, 1]
    return x, y


def blanks(rng: np.random.Generator, size: int = 24) -> tuple[Any, Any]:
    """Return counts of which some are missing, and labels."""
    x, y = counts(rng, size)
    x[rng.random(x.shape) < 0.15] = np.nan
    return x, y


def measures(rng: np.random.Generator, size: int = 24) -> tuple[Any, Any]:
    """Return numbers in odd units of which some are missing, and labels."""
    x, y = blanks(rng, size)
    x = (x + rng.normal(size=x.shape)) * 10.0 ** rng.integers(-3, 4, size=x.shape[1])
    return x.astype(object), y


def sparse(rng: np.random.Generator, size: int = 24) -> tuple[Any, Any]:
    """Return sparse counts and labels."""
    x, y = counts(rng, size)
    return csr_array(x), y


@dataclass(frozen=True)
class Case:
    """An estimator, and the rows it is tried on."""

    make: Callable[..., Any]
    rows: Callable[..., tuple[Any, Any]]
    settings: dict[str, Any]

    def model(self, **more: Any) -> Any:
        return self.make(**{**self.settings, **more})


HELD_OUT = {"smoothing": "held-out", "temperature": "held-out"}
PLACES = dict(zip([*range(8), (8, 9)], FAMILIES.values(), strict=True))
FEW_PLACES = {0: "categorical", 1: "poisson", 2: "gaussian", (3, 4): "multinomial"}
CASES = {
    "mixed": Case(NaiveBayes, mixed, {"families": PLACES}),
    "mixed, held out": Case(NaiveBayes, some, {"families": FEW_PLACES, **HELD_OUT}),
    "mixed, unsmoothed": Case(NaiveBayes, mixed, {"families": PLACES, "smoothing": 0}),
    "predictive": Case(NaiveBayes, measures, {"families": "predictive-gaussian"}),
    "bernoulli": Case(BernoulliNaiveBayes, blanks, {}),
    "bernoulli, sparse, held out": Case(BernoulliNaiveBayes, sparse, HELD_OUT),
    "multinomial, held out": Case(MultinomialNaiveBayes, sparse, HELD_OUT),
    "multinomial, sparse, unsmoothed": Case(MultinomialNaiveBayes, sparse, {"smoothing": 0}),
    "boolean multinomial": Case(MultinomialNaiveBayes, sparse, {"boolean": True}),
    "complement": Case(ComplementNaiveBayes, sparse, {"smoothing": "held-out"}),
}
LIGHT = {name: case for name, case in CASES.items() if name != "mixed, held out"}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
every_light_case = pytest.mark.parametrize("case", LIGHT.values(), ids=LIGHT)


# The same


def assert_close(left: Any, right: Any, tolerance: float = 1e-9) -> None:
    """Numbers agree relative to max(1, |number|); infinite ones are the same."""
    left, right = np.asarray(left), np.asarray(right)
    assert left.shape == right.shape
    finite = np.isfinite(right)
    assert np.array_equal(left[~finite], right[~finite])
    allowed = tolerance * np.maximum(1.0, np.abs(right[finite]))
    worst = np.abs(left[finite] - right[finite]) - allowed
    assert np.all(worst <= 0.0), f"off by {worst.max(initial=0.0)}"


def assert_same_counts(left: Any, right: Any) -> None:
    """Whatever counts something is the same to the last bit."""
    moments = {"mean", "low", "scatter", "error"} | PRECISION
    ours, theirs = (
        {
            name: array
            for name, array in model.statistics_.to_arrays().items()
            if name.rpartition("/")[2] not in moments
        }
        for model in (left, right)
    )
    assert ours.keys() == theirs.keys()
    for name in ours:
        assert np.array_equal(ours[name], theirs[name]), name


def assert_agree(left: Any, right: Any, x: Any, *, whole: bool = True) -> None:
    """The same classes, counts, settings found, posteriors and densities."""
    assert list(left.classes_) == list(right.classes_)
    if whole:
        assert_same_counts(left, right)
    for family, alpha in right.smoothing_.items():
        assert left.smoothing_[family] == pytest.approx(alpha, rel=1e-6), family
    assert left.temperature_ == pytest.approx(right.temperature_, rel=1e-6)
    found = isinstance(getattr(right, "temperature", None), str)
    tolerance = 1e-6 if found else 1e-9
    assert_close(left.predict_log_proba(x), right.predict_log_proba(x), tolerance)
    if not isinstance(right, ComplementNaiveBayes):
        assert_close(left.log_joint(x), right.log_joint(x), tolerance)


# Any split, any order, any way of counting


@every_case
@given(seeds)
def test_batches_and_shards_in_any_order_are_one_fit(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = case.rows(rng)
    whole = case.model().fit(x, y)
    order = rng.permutation(len(y))
    # Sorted by label, batches hold one class each; cut at random, some hold one row.
    if rng.random() < 0.3:
        order = np.argsort(y, kind="stable")
    cuts = np.unique(rng.integers(1, len(y), size=rng.integers(1, 4)))
    parts = np.split(order, cuts)
    stream = case.model()
    for part in parts:
        stream.partial_fit(x[part], y[part])
    assert_agree(stream, whole, x)
    shards = [case.model().partial_fit(x[part], y[part]) for part in parts]
    merged = sum(shards[i] for i in rng.permutation(len(shards)))
    assert_same_counts(merged, whole)
    assert_close(merged.predict_log_proba(x), stream.predict_log_proba(x))


@every_case
@given(seeds)
def test_a_weight_is_a_repetition_and_zero_is_no_row(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = case.rows(rng)
    times = rng.integers(0, 4, len(y))
    times[:4] = [1, 2, 3, 1]
    places = np.repeat(np.arange(len(y)), times)
    weighted = case.model().fit(x, y, sample_weight=times)
    repeated = case.model().fit(x[places], y[places])
    assert_agree(weighted, repeated, x)


@every_case
@given(seeds)
def test_what_was_forgotten_was_never_seen(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = case.rows(rng)
    kept = rng.random(len(y)) < 0.6
    kept[:4], kept[-1] = True, False
    if rng.random() < 0.5:
        kept[y == "c"] = False  # a class, and perhaps levels, that go altogether
    model = case.model().fit(x, y)
    gone = rng.permutation(np.flatnonzero(~kept))
    for part in np.split(gone, np.unique(rng.integers(0, len(gone) + 1, size=2))):
        if len(part):
            model.forget(x[part], y[part])
    assert_agree(model, case.model().fit(x[np.flatnonzero(kept)], y[kept]), x)


def leaves_one_cell(x: Any, y: Any, cut: int) -> bool:
    """Whether some column of a class keeps one cell of many: its variance has no digits then.

    A cell of weight one is known to be alone, and has no variance; a weight of 0.1 might be any
    number of cells, so that forgetting the others is refused.
    """
    if not isinstance(x, np.ndarray) or x.dtype != object:
        return False
    seen = ~pd.isna(x)
    first, second = (
        np.array([seen[part][y[part] == label].sum(axis=0) for label in CLASSES])
        for part in (slice(cut), slice(cut, None))
    )
    return bool(((first == 1) & (second > 0)).any())


@every_light_case
@given(seeds)
def test_fractional_weights_are_forgotten_like_whole_ones(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = case.rows(rng)
    w = rng.choice([0.1, 0.2, 0.1 + 0.2, 0.7, 1.0], size=len(y))
    cut = int(rng.integers(5, len(y)))
    first, second = np.arange(cut), np.arange(cut, len(y))
    assume(not leaves_one_cell(x, y, cut))
    model = case.model()
    for part in (second, first):
        model.partial_fit(x[part], y[part], sample_weight=w[part])
    whole = case.model().fit(x, y, sample_weight=w)
    assert_close(model.predict_log_proba(x), whole.predict_log_proba(x), 1e-6)
    model.forget(x[second], y[second], sample_weight=w[second])
    rest = case.model().fit(x[first], y[first], sample_weight=w[first])
    assert list(model.classes_) == list(rest.classes_)
    assert_close(model.predict_log_proba(x), rest.predict_log_proba(x), 1e-6)


@every_light_case
@given(seeds)
def test_what_travels_arrives_whole(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = case.rows(rng)
    model = case.model().fit(x, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_log_proba(x), model.predict_log_proba(x))
    statistics = type(model.statistics_).from_arrays(model.statistics_.to_arrays())
    found = model.learned_.learner.of_model().fit(statistics).model
    assert found.temperature == pytest.approx(model.temperature_, rel=1e-9)
    again.partial_fit(x[np.arange(3)], y[:3])
    model.partial_fit(x[np.arange(3)], y[:3])
    assert_agree(again, model, x)


# Sparse and dense, named and not, narrow and wide


COUNT_CASES = {
    "bernoulli": Case(BernoulliNaiveBayes, counts, {}),
    "bernoulli, held out": Case(BernoulliNaiveBayes, counts, HELD_OUT),
    "bernoulli, above one": Case(BernoulliNaiveBayes, counts, {"threshold": 1.0, "smoothing": 0}),
    "multinomial, held out": Case(MultinomialNaiveBayes, counts, HELD_OUT),
    "multinomial, unsmoothed": Case(MultinomialNaiveBayes, counts, {"smoothing": 0}),
    "boolean multinomial": Case(MultinomialNaiveBayes, counts, {"boolean": True}),
    "complement": Case(ComplementNaiveBayes, counts, {}),
    "complement, unsmoothed": Case(ComplementNaiveBayes, counts, {"smoothing": 0}),
}


@pytest.mark.parametrize("case", COUNT_CASES.values(), ids=COUNT_CASES)
@given(seeds)
def test_sparse_rows_are_the_same_as_dense_ones(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = case.rows(rng)
    whole = rng.random() < 0.5 or case.make is BernoulliNaiveBayes
    if not whole:
        x *= 0.37  # any numbers above zero will do
    thin = csr_array(x)
    dense, narrow = case.model().fit(x, y), case.model().fit(thin, y)
    assert_agree(narrow, dense, x, whole=whole)
    for model in (dense, narrow):
        assert_close(model.predict_log_proba(thin), dense.predict_log_proba(x), 1e-12)
        assert_close(
            model.leave_one_out(thin, y).log_posterior, dense.leave_one_out(x, y).log_posterior
        )
    both = case.model().partial_fit(x[:10], y[:10]).partial_fit(csr_array(x[10:]), y[10:])
    assert_agree(both, dense, x, whole=whole)
    merged = case.model().partial_fit(thin[10:], y[10:]) + case.model().partial_fit(x[:10], y[:10])
    assert_close(merged.predict_log_proba(x), both.predict_log_proba(x), 1e-6)
    both.forget(thin[:10], y[:10])
    assert_agree(both, case.model().fit(thin[10:], y[10:]), x, whole=whole)
    if case.settings.get("smoothing") != 0:
        told, again = dense.explain(x), narrow.explain(thin)
        assert_close(again.contributions, told.contributions, 1e-12)


@pytest.mark.parametrize("settings", [{}, HELD_OUT], ids=["plain", "held out"])
@pytest.mark.parametrize("seed", range(5))
def test_columns_of_a_frame_may_come_in_any_order(settings: dict[str, Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = frames(rng, 16)
    model = NaiveBayes(FAMILIES, **settings).fit(x, y)
    turned = x[rng.permutation(x.columns)]
    assert np.array_equal(model.predict_log_proba(turned), model.predict_log_proba(x))
    stream = NaiveBayes(FAMILIES, **settings)
    stream.partial_fit(x[:9], y[:9]).partial_fit(turned[9:], y[9:])
    assert_agree(stream, model, x)
    if settings is HELD_OUT:
        return  # folds are told by the place of a column, so another first order is another split
    other = NaiveBayes(FAMILIES, **settings).fit(turned, y)
    assert_close(other.predict_log_proba(x), model.predict_log_proba(x))
    assert_close(other.leave_one_out(x, y).log_posterior, model.leave_one_out(x, y).log_posterior)


@given(seeds)
def test_float32_rows_are_their_float64_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = labels(rng, 24)
    wide = rng.normal(size=(24, 3)) + np.searchsorted(CLASSES, y)[:, np.newaxis]
    narrow = np.abs(wide).astype(np.float32) + np.float32(0.1)
    for families in ("gaussian", "lognormal", {0: "binned", 1: "lognormal", 2: "shared-gaussian"}):
        one = NaiveBayes(families).fit(narrow, y)
        two = NaiveBayes(families).fit(narrow.astype(np.float64), y)
        assert_close(one.predict_log_proba(narrow.astype(float)), two.predict_log_proba(
            narrow.astype(float)), 1e-12)  # fmt: skip
        assert_close(one.predict_log_proba(narrow), two.predict_log_proba(narrow), 1e-4)
    for kind in (BernoulliNaiveBayes, MultinomialNaiveBayes, ComplementNaiveBayes):
        for rows in (narrow, csr_array(narrow)):
            one, two = kind().fit(rows, y), kind().fit(rows.astype(np.float64), y)
            assert_agree(one, two, rows)


@every_light_case
@given(seeds)
def test_a_row_asked_alone_is_the_row_among_others(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = case.rows(rng)
    model = case.model().fit(x, y)
    together = model.predict_log_proba(x)
    for i in rng.choice(len(y), size=4, replace=False):
        assert_close(model.predict_log_proba(x[[i]])[0], together[i], 1e-12)
        assert model.predict_proba(x[[i]])[0] == pytest.approx(np.exp(together[i]), abs=1e-12)


def test_a_level_is_known_again_when_it_comes_alone() -> None:
    cells: list[Any] = ["x", 1, True, 2.0, 0.5, "2"]
    x = np.array([[cell] for cell in cells * 2], dtype=object)
    y = np.arange(12) % 5 % 2
    try:
        model = NaiveBayes({0: "categorical"}).fit(x, y)
    except BadRows:  # then a fraction is no level at all
        x, y = x[x[:, 0] != 0.5], y[x[:, 0] != 0.5]
        model = NaiveBayes({0: "categorical"}).fit(x, y)
    # A column of text alone would refuse numbers later: that is a change of meaning.
    first = len(y) // 2
    stream = NaiveBayes({0: "categorical"}).partial_fit(x[:first], y[:first])
    for i in range(first, len(y)):
        stream.partial_fit(x[[i]], y[[i]])
        assert_close(model.predict_log_proba(x[[i]])[0], model.predict_log_proba(x)[i], 1e-12)
    assert_agree(stream, model, x)


# Units, names and levels


@given(seeds, st.floats(-20.0, 20.0), st.floats(-1e3, 1e3))
def test_units_do_not_matter(seed: int, exponent: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    y = labels(rng, 30)
    x = rng.normal(size=(30, 3)) + np.searchsorted(CLASSES, y)[:, np.newaxis]
    scale = 10.0**exponent
    for families in ("gaussian", "shared-gaussian"):
        plain = NaiveBayes(families).fit(x, y).predict_log_proba(x)
        units = scale * (x + shift)
        moved = NaiveBayes(families).fit(units, y).predict_log_proba(units)
        # Adding a thousand costs the cells themselves three digits.
        assert_close(moved, plain, 1e-9 * max(1.0, abs(shift)))
    x = np.exp(x)
    plain = NaiveBayes("lognormal").fit(x, y).predict_log_proba(x)
    assert_close(NaiveBayes("lognormal").fit(scale * x, y).predict_log_proba(scale * x), plain)


@given(seeds)
def test_a_category_by_another_name_is_the_same(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = labels(rng, 24)
    cells = np.array([["u", 1, "x"], ["v", 2, None], ["w", 30, 5]], dtype=object)
    x = np.column_stack([cells[rng.integers(0, 3, 24), j] for j in range(3)])
    names = {"u": "v", "v": 7, "w": True, 1: "one", 2: 1, 30: -3, "x": "é", 5: "five"}
    other = np.array([[names.get(cell, cell) for cell in row] for row in x], dtype=object)
    asked = np.array([["never", 4, "x"], [None, None, None]], dtype=object)
    for alpha in (1.0, 0.0):
        families = {0: "categorical", 1: "categorical", 2: "categorical"}
        one = NaiveBayes(families, smoothing=alpha).fit(x, y)
        two = NaiveBayes(families, smoothing=alpha).fit(other, y)
        assert_close(two.predict_log_proba(other), one.predict_log_proba(x), 1e-12)
        assert_close(
            two.leave_one_out(other, y).log_posterior, one.leave_one_out(x, y).log_posterior, 1e-12
        )
        assert_close(two.predict_log_proba(asked)[1], one.predict_log_proba(asked)[1], 1e-12)


@every_light_case
@given(seeds)
def test_a_class_by_another_name_is_the_same(case: Case, seed: int) -> None:
    if isinstance(case.settings.get("smoothing"), str):
        return  # the label is part of what chooses the fold
    rng = np.random.default_rng(seed)
    x, y = case.rows(rng)
    one = case.model().fit(x, y)
    two = case.model().fit(x, np.searchsorted(CLASSES, y)[:] * 10 - 10)
    assert_close(two.predict_log_proba(x), one.predict_log_proba(x), 1e-12)


# What the answers mean


@every_light_case
@given(seeds)
def test_posteriors_sum_to_one_and_their_largest_is_predicted(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = case.rows(rng)
    model = case.model().fit(x, y)
    asked, _ = case.rows(rng)
    for rows in (x, asked):
        log_posterior = model.predict_log_proba(rows)
        posterior = model.predict_proba(rows)
        assert not np.isnan(log_posterior).any()
        assert posterior.sum(axis=1) == pytest.approx(np.ones(len(y)), abs=1e-12)
        assert posterior == pytest.approx(np.exp(log_posterior), abs=1e-12)
        places = np.searchsorted(model.classes_, model.predict(rows))
        best = posterior.max(axis=1)
        assert np.all(posterior[np.arange(len(y)), places] >= best - 1e-12)
        if isinstance(model, ComplementNaiveBayes) or model.temperature_ != 1.0:
            continue
        density = model.log_density(rows)
        possible = density > -np.inf
        joint = model.log_joint(rows)[possible] - density[possible, np.newaxis]
        assert_close(joint, log_posterior[possible])


@every_light_case
@given(seeds)
def test_explanations_add_up_to_the_log_odds(case: Case, seed: int) -> None:
    if case.settings.get("smoothing") == 0:
        return  # some rows hold impossible events on both sides, and are refused
    rng = np.random.default_rng(seed)
    x, y = case.rows(rng)
    model = case.model().fit(x, y)
    log_posterior = model.predict_log_proba(x)
    told = model.explain(x, of="b", against="a")
    assert_close(told.log_odds, log_posterior[:, 1] - log_posterior[:, 0])
    ranked = np.sort(log_posterior, axis=1)
    assert_close(model.explain(x).log_odds, ranked[:, -1] - ranked[:, -2])
    if case.make is NaiveBayes:
        assert np.all(told.contributions[pd.isna(x)] == 0.0)


@given(seeds)
def test_log_joint_minus_linear_scores_is_one_number_a_row(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = counts(rng)
    x[:, 4] = x[:, 4] > 0.0
    x[:, 5] = rng.normal(x[:, 1], 2.0) + 100.0
    families = {(0, 1): "multinomial", (2, 3): "poisson", 4: "bernoulli", 5: "shared-gaussian"}
    for temperature in (None, 0.4):
        model = NaiveBayes(families, smoothing=0.5, temperature=temperature).fit(x, y)
        form = model.model_.linear_form()
        rest = model.log_joint(x) - form.scores(x)
        logistic = model.to_logistic()
        log_posterior = model.predict_log_proba(x)
        assert_close(logistic.predict_log_proba(x), log_posterior)
        found = logistic.against("b")
        odds = np.delete(log_posterior - log_posterior[:, [1]], 1, axis=1)
        assert_close(x @ found.coef.T + found.intercept, odds)
        if temperature is None:
            size = np.maximum(1.0, np.abs(rest).max(axis=1))
            assert np.all(np.ptp(rest, axis=1) <= 1e-9 * size)


@pytest.mark.parametrize("name", ["bernoulli", "multinomial, held out", "boolean multinomial"])
@given(seeds)
def test_the_implied_logistic_model_of_counts_has_the_same_probabilities(
    name: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    x, y = counts(rng)
    model = COUNT_CASES[name].model().fit(x, y)
    for rows in (x, csr_array(x)):
        logistic = model.to_logistic()
        assert_close(logistic.predict_log_proba(rows), model.predict_log_proba(rows))
    cells = x if "held out" in name else (x > 0.0).astype(float)
    found = logistic.against()
    odds = model.predict_log_proba(x) - model.predict_log_proba(x)[:, :1]
    assert_close(cells @ found.coef.T + found.intercept, odds[:, 1:])


def test_far_rows_have_the_posterior_of_the_limit_and_no_density() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    x = rng.normal(size=(40, 2)) * (1.0 + y[:, np.newaxis]) + y[:, np.newaxis]
    model = NaiveBayes({0: "gaussian", 1: "shared-gaussian"}).fit(x, y)
    # Squares of one column against a linear score of the other: the wider class wins.
    for row in ([1e160, -1e200], [-1e200, 1e200], [1e307, 0.0]):
        assert model.predict_proba([row])[0].tolist() == [0.0, 1.0]
        assert model.predict([row])[0] == 1
        assert model.log_density([row])[0] < -1e300
    flagged = np.column_stack([x[:, 0], y])
    strict = NaiveBayes({0: "gaussian", 1: "bernoulli"}, smoothing=0).fit(flagged, y)
    assert strict.predict_proba([[1e200, 0.0], [1e200, 1.0]]).tolist() == [[1.0, 0.0], [0.0, 1.0]]


# Priors


@every_light_case
@given(seeds)
def test_other_priors_move_every_row_by_the_same_odds(case: Case, seed: int) -> None:
    if case.make is ComplementNaiveBayes:
        return  # it has none
    rng = np.random.default_rng(seed)
    x, y = case.rows(rng)
    model = case.model().fit(x, y)
    given_priors = rng.dirichlet(np.ones(len(model.classes_)))
    priors = dict(zip(model.classes_.tolist(), given_priors.tolist(), strict=True))
    other = model.with_priors(priors)
    shift = np.log(given_priors) - np.log(model.priors_)
    assert_close(other.log_joint(x), model.log_joint(x) + shift)
    if not isinstance(case.settings.get("temperature"), str):  # β belongs to the priors it has
        moved = model.predict_log_proba(x) + shift
        moved -= np.logaddexp.reduce(moved, axis=1, keepdims=True)
        assert_close(other.predict_log_proba(x), moved)
    direct = case.model(priors=priors).fit(x, y)
    assert_close(other.predict_log_proba(x), direct.predict_log_proba(x))
    assert model.priors is None
