"""Leave-one-out of naive Bayes is exact: the same as fitting on all other rows, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from suffice import (
    BernoulliNaiveBayes,
    ComplementNaiveBayes,
    MultinomialNaiveBayes,
    NaiveBayes,
)
from suffice.families import Binned
from suffice.models.naive_bayes.families.lognormal import LogNormal
from suffice.models.naive_bayes.families.same_in_all_classes import Common

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [
    pytest.mark.filterwarnings("ignore::suffice.errors.DegenerateData"),
    pytest.mark.filterwarnings("ignore::suffice.errors.OneClass"),
]

SIZE = 12
CLASSES = np.array(["a", "b", "c"])
seeds = st.integers(0, 2**32 - 1)
alphas = st.sampled_from([1.0, 0.3, 0.0])


def labels(rng: np.random.Generator) -> Any:
    """Return labels of two classes and, as a rule, one row of a third."""
    y = CLASSES[rng.integers(0, 2, SIZE)]
    y[:2] = ["a", "b"]
    if rng.random() < 0.7:
        y[-1] = "c"
    return y


def refitted(
    make: Callable[..., Any], x: Any, y: Any, w: Any, priors: dict[str, float] | None
) -> Any:
    """Return the log posteriors of each row under a model of all the others."""
    classes = np.unique(y)
    out = np.full((len(y), len(classes)), -np.inf)
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        left = np.unique(y[others])
        given_priors = None
        if priors is not None:
            total = sum(priors[label] for label in left)
            given_priors = {label: priors[label] / total for label in left.tolist()}
        model = make(priors=given_priors) if priors is not None else make()
        model.partial_fit(x[others], y[others], sample_weight=None if w is None else w[others])
        out[i, np.searchsorted(classes, left)] = model.predict_log_proba(x[i : i + 1])[0]
    return out


def assert_exact(
    make: Callable[..., Any], x: Any, y: Any, w: Any = None, priors: Any = None
) -> None:
    """Compare with refits, relative to max(1, |log posterior|)."""
    model = make(priors=priors) if priors is not None else make()
    found = model.fit(x, y, sample_weight=w).leave_one_out(x, y, sample_weight=w)
    expected = refitted(make, x, y, w, priors)
    finite = np.isfinite(expected)
    assert not np.isnan(found.log_posterior).any()
    assert np.array_equal(np.isfinite(found.log_posterior), finite)
    off = np.abs(found.log_posterior[finite] - expected[finite])
    assert np.all(off <= 1e-9 * np.maximum(1.0, np.abs(expected[finite])))
    codes = np.searchsorted(model.classes_, y)
    alone = np.bincount(codes)[codes] == 1
    assert np.array_equal(found.vanished, alone)
    kept = ~alone
    loss = -expected[np.arange(len(y)), codes][kept]
    weights = None if w is None else w[kept]
    with np.errstate(invalid="ignore"):
        mean = np.average(loss, weights=weights)
    assert found.log_loss == pytest.approx(mean, rel=1e-9, abs=1e-9)
    assert found.excluded == alone.sum()


def drawn_weights(rng: np.random.Generator) -> Any:
    """Return no weights, whole ones, or fractions that do not add up exactly."""
    kind = rng.integers(0, 3)
    if kind == 0:
        return None
    return rng.choice([1.0, 2.0, 5.0] if kind == 1 else [0.1, 0.2, 0.1 + 0.2, 0.7, 3.0], size=SIZE)


def drawn_priors(rng: np.random.Generator, y: Any) -> dict[str, float] | None:
    if rng.random() < 0.6:
        return None
    names = np.unique(y).tolist()
    return dict(zip(names, rng.dirichlet(np.ones(len(names))).tolist(), strict=True))


def cells_of(family: str, rng: np.random.Generator, y: Any, width: int) -> Any:
    """Return cells that a family takes, with blanks where it allows them."""
    code = np.searchsorted(CLASSES, y)[:, np.newaxis]
    shape = (len(y), width)
    cells: Any
    if family == "bernoulli":
        cells = (rng.random(shape) < 0.2 + 0.3 * code).astype(float)
    elif family in ("poisson", "multinomial"):
        cells = rng.poisson(rng.gamma(0.7, 1.0, width) * (1 + code), shape).astype(float)
    elif family == "categorical":
        cells = rng.integers(0, 4, shape).astype(float) + (code == 1)
    elif family == "lognormal":
        cells = rng.lognormal(code, 0.7, shape)
    else:
        cells = rng.normal(code, 1.0 + code, shape) + 5.0
    if family != "multinomial":
        cells[rng.random(shape) < rng.choice([0.12, 0.5])] = np.nan
    if rng.random() < 0.2:
        cells[:, 0] = 0.0 if family != "lognormal" else 1.0
    return cells


FAMILIES: dict[str, Any] = {
    "bernoulli": "bernoulli",
    "poisson": "poisson",
    "categorical": "categorical",
    "gaussian": "gaussian",
    "shared-gaussian": "shared-gaussian",
    "lognormal": "lognormal",
    "binned": Binned(edges=(0.0, 4.0, 5.0, 6.0, 7.0)),
    "multinomial": "multinomial",
}


@pytest.mark.parametrize("family", FAMILIES)
@given(seeds, alphas, st.sampled_from([None, 0.4]))
@example(307_461, 1.0, None)  # a row that holds all the variance there is within classes
def test_every_family_is_left_out_exactly(
    family: str, seed: int, alpha: float, temperature: float | None
) -> None:
    rng = np.random.default_rng(seed)
    y = labels(rng)
    x = cells_of(family, rng, y, 2)

    def make(**more: Any) -> NaiveBayes:
        return NaiveBayes(FAMILIES[family], smoothing=alpha, temperature=temperature, **more)

    assert_exact(make, x, y, drawn_weights(rng), drawn_priors(rng, y))


@given(seeds, alphas, st.sampled_from([None, 2.5]))
def test_all_families_together_are_left_out_exactly(
    seed: int, alpha: float, temperature: float | None
) -> None:
    rng = np.random.default_rng(seed)
    y = labels(rng)
    names = (*FAMILIES, "multinomial", "lognormal")
    x = np.column_stack([cells_of(name, rng, y, 1) for name in names])
    families = dict(zip([*range(7), (7, 8)], FAMILIES.values(), strict=True))
    families[9] = Common(LogNormal())

    def make(**more: Any) -> NaiveBayes:
        return NaiveBayes(families, smoothing=alpha, temperature=temperature, **more)

    assert_exact(make, x, y, drawn_weights(rng), drawn_priors(rng, y))


COUNTED: dict[str, tuple[Any, dict[str, Any]]] = {
    "bernoulli": (BernoulliNaiveBayes, {"threshold": 1.0}),
    "multinomial": (MultinomialNaiveBayes, {}),
    "boolean multinomial": (MultinomialNaiveBayes, {"boolean": True}),
    "complement": (ComplementNaiveBayes, {}),
    "boolean complement": (ComplementNaiveBayes, {"boolean": True}),
}


@pytest.mark.parametrize("container", [np.asarray, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", COUNTED)
@given(seeds, alphas)
def test_counts_are_left_out_exactly(name: str, container: Any, seed: int, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    y = labels(rng)
    x = rng.poisson(rng.gamma(0.7, 1.0, 5), (SIZE, 5)).astype(float)
    x[rng.random(SIZE) < 0.2] = 0.0  # a row without any word
    if rng.random() < 0.3:
        x *= 0.7
    kind, settings = COUNTED[name]

    def make(**more: Any) -> Any:
        return kind(smoothing=alpha, **settings, **more)

    priors = None if kind is ComplementNaiveBayes else drawn_priors(rng, y)
    assert_exact(make, container(x), y, drawn_weights(rng), priors)


@pytest.mark.parametrize("kind", [BernoulliNaiveBayes, MultinomialNaiveBayes])
@given(seeds)
def test_smoothing_and_temperature_that_were_found_are_kept(kind: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = labels(rng)
    x = rng.poisson(1.0, (SIZE, 4)).astype(float)
    found = kind(smoothing="held-out", temperature="held-out").fit(x, y)
    (alpha,) = set(found.smoothing_.values())
    same = kind(smoothing=alpha, temperature=found.temperature_).fit(x, y)
    assert found.leave_one_out(x, y).log_posterior == pytest.approx(
        same.leave_one_out(x, y).log_posterior, rel=1e-9, abs=1e-9
    )


def test_classes_of_one_row_are_errors_and_leave_no_class_behind() -> None:
    x, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array(["a", "b", "c"])
    for kind in (BernoulliNaiveBayes, MultinomialNaiveBayes, ComplementNaiveBayes):
        found = kind().fit(x, y).leave_one_out(x, y)
        assert found.error == 1.0
        assert found.log_loss == np.inf
        assert found.excluded == 3
        assert np.array_equal(np.isneginf(found.log_posterior), np.eye(3, dtype=bool))


def test_a_single_row_has_nobody_to_be_judged_by() -> None:
    x, y = np.array([[1.0, 0.0]]), np.array(["a"])
    found = MultinomialNaiveBayes().fit(x, y).leave_one_out(x, y)
    assert found.vanished.all()
    assert not np.isnan(found.log_posterior).any()
    assert found.log_loss == np.inf


def test_a_row_that_alone_shows_a_level_is_judged_as_if_nobody_had_shown_it() -> None:
    x = np.array([["u"], ["u"], ["v"], ["u"], ["v"], ["only"]], dtype=object)
    y = np.array(["a", "a", "a", "b", "b", "b"])
    for alpha in (1.0, 0.0):

        def make(alpha: float = alpha, **more: Any) -> NaiveBayes:
            return NaiveBayes({0: "categorical"}, smoothing=alpha, **more)

        assert_exact(make, x, y)


@given(seeds)
def test_light_rows_beside_heavy_ones_are_left_out_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = labels(rng)
    x = (rng.random((SIZE, 3)) < 0.5).astype(float)
    w = rng.choice([0.01, 0.1, 1000.1], size=SIZE)
    for alpha in (1.0, 0.0):
        for kind in (BernoulliNaiveBayes, MultinomialNaiveBayes):

            def make(kind: Any = kind, alpha: float = alpha, **more: Any) -> Any:
                return kind(smoothing=alpha, **more)

            assert_exact(make, x if rng.random() < 0.5 else csr_array(x), y, w)
