"""What is saved comes back: bit for bit, with everything it could do before."""

from __future__ import annotations

import copy
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice
from suffice.errors import BadFile, BadSetting, SufficeError, SufficeWarning
from suffice.estimators.fitting_notes import NotFitted
from suffice.rows import read_table
from suffice.storage.model_file import MODEL_OF, read_model, stored_posterior
from tests.reference.saved_models import CASES, fitted, laws, of_cases
from tests.searches import quick

every_case = pytest.mark.parametrize("name", of_cases())
every_sum = pytest.mark.parametrize(
    "name", of_cases(name for name, case in CASES.items() if case.forgets)
)
DENSE = [name for name in CASES
         if not any(word in name for word in ("sparse", "complement", "perceptron"))]  # fmt: skip
seeds = st.integers(0, 2**32 - 1)
QUESTIONS = (
    "predict", "predict_proba", "predict_log_proba", "decision_function", "log_joint",
    "log_density", "typicality", "transform",
)  # fmt: skip
FEW = QUESTIONS[:5]
FACTS = (
    "classes_", "priors_", "n_features_in_", "feature_names_in_", "means_", "covariances_",
    "families_", "parameters_", "smoothing_", "temperature_", "coef_", "intercept_",
    "coefficient_names_", "n_iter_", "converged_", "bound_", "separated_", "n_updates_",
    "n_epochs_", "margin_",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        yield


def rng_of(name: str, seed: int = 0) -> np.random.Generator:
    return np.random.default_rng([seed, *name.encode()])


def came_back(model: Any, folder: Path, **options: Any) -> Any:
    """Return what a file gives back; saved again, it is the same file."""
    first, second = folder / "first.suffice", folder / "second.suffice"
    model.save(first, **options)
    back = suffice.load(first)
    back.save(second, **options)
    assert second.read_bytes() == first.read_bytes()
    return back


def answers(model: Any, X: Any, questions: tuple[str, ...] = QUESTIONS) -> dict[str, Any]:
    """Return everything a model says about rows and about itself; a refusal is an answer."""
    found: dict[str, Any] = {}
    for question in questions:
        try:
            found[question] = getattr(model, question)(X)
        except (AttributeError, SufficeError) as refusal:
            found[question] = str(refusal)
    for fact in FACTS:
        try:
            found[fact] = getattr(model, fact)
        except (AttributeError, SufficeError) as refusal:
            found[fact] = str(refusal)
    for question in ("explain", "sample") if questions is QUESTIONS else ():
        try:
            if question == "explain":
                found[question] = model.explain(X).contributions
            else:
                rows, labels = model.sample(5, random_state=1)
                found[question] = (type(rows).__name__, repr(rows), list(labels))
        except (AttributeError, SufficeError) as refusal:
            found[question] = str(refusal)
    return found


def assert_same(left: dict[str, Any], right: dict[str, Any]) -> None:
    assert left.keys() == right.keys()
    for key, value in left.items():
        if isinstance(value, np.ndarray) and value.dtype != object:
            assert value.dtype == right[key].dtype, key
            assert np.array_equal(value, right[key], equal_nan=value.dtype.kind == "f"), key
        elif isinstance(value, np.ndarray):
            assert value.tolist() == right[key].tolist(), key
        else:
            assert value == right[key], key


# There and back


@every_case
def test_a_saved_model_answers_bit_for_bit(name: str, tmp_path: Path) -> None:
    model, (X, _) = fitted(name, rng_of(name))
    back = came_back(model, tmp_path)
    assert type(back) is type(model)
    assert repr(back.get_params()) == repr(model.get_params())
    assert_same(answers(model, X), answers(back, X))


@pytest.mark.parametrize("name", of_cases(DENSE))
def test_a_stored_model_answers_without_an_estimator(name: str, tmp_path: Path) -> None:
    model, (X, _) = fitted(name, rng_of(name))
    for statistics in (True, False) if CASES[name].alone else (True,):
        model.save(tmp_path / "model", statistics=statistics)
        stored = read_model(tmp_path / "model")
        assert np.array_equal(stored_posterior(stored, read_table(X)), model.predict_proba(X))


@given(st.sampled_from(sorted(CASES)), seeds, st.integers(0, 40))
def test_whatever_was_learned_comes_back(name: str, seed: int, size: int) -> None:
    rng = rng_of(name, seed)
    model, (X, y) = fitted(name, rng, size)
    with tempfile.TemporaryDirectory() as folder:
        back = came_back(model, Path(folder))
        assert_same(answers(model, X, FEW), answers(back, X, FEW))
        if CASES[name].learns:
            model, back = model.partial_fit(X, y), back.partial_fit(X, y)
            assert_same(answers(model, X, FEW), answers(came_back(back, Path(folder)), X, FEW))


@every_case
def test_a_loaded_model_learns_like_the_one_that_was_saved(name: str, tmp_path: Path) -> None:
    rng = rng_of(name)
    model, (X, y) = fitted(name, rng)
    back = came_back(model, tmp_path)
    if CASES[name].learns:
        more = CASES[name].rows(rng, 9)
        model.partial_fit(*more)
        back.partial_fit(*more)
        assert_same(answers(model, X, FEW), answers(back, X, FEW))
        came_back(back, tmp_path)
    model.fit(X, y)
    back.fit(X, y)
    assert_same(answers(model, X, FEW), answers(back, X, FEW))


@every_sum
def test_a_loaded_model_forgets_and_merges_like_the_one_that_was_saved(
    name: str, tmp_path: Path
) -> None:
    rng = rng_of(name)
    model, (X, _) = fitted(name, rng)
    more = CASES[name].rows(rng, 9)
    other = copy.deepcopy(model).partial_fit(*more)
    back, other_back = came_back(model, tmp_path), came_back(other, tmp_path)
    assert_same(answers(model + other, X, FEW), answers(back + other_back, X, FEW))
    left, left_back = other.forget(*more), other_back.forget(*more)
    assert_same(answers(left, X, FEW), answers(left_back, X, FEW))
    came_back(other_back, tmp_path)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.alone])
