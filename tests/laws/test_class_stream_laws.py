"""Streams of labelled rows: classes that are mixtures, by stepwise EM."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice
from suffice import MixtureDiscriminant
from suffice.errors import BadLabels, BadRows, BadSetting, NotFinite
from suffice.models.mixture.stepwise import START_ROWS, step_rows
from tests.searches import examples, quick

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CENTRES = {
    "one": [[0.0, 0.0]],
    "two": [[-4.0, -4.0], [4.0, 4.0]],
    "three": [[4.0, -4.0], [-4.0, 4.0], [8.0, 0.0]],
}
NUMBERS = {"one": 1, "two": 2, "three": 3}
FORMS = [("VVV", False), ("EEI", False), ("EII", False), ("EEE", True), ("VEV", True)]
SHARES = [0.5, 0.3, 0.2]


def drawn(size: int, seed: int, blank: float = 0.0) -> tuple[Floats, Any]:
    """Rows of three classes of one, two and three kinds, far from zero in their first column."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(list(CENTRES), size, p=SHARES)
    kinds = [CENTRES[label][rng.integers(len(CENTRES[label]))] for label in labels]
    rows = np.array(kinds).reshape(size, 2) + rng.normal(size=(size, 2)) * [1.0, 1.4]
    rows[rng.random(rows.shape) < blank] = np.nan
    rows[:, 0] += 1e5
    return rows, labels


def streamed(model: Any, rows: Any, labels: Any, cuts: Any) -> Any:
    for some, own in zip(np.split(rows, cuts), np.split(labels, cuts), strict=True):
        if len(some):
            model.partial_fit(some, own)
    return model


def own_log_density(model: Any, rows: Floats, labels: Any) -> float:
    """Mean log p(x | y) of rows in their own classes."""
    codes = np.searchsorted(model.classes_, labels)
    joint = model.log_joint(rows)[np.arange(len(rows)), codes]
    return float((joint - np.log(model.priors_[codes])).mean())


@pytest.mark.slow
@pytest.mark.parametrize("blank", [0.0, 0.1])
@pytest.mark.parametrize(("form", "shared"), FORMS)
def test_a_stream_comes_near_to_all_rows_at_once(form: str, shared: bool, blank: float) -> None:
    (rows, labels), (fresh, truth) = drawn(20_000, 1, blank), drawn(4_000, 2, blank)
    stream = MixtureDiscriminant(NUMBERS, form, shared=shared)
    streamed(stream, rows, labels, range(500, 20_000, 500))
    whole = MixtureDiscriminant(NUMBERS, form, shared=shared).fit(rows, labels)
    assert own_log_density(whole, fresh, truth) - own_log_density(stream, fresh, truth) < 0.005
    assert stream.score(fresh, truth) > whole.score(fresh, truth) - 0.002
    np.testing.assert_allclose(stream.priors_, whole.priors_)
    first = MixtureDiscriminant(NUMBERS, form, shared=shared).fit(rows[:500], labels[:500])
    assert own_log_density(stream, fresh, truth) > own_log_density(first, fresh, truth)
    assert stream.n_parameters_ == whole.n_parameters_


@pytest.mark.slow
@examples(4)
@given(
    seed=st.integers(0, 99),
    kind=st.sampled_from(FORMS),
    cuts=st.sets(st.integers(1, 3999), max_size=4),
)
def test_however_a_stream_is_cut_it_comes_to_the_same_classes(
    seed: int, kind: tuple[str, bool], cuts: set[int]
) -> None:
    form, shared = kind
    rows, labels = drawn(4000, seed, 0.02)
    if seed % 2:  # a class that comes late
        late = labels == "three"
        rows, labels = np.vstack([rows[~late], rows[late]]), np.append(labels[~late], labels[late])
    whole = MixtureDiscriminant(NUMBERS, form, shared=shared).partial_fit(rows, labels)
    parts = streamed(MixtureDiscriminant(NUMBERS, form, shared=shared), rows, labels, sorted(cuts))
    np.testing.assert_array_equal(parts.predict_proba(rows), whole.predict_proba(rows))
    assert parts.log_likelihood_ == whole.log_likelihood_


@pytest.mark.parametrize(("form", "shared"), FORMS)
def test_a_stream_that_has_not_begun_is_the_fit_to_its_rows(form: str, shared: bool) -> None:
    rows, labels = drawn(600, 3)
    model = MixtureDiscriminant(NUMBERS, form, shared=shared)
    streamed(model, rows, labels, [200, 201])
    same = MixtureDiscriminant(NUMBERS, form, shared=shared).fit(rows, labels)
    np.testing.assert_allclose(model.predict_proba(rows), same.predict_proba(rows), atol=1e-9)
    assert model.bic_ == pytest.approx(same.bic_)


