"""Gaussian discriminants whose parameters are known: the same as fits that have these."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suffice
from suffice import GaussianDiscriminant
from suffice.errors import BadSetting

RNG = np.random.default_rng(8)
ROWS = RNG.normal(size=(90, 3)) @ RNG.normal(size=(3, 3)) + np.repeat([[0.0], [2.0], [5.0]], 30, 0)
FORMS = ["shared", "per-class", "diagonal", "shared-diagonal", "spherical"]
LABELS = {
    "text": ["b", "a", "c"],
    "integers": [7, 3, 5],
    "truths": [True, False, True],
    "tuples": [("x", 1), ("x", 0), ("y", 2)],
}


def fitted(form: str, divisor: str, kind: str = "text") -> tuple[Any, list[Any]]:
    y = [label for label in LABELS[kind] for _ in range(30)]
    return GaussianDiscriminant(form, divisor=divisor).fit(ROWS, y), y


def again(model: Any, form: str, divisor: str, names: list[str] | None = None) -> Any:
    classes = model.classes_.tolist()
    one = form in ("shared", "shared-diagonal")
    covariances = dict(zip(classes, model.covariances_, strict=True))
    counts = {label: 90 * p for label, p in zip(classes, model.priors_, strict=True)}
    return GaussianDiscriminant.from_parameters(
        dict(zip(classes, model.means_, strict=True)),
        model.covariances_[0] if one else covariances,
        counts,
        covariance=form,
        divisor=divisor,
        names=names,
    )


@pytest.mark.parametrize("divisor", ["mle", "unbiased"])
@pytest.mark.parametrize("form", FORMS)
def test_given_parameters_answer_like_the_fit_that_has_them(form: str, divisor: str) -> None:
    model, _ = fitted(form, divisor)
    made = again(model, form, divisor)
    np.testing.assert_array_equal(made.classes_, model.classes_)
    for name in ("means_", "covariances_", "priors_"):
        np.testing.assert_allclose(
            getattr(made, name), getattr(model, name), rtol=1e-12, atol=1e-12
        )
    np.testing.assert_allclose(made.predict_proba(ROWS), model.predict_proba(ROWS), atol=1e-10)
    np.testing.assert_allclose(made.typicality(ROWS), model.typicality(ROWS), atol=1e-8)
    np.testing.assert_allclose(made.log_density(ROWS), model.log_density(ROWS), rtol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_given_classes_learn_and_forget_like_fitted_ones(form: str) -> None:
    model, y = fitted(form, "mle")
    more = ROWS[:10] + 0.5
    made = again(model, form, "mle").partial_fit(more, y[:10])
    np.testing.assert_allclose(
        made.predict_proba(ROWS), model.partial_fit(more, y[:10]).predict_proba(ROWS), atol=1e-9
    )
    made.forget(more, y[:10])
    np.testing.assert_allclose(made.means_, fitted(form, "mle")[0].means_, rtol=1e-9)


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_given_classes_are_of_any_kind(kind: str, tmp_path: Any) -> None:
    model, _ = fitted("per-class", "mle", kind)
    made = again(model, "per-class", "mle", ["a", "b", "c"])
    assert made.predict(ROWS).tolist() == model.predict(ROWS).tolist()
    made.save(tmp_path / "made.suffice")
    loaded = suffice.load(tmp_path / "made.suffice")
    np.testing.assert_array_equal(loaded.predict_proba(ROWS), made.predict_proba(ROWS))
    assert loaded.feature_names_in_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([[0.0]], [[1.0]], 5), "not the means of classes by label"),
        (({"a": [0.0], "b": [1.0, 2.0]}, [[1.0]], 5), "class 'b'"),
        (({"a": [0.0], "b": [1.0]}, {"a": [[1.0]]}, 5), "covariance of class 'b' is missing"),
        (({"a": [0.0], "b": [1.0]}, [[-1.0]], 5), "class 'a'"),
        (({"a": [0.0], "b": [1.0]}, [[1.0]], {"a": 3}), "weights of class 'b' is missing"),
        (({"a": [0.0], "b": [1.0]}, [[1.0]], 0), "prior rows of class 'a': 0"),
        (({"a": [0.0], "b": [1.0]}, [[1.0]], True), "prior rows of class 'a': True"),
    ],
)
def test_parameters_that_are_none_are_refused(arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(BadSetting, match=words):
        GaussianDiscriminant.from_parameters(*arguments)


def test_a_form_that_cannot_hold_a_covariance_is_refused() -> None:
    means = {"a": [0.0, 0.0], "b": [1.0, 1.0]}
    for form in ("diagonal", "shared-diagonal", "spherical"):
        with pytest.raises(BadSetting, match="cannot represent"):
            GaussianDiscriminant.from_parameters(
                means, [[1.0, 0.5], [0.5, 2.0]], 9, covariance=form
            )
    with pytest.raises(BadSetting, match="is chosen from rows"):
        GaussianDiscriminant.from_parameters(means, np.eye(2), 9, covariance="auto")