def test_a_model_that_answers_from_its_rows_is_not_saved_without_them(
    name: str, tmp_path: Path
) -> None:
    model, _ = fitted(name, rng_of(name))
    with pytest.raises(BadSetting, match=r"rows it stores.*\nHint: "):
        model.save(tmp_path / "model", statistics=False)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("name", of_cases(n for n, case in CASES.items() if case.alone))
def test_a_model_without_statistics_answers_and_learns_nothing(name: str, tmp_path: Path) -> None:
    model, (X, y) = fitted(name, rng_of(name))
    back = came_back(model, tmp_path, statistics=False)
    full = tmp_path / "full.suffice"
    model.save(full)
    # An average over penalties has no one fit to go on from: its file holds no statistics at all.
    assert full.stat().st_size > (tmp_path / "first.suffice").stat().st_size or "average" in name
    for question in QUESTIONS[:4]:
        ours, theirs = (getattr(m, question, None) for m in (model, back))
        if ours is not None:
            assert np.array_equal(ours(X), theirs(X)), question
    if CASES[name].learns:
        with pytest.raises(BadSetting, match=r"without its statistics.*\nHint: "):
            back.partial_fit(X, y)
        if isinstance(X, np.ndarray):
            with pytest.raises(BadSetting, match=r"without its statistics.*\nHint: "):
                back.partial_fit(X[:1], y[:1])
        assert np.array_equal(back.predict(X), model.predict(X))
    if CASES[name].forgets:
        with pytest.raises(BadSetting, match=r"without its statistics.*\nHint: "):
            back.forget(X, y)
        with pytest.raises(BadSetting, match=r"without its statistics.*\nHint: "):
            _ = back + model
        with pytest.raises(BadSetting, match=r"without its statistics.*\nHint: "):
            _ = model + back


def test_rows_for_a_held_out_choice_and_rows_without_are_not_added() -> None:
    rng = rng_of("held out")
    c = rng.poisson(2.0, size=(30, 3)).astype(float)
    y = np.arange(30) % 2
    for name in ("smoothing", "temperature"):
        for before, now in ((1.0, "held-out"), ("held-out", 1.0)):
            for question in ("partial_fit", "forget"):
                model = suffice.MultinomialNaiveBayes(**{name: before}).fit(c, y)
                model.set_params(**{name: now})
                with pytest.raises(BadSetting, match=rf"{name} is .* when the rows were read"):
                    getattr(model, question)(c[:5], y[:5])


# Names, labels and numbers of every kind

words = st.text(max_size=12)


@given(st.lists(words, min_size=2, max_size=4, unique=True), st.lists(words, min_size=2, max_size=2,
       unique=True), st.lists(words, min_size=1, max_size=4, unique=True))  # fmt: skip
def test_any_text_may_name_classes_columns_and_levels(
    labels: list[str], names: list[str], levels: list[str]
) -> None:
    import pandas as pd

    frame = pd.DataFrame(
        {
            names[0]: [float(i % 5) + 0.1 * i for i in range(12)],
            names[1]: pd.Series([levels[i % len(levels)] for i in range(12)], dtype=object),
        }
    )
    y = [labels[i % len(labels)] for i in range(12)]
    with tempfile.TemporaryDirectory() as folder:
        for model in (suffice.GaussianDiscriminant(), suffice.NaiveBayes()):
            back = came_back(model.fit(frame, y), Path(folder))
            assert_same(answers(model, frame), answers(back, frame))