@pytest.mark.parametrize(("form", "shared"), FORMS)
def test_a_fit_goes_on_as_a_stream_and_does_not_move_before_a_step(form: str, shared: bool) -> None:
    rows, labels = drawn(3000, 4)
    fitted = MixtureDiscriminant(NUMBERS, form, shared=shared).fit(rows[:1500], labels[:1500])
    before = {label: fitted.means_[label] for label in fitted.classes_}
    fitted.partial_fit(rows[1500:1530], labels[1500:1530])
    for label, means in before.items():
        np.testing.assert_allclose(fitted.means_[label], means, rtol=1e-12)
    fitted.partial_fit(rows[1530:], labels[1530:])
    fresh, truth = drawn(3000, 5)
    whole = MixtureDiscriminant(NUMBERS, form, shared=shared).fit(rows, labels)
    gap = own_log_density(whole, fresh, truth) - own_log_density(fitted, fresh, truth)
    assert gap < 0.02
    np.testing.assert_allclose(fitted.priors_, whole.priors_)


@pytest.mark.parametrize("form", quick(["VVV", "EEE", "VVI", "EII", "VEV"], "VVI"))
def test_a_batch_of_all_rows_of_a_fit_costs_no_likelihood(form: str) -> None:
    """At a maximum of the likelihood, the same rows once more say nothing new."""
    rows, labels = drawn(2400, 6)
    model = MixtureDiscriminant(1, form).fit(rows, labels)
    before = own_log_density(model, rows, labels)
    model.partial_fit(rows, labels)
    assert own_log_density(model, rows, labels) > before - 0.003
    one = MixtureDiscriminant(1, form).fit(rows, labels)
    for _ in range(30):  # steps become small: it comes back to the maximum, and stays
        one.partial_fit(rows, labels)
    assert own_log_density(one, rows, labels) > before - 0.0005


@pytest.mark.slow
@pytest.mark.parametrize("cut", [300, 1500, 2999])
@pytest.mark.parametrize(("form", "shared"), FORMS)
def test_a_file_goes_on_with_the_same_bits(
    form: str, shared: bool, cut: int, tmp_path: Path
) -> None:
    rows, labels = drawn(4000, 7, 0.03)
    model = MixtureDiscriminant(NUMBERS, form, shared=shared)
    model.partial_fit(rows[:cut], labels[:cut]).save(tmp_path / "m.suffice")
    later = suffice.load(tmp_path / "m.suffice")
    np.testing.assert_array_equal(later.predict_proba(rows), model.predict_proba(rows))
    for one in (model, later):
        one.partial_fit(rows[cut:], labels[cut:])
    np.testing.assert_array_equal(later.predict_proba(rows), model.predict_proba(rows))
    later.save(tmp_path / "again.suffice")
    model.save(tmp_path / "m.suffice")
    assert (tmp_path / "again.suffice").read_bytes() == (tmp_path / "m.suffice").read_bytes()


def test_a_fit_that_was_saved_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    rows, labels = drawn(3000, 8)
    model = MixtureDiscriminant(NUMBERS, "VVI").fit(rows[:1000], labels[:1000])
    model.save(tmp_path / "m.suffice")
    later = suffice.load(tmp_path / "m.suffice")
    for one in (model, later):
        one.partial_fit(rows[1000:], labels[1000:])
    np.testing.assert_array_equal(later.predict_proba(rows), model.predict_proba(rows))


@pytest.mark.slow
@pytest.mark.parametrize(("form", "shared"), FORMS)
def test_a_class_that_comes_later_is_learned(form: str, shared: bool) -> None:
    rows, labels = drawn(9000, 9)
    first = labels != "three"
    model = MixtureDiscriminant(NUMBERS, form, shared=shared)
    model.partial_fit(rows[first][:3000], labels[first][:3000])
    assert list(model.classes_) == ["one", "two"]
    model.partial_fit(rows[:1], ["three"])
    assert model.components_["three"] == 1  # there is one row
    model.partial_fit(rows[:300], labels[:300])
    assert model.components_ == NUMBERS
    model.partial_fit(rows[300:], labels[300:])
    fresh, truth = drawn(3000, 10)
    whole = MixtureDiscriminant(NUMBERS, form, shared=shared).fit(rows, labels)
    assert model.score(fresh, truth) > whole.score(fresh, truth) - 0.01
    weights = [(labels == label).sum() for label in model.classes_]
    seen = (labels[first][:3000, np.newaxis] == model.classes_).sum(axis=0) + weights
    seen[list(model.classes_).index("three")] += 1
    np.testing.assert_allclose(model.priors_, seen / seen.sum())


def test_a_class_of_which_nothing_comes_forgets_nothing() -> None:
    rows, labels = drawn(12_000, 11)
    model = MixtureDiscriminant(NUMBERS, "VVV").partial_fit(rows[:6000], labels[:6000])
    before = model.means_["two"], model.covariances_["two"]
    rest = labels != "two"
    rest[:6000] = False
    model.partial_fit(rows[rest], labels[rest])
    for old, new in zip(before, (model.means_["two"], model.covariances_["two"]), strict=True):
        np.testing.assert_allclose(new, old, rtol=1e-12)


