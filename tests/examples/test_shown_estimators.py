"""Every fitted estimator, in every form, can be looked at: dir, repr, HTML, all its members."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest

import suffice

RNG = np.random.default_rng(5)
NUMBERS = RNG.normal(size=(60, 3)) + np.repeat([[0.0], [1.0], [2.5]], 20, axis=0)
COUNTS = RNG.poisson(2.0, size=(60, 3)) + np.repeat([[0], [1], [2]], 20, axis=0)
TEXTS = [f"word{i % 3} again{i % 5} and {i}" for i in range(60)]
LABELS = np.repeat(["a", "b", "c"], 20)

FORMS = ["shared", "per-class", "diagonal", "shared-diagonal", "spherical", "auto"]
EVENTS = ["bernoulli", "multinomial", "boolean", "complement", "language", "both"]

FITTED = {
    **{
        f"gda-{form}": lambda form=form: suffice.GaussianDiscriminant(form).fit(NUMBERS, LABELS)
        for form in FORMS
    },
    "gda-pooled": lambda: suffice.GaussianDiscriminant("per-class", pool=0.3, shrink=0.2).fit(
        NUMBERS, LABELS
    ),
    "gda-two-classes": lambda: suffice.GaussianDiscriminant("per-class").fit(
        NUMBERS[:40], LABELS[:40]
    ),
    **{
        f"naive-bayes-{kind}": lambda kind=kind: suffice.NaiveBayes(kind).fit(COUNTS, LABELS)
        for kind in ("auto", "select", "gaussian", "poisson", "categorical", "binned")
    },
    "bernoulli": lambda: suffice.BernoulliNaiveBayes().fit(COUNTS > 1, LABELS),
    "multinomial": lambda: suffice.MultinomialNaiveBayes().fit(COUNTS, LABELS),
    "complement": lambda: suffice.ComplementNaiveBayes().fit(COUNTS, LABELS),
    "logistic": lambda: suffice.LogisticRegression(penalty=1.0).fit(NUMBERS, LABELS),
    "logistic-two-classes": lambda: suffice.LogisticRegression(penalty=1.0).fit(
        NUMBERS[:40], LABELS[:40]
    ),
    "pool": lambda: suffice.Pool(["naive Bayes", "logistic", "forest"]).fit(NUMBERS, LABELS),
    "perceptron": lambda: suffice.Perceptron().fit(NUMBERS, LABELS),
    **{
        f"text-{model}": lambda model=model: suffice.TextClassifier(model).fit(TEXTS, LABELS)
        for model in EVENTS
    },
    "vectorizer": lambda: suffice.TextVectorizer().fit(TEXTS),
}


def members(shown: Any) -> dict[str, Any]:
    """Return whatever `inspect` finds, as tools that complete names do."""
    with warnings.catch_warnings():
        # Some members are there to warn, such as scikit-learn's deprecated ones.
        warnings.simplefilter("ignore")
        return dict(inspect.getmembers(shown))


@pytest.mark.parametrize("name", FITTED)
def test_a_fitted_estimator_can_be_shown(name: str) -> None:
    model = FITTED[name]()
    assert "predict" in dir(model) or "transform" in dir(model)
    assert type(model).__name__ in repr(model)
    assert type(model).__name__ in model._repr_html_()
    assert set(members(model)) <= set(dir(model)) | {"__abstractmethods__"}


@pytest.mark.parametrize("name", FITTED)
def test_an_estimator_can_be_shown_before_it_is_fitted(name: str) -> None:
    model = type(FITTED[name]())(**FITTED[name]().get_params(deep=False))
    assert type(model).__name__ in repr(model)
    assert type(model).__name__ in model._repr_html_()
    assert members(model)


@pytest.mark.parametrize("form", FORMS)
def test_only_a_shared_covariance_has_output_columns(form: str) -> None:
    model = FITTED[f"gda-{form}"]()
    shared = form == "shared"
    assert hasattr(model, "_n_features_out") == shared
    assert hasattr(model, "scalings_") == shared
    assert hasattr(model, "transform") == shared


# Answers that are not arrays


def test_leave_one_out_is_shown_in_short_and_taken_whole_as_a_frame() -> None:
    model = suffice.GaussianDiscriminant().fit(NUMBERS, LABELS)
    found = model.leave_one_out(NUMBERS, LABELS)
    assert len(repr(found).splitlines()) < 20
    assert f"{found.log_loss:.4g}" in repr(found)
    assert found._repr_html_().count("<tr>") == 11  # the head, and ten rows
    frame = found.to_frame("pandas")
    assert list(frame["row"]) == list(range(60))
    assert list(frame["label"]) == list(LABELS)
    np.testing.assert_allclose(frame["loss"].mean(), found.log_loss)
    assert frame["wrong"].mean() == pytest.approx(found.error)
    np.testing.assert_allclose(np.exp(-frame["loss"]), frame["p_label"])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_explanations_are_frames_whose_lines_add_up(library: str) -> None:
    names = ["height", "<b>", "of"]  # as hostile as a column of a frame may be named
    import pandas as pd

    model = suffice.GaussianDiscriminant("per-class").fit(
        pd.DataFrame(NUMBERS, columns=names), LABELS
    )
    found = model.explain(pd.DataFrame(NUMBERS[:7], columns=names))
    frame = found.to_frame(library)
    rows, parts = np.asarray(frame["row"]), np.asarray(frame["contribution"])
    for i in range(7):
        assert parts[rows == i].sum() == pytest.approx(found.log_odds[i])
    assert set(frame["column"]) == {"(baseline)", *names}
    shown = found._repr_html_()
    assert "<b>" not in shown
    assert "2 more" in shown
    assert repr(found) == str(found)


def test_explanations_of_texts_are_frames_too() -> None:
    model = suffice.TextClassifier("boolean").fit(TEXTS, LABELS)
    found = model.explain(TEXTS[:2])
    frame = found.to_frame("pandas")
    total = frame.groupby("document")["contribution"].sum()
    np.testing.assert_allclose(total, found.log_odds)
    assert "word0" in found._repr_html_()


# Weights of linear posteriors, as scikit-learn's tools ask for them

LINEAR = {
    "shared": suffice.GaussianDiscriminant,
    "EII": lambda: suffice.GaussianDiscriminant("shared-diagonal"),
    "naive Bayes": lambda: suffice.NaiveBayes("shared-gaussian"),
    "poisson": lambda: suffice.NaiveBayes("poisson"),
    "multinomial": suffice.MultinomialNaiveBayes,
}
CURVED = {
    "per-class": lambda: suffice.GaussianDiscriminant("per-class"),
    "predictive": lambda: suffice.GaussianDiscriminant(predictive=1.0),
    "gaussian": lambda: suffice.NaiveBayes("gaussian"),
    "binned": lambda: suffice.NaiveBayes("binned"),
}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", LINEAR)
def test_linear_posteriors_have_coefficients_that_give_the_posterior(
    name: str, classes: int
) -> None:
    X, y = COUNTS[: 20 * classes].astype(float), LABELS[: 20 * classes]
    model = LINEAR[name]().fit(X, y)
    scores = X @ model.coef_.T + model.intercept_
    if classes == 2:
        assert model.coef_.shape == (1, 3)
        scores = np.column_stack([np.zeros(len(X)), scores[:, 0]])
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    np.testing.assert_allclose(
        p / p.sum(axis=1, keepdims=True), model.predict_proba(X), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("name", CURVED)
def test_curved_posteriors_have_none(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CURVED[name]().fit(NUMBERS, LABELS)
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "intercept_")
    assert not hasattr(CURVED[name](), "coef_")


def test_columns_are_chosen_by_coefficients() -> None:
    from sklearn.feature_selection import RFE

    noise = np.random.default_rng(0).normal(size=(60, 2))
    found = RFE(suffice.GaussianDiscriminant(), n_features_to_select=3)
    support = found.fit(np.column_stack([NUMBERS, noise]), LABELS).support_
    assert support[:3].sum() >= 2