@given(
    seeds,
    st.floats(-150.0, 150.0),
    st.floats(-1e8, 1e8),
    st.sampled_from(["shared", "per-class", "diagonal", "spherical"]),
)
def test_columns_of_any_unit_come_back(
    seed: int, power: float, offset: float, covariance: str
) -> None:
    rng = np.random.default_rng(seed)
    x = (rng.normal(size=(30, 3)) + offset) * 10.0**power
    y = rng.integers(2, size=30)
    y[:4] = [0, 0, 1, 1]
    model = suffice.GaussianDiscriminant(covariance).fit(x, y)
    with tempfile.TemporaryDirectory() as folder:
        assert_same(answers(model, x), answers(came_back(model, Path(folder)), x))
        model.partial_fit(x[:9], y[:9], sample_weight=rng.random(9)).forget(x[:20], y[:20])
        assert_same(answers(model, x), answers(came_back(model, Path(folder)), x))


@pytest.mark.parametrize("covariance", ["shared", "per-class", "diagonal", "spherical"])
@pytest.mark.parametrize("powers", [(0, -120, 120), (140, -140, 0), (-60, 60, -140)])
def test_columns_of_very_different_units_come_back(
    covariance: str, powers: tuple[float, ...], tmp_path: Path
) -> None:
    # One deviation for all columns is enormous in units of the smallest.
    y = np.arange(30) % 2
    x = rng_of("units").normal(size=(30, 3)) + y[:, np.newaxis]
    x *= 10.0 ** np.array(powers, dtype=float)
    model = suffice.GaussianDiscriminant(covariance).fit(x, y)
    for statistics in (True, False):
        back = came_back(model, tmp_path, statistics=statistics)
        assert np.array_equal(back.predict_proba(x), model.predict_proba(x))


@given(st.sampled_from(["naive Bayes", "named families", "binned", "multinomial"]), seeds,
       st.floats(-12.0, 12.0))  # fmt: skip
def test_weights_of_any_size_come_back_after_forgetting(name: str, seed: int, power: float) -> None:
    rng = rng_of(name, seed)
    model, (X, y) = fitted(name, rng, 20)
    w = rng.random(len(y)) * 10.0**power
    model.fit(X, y, w)
    some = np.arange(len(y)) % 3 == 0
    rows = X[some] if isinstance(X, np.ndarray) else X.loc[some]
    try:
        model.forget(rows, np.asarray(y)[some], w[some])
    except SufficeError:
        return  # digits are lost, which is said
    with tempfile.TemporaryDirectory() as folder:
        assert_same(answers(model, X, FEW), answers(came_back(model, Path(folder)), X, FEW))


@given(seeds, st.integers(1, 28))
def test_what_is_left_after_forgetting_comes_back(seed: int, gone: int) -> None:
    # Nearly nothing may be left of a scatter but rounding: it is still what the model has.
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(30, 3)) * [1.0, 1e6, 1e-6] + [0.0, 1e9, 1.0]
    y = np.arange(30) % 2
    with tempfile.TemporaryDirectory() as folder:
        for covariance in ("shared", "per-class"):
            model = suffice.GaussianDiscriminant(covariance).fit(x, y)
            model.forget(x[:gone], y[:gone])
            back = came_back(model, Path(folder))
            assert_same(answers(model, x), answers(back, x))


# Settings


def test_settings_come_back_as_they_were(tmp_path: Path) -> None:
    priors = {"a": 0.25, "b": 0.75}
    model = suffice.GaussianDiscriminant("per-class", pool=0.1, priors=priors)
    back = came_back(model.fit([[0.0], [1.0], [5.0], [7.0]], list("aabb")), tmp_path)
    assert back.get_params() == model.get_params()
    assert list(back.priors_) == [0.25, 0.75]


def test_a_stream_of_random_numbers_is_not_kept(tmp_path: Path) -> None:
    model = suffice.Perceptron(random_state=np.random.default_rng(0))
    model.fit([[0.0], [1.0], [5.0], [7.0]], list("aabb")).save(tmp_path / "model")
    assert suffice.load(tmp_path / "model").random_state is None


def estimators() -> dict[str, Any]:
    """Return everything public that can be fitted."""
    public = {name: getattr(suffice, name) for name in suffice.__all__}
    kinds = {name: held for name, held in public.items() if isinstance(held, type)}
    return {name: kind for name, kind in kinds.items() if hasattr(kind, "save")}