def test_weights_are_repetitions_within_a_step_and_blank_rows_count_for_nothing() -> None:
    rows, labels = drawn(2500, 12)
    counts = np.random.default_rng(0).integers(1, 4, len(rows))
    weighted = MixtureDiscriminant(NUMBERS, "VVV").partial_fit(rows, labels, sample_weight=counts)
    total = np.array([counts[labels == label].sum() for label in weighted.classes_])
    np.testing.assert_allclose(weighted.priors_, total / total.sum())
    whole = MixtureDiscriminant(NUMBERS, "VVV").fit(rows, labels, counts)
    gap = own_log_density(whole, rows, labels) - own_log_density(weighted, rows, labels)
    assert abs(gap) < 0.02
    more = MixtureDiscriminant(NUMBERS, "VVV").partial_fit(rows, labels, sample_weight=counts)
    more.partial_fit(np.full((50, 2), np.nan), np.repeat("one", 50))
    more.partial_fit(
        np.vstack([rows[:50], [[np.nan, np.nan]]]),
        np.append(labels[:50], "one"),
        sample_weight=np.append(np.zeros(50), 1.0),
    )
    np.testing.assert_array_equal(more.predict_proba(rows), weighted.predict_proba(rows))


@pytest.mark.slow
def test_no_component_is_estimated_from_too_few_rows() -> None:
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(size=(960, 2)), rng.normal(size=(40, 2)) + 30.0])
    labels = np.repeat("a", 1000)
    order = rng.permutation(1000)
    model = MixtureDiscriminant(2, "VVV").partial_fit(rows[order], labels)
    model.partial_fit(rng.normal(size=(500, 2)) - 9.0, np.repeat("b", 500))
    before = np.linalg.eigvalsh(model.covariances_["a"][1])[0]
    many = step_rows(2, 2)
    for seed in range(100):
        more = np.random.default_rng(seed).normal(size=(many, 2))
        if seed % 10 == 0:
            more[0] = model.means_["a"][1]
        model.partial_fit(more, np.repeat("a", many))
    assert np.linalg.eigvalsh(model.covariances_["a"][1])[0] > 0.3 * before


@pytest.mark.slow
def test_components_and_forms_are_chosen_where_a_class_begins() -> None:
    rows, labels = drawn(9000, 13)
    model = MixtureDiscriminant("auto", ["EEE", "VVV"]).partial_fit(rows, labels)
    assert model.components_ == NUMBERS
    shared = MixtureDiscriminant("auto", "EEE", shared=True).partial_fit(rows, labels)
    assert shared.score(rows, labels) > 0.95


# What is refused, and leaves the stream as it was


def test_bad_batches_are_refused_and_change_nothing() -> None:
    rows, labels = drawn(1500, 14)
    model = MixtureDiscriminant(NUMBERS, "VVV").partial_fit(rows, labels)
    before = model.predict_proba(rows)
    bad = rows[:5].copy()
    bad[2, 1] = np.inf
    blank = np.full((3, 2), np.nan)
    refused: list[tuple[Any, Any, type[Exception], str]] = [
        (bad, labels[:5], NotFinite, "[Rr]ow 2"),
        (rows[:3] * [1.0, 1e90], labels[:3], NotFinite, "too large to be squared"),
        (blank, ["new"] * 3, BadRows, "all rows of class 'new' are blank"),
        (rows[:3], [1, 2, 3], BadLabels, "labels were text before"),
        (rows[:3, :1], labels[:3], BadRows, "column"),
    ]
    for X, y, error, words in refused:
        with pytest.raises(error, match=words):
            model.partial_fit(X, y)
        np.testing.assert_array_equal(model.predict_proba(rows), before)
    with pytest.raises(BadSetting, match=r"left-out.*partial_fit"):
        MixtureDiscriminant(criterion="left-out").partial_fit(rows, labels)


def test_degenerate_streams_have_answers_or_refusals() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MixtureDiscriminant(2, "VVV").partial_fit([[1.0, 2.0]], ["a"])
        with pytest.raises(BadRows, match="too few"):
            model.predict([[1.0, 2.0]])
        for _ in range(12):  # contradictory duplicates, a constant column, huge numbers
            model.partial_fit([[1.0, 2.0]] * 100 + [[3e100, 2.0]] * 4, ["a", "b"] * 52)
        p = model.predict_proba([[1.0, 2.0], [3e100, 2.0], [np.nan, 5.0], [np.nan, np.nan]])
        assert np.isfinite(p).all()
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        assert START_ROWS < 1200
        alone = MixtureDiscriminant(3, "EEE", shared=True)
        for size in (1, 1, 30, 3000):
            rows, labels = drawn(size, size)
            alone.partial_fit(rows, labels)
        alone.partial_fit(rows[:1], ["lone"])
        assert np.isfinite(alone.predict_proba(rows)).all()