@pytest.mark.parametrize("name", quick(estimators(), *list(estimators())[::4]))
def test_every_public_estimator_is_saved_and_comes_back(name: str, tmp_path: Path) -> None:
    rng = rng_of(name)
    x = rng.integers(5, size=(40, 3)).astype(float)
    kind, y = estimators()[name], np.arange(40) % 2
    if kind is suffice.MultivariateNormal:
        model, questions = kind.fit(x), ("log_density", "mahalanobis", "typicality")
    elif kind is suffice.GaussianMixture:
        model, questions = kind(2, "EEE").fit(x), ("predict", "score_samples", "typicality")
    elif kind is suffice.LatentClasses:
        model, questions = kind(2, starts=2).fit(x), ("predict", "score_samples", "typicality")
    else:
        if kind is suffice.TextClassifier:
            x = [" ".join("abcde"[int(v)] for v in row) for row in x]
        model, questions = kind().fit(x, y), ("predict", "decision_function")
    model.save(tmp_path / "first")
    back = suffice.load(tmp_path / "first")
    assert type(back) is kind
    for question in questions:
        assert np.array_equal(getattr(back, question)(x), getattr(model, question)(x)), question
    back.save(tmp_path / "second")
    assert (tmp_path / "second").read_bytes() == (tmp_path / "first").read_bytes()


def test_there_is_a_home_for_every_public_estimator() -> None:
    assert set(MODEL_OF) == set(estimators())


@pytest.mark.parametrize("name", sorted(set(estimators()) - {"MultivariateNormal"}))
def test_what_was_never_fitted_cannot_be_saved(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotFitted, match=rf"This {name} instance is not fitted yet\nHint: call fit"):
        estimators()[name]().save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


# Normal laws


def test_laws_come_back_bit_for_bit(tmp_path: Path) -> None:
    for name, law, X in laws(rng_of("laws")):
        law.save(tmp_path / "first")
        back = suffice.load(tmp_path / "first")
        assert back == law, name
        assert repr(back) == repr(law)
        for question in ("log_density", "mahalanobis", "typicality"):
            assert np.array_equal(getattr(back, question)(X), getattr(law, question)(X)), name
        assert np.array_equal(back.sample(4, random_state=1), law.sample(4, random_state=1))
        back.save(tmp_path / "second")
        assert (tmp_path / "second").read_bytes() == (tmp_path / "first").read_bytes()


@given(seeds, st.lists(st.floats(-140.0, 140.0), min_size=3, max_size=3), st.floats(-1e8, 1e8))
def test_laws_of_any_unit_come_back(seed: int, powers: list[float], offset: float) -> None:
    x = (np.random.default_rng(seed).normal(size=(20, 3)) + offset) * 10.0 ** np.array(powers)
    law = suffice.MultivariateNormal.fit(x)
    with tempfile.TemporaryDirectory() as folder:
        for one, rows in ((law, x), (law.marginal([2, 0]), x[:, [2, 0]])):
            one.save(Path(folder) / "law")
            back = suffice.load(Path(folder) / "law")
            assert back == one
            assert np.array_equal(back.log_density(rows), one.log_density(rows))


def test_a_law_has_no_classes_to_predict(tmp_path: Path) -> None:
    suffice.MultivariateNormal([0.0], [[1.0]]).save(tmp_path / "law")
    with pytest.raises(BadSetting, match="without classes"):
        stored_posterior(read_model(tmp_path / "law"), read_table([[1.0]]))


def test_labels_without_a_plain_form_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    x = [[0.0], [1.0], [5.0], [7.0]]
    for labels in ([frozenset("a")] * 2 + [frozenset("b")] * 2, [10**30, 10**30, 1, 1]):
        y = np.empty(4, dtype=object)
        y[:] = labels
        model = suffice.GaussianDiscriminant().fit(x, y)
        for statistics in (True, False):
            with pytest.raises(SufficeError, match=r"cannot be stored"):
                model.save(tmp_path / "model", statistics=statistics)
    assert not list(tmp_path.iterdir())


def test_a_setting_without_a_plain_form_is_refused(tmp_path: Path) -> None:
    model = suffice.GaussianDiscriminant().fit([[0.0], [1.0], [5.0], [7.0]], list("aabb"))
    model.priors = dict.fromkeys("ab", np.float64(0.5))
    came_back(model, tmp_path)
    model.shrink_target = object()
    with pytest.raises(SufficeError):
        model.save(tmp_path / "other")
    assert not (tmp_path / "other").exists()


# Models that another model implied


def test_an_implied_logistic_model_comes_back_where_it_reads_rows_itself(tmp_path: Path) -> None:
    model, (X, _) = fitted("shared", rng_of("implied"))
    implied = model.to_logistic()
    assert_same(answers(implied, X), answers(came_back(implied, tmp_path), X))


def test_an_implied_model_that_reads_rows_as_naive_bayes_does_is_refused(tmp_path: Path) -> None:
    X, y = [[0, 1], [1, 1], [1, 0], [0, 0]], list("aabb")
    implied = suffice.NaiveBayes("bernoulli").fit(X, y).to_logistic()
    with pytest.raises((BadFile, BadSetting), match=r"naive Bayes"):
        implied.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())
