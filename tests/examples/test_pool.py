"""A pool by hand: bad rows, strange tables, and what people do with estimators.

Every case ends in finite probabilities that sum to one, or in a refusal in words.
"""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import suffice
from suffice.errors import (
    Approximation,
    BadLabels,
    BadSetting,
    BadWeights,
    ColumnMismatch,
    DifferentKinds,
    ForgettingUnseen,
    NotANumber,
    NotFinite,
    OneClass,
    SufficeError,
)
from suffice.models.pool.members import MEMBERS
from suffice.statistics.row_sample import MOST
from tests.searches import quick

if TYPE_CHECKING:
    from pathlib import Path

QUICK = ["naive Bayes", "logistic"]


def rows(size: int = 30, classes: int = 2, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Return numbers, a category and a truth."""
    rng = np.random.default_rng(seed)
    codes = np.arange(size) % classes
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=size) + codes,
            "colour": rng.choice(np.array(["red", "blue"], dtype=object), size=size),
            "member": rng.random(size) < 0.3 + 0.4 * (codes == 0),
        }
    )
    return frame, codes


def fitted(X: Any, y: Any, members: Any = "auto", **options: Any) -> Any:
    """Return a pool, whatever was left out of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Approximation)
        return suffice.Pool(members).fit(X, y, **options)


def assert_answers(model: Any, X: Any) -> None:
    """Assert that all members answer, and together."""
    for said in (model.predict_proba(X), *model.member_probabilities(X).values()):
        assert np.isfinite(said).all()
        assert (said >= 0.0).all()
        assert np.abs(said.sum(axis=1) - 1.0).max() < 1e-9
    assert np.isfinite(model.predict_log_proba(X)).all()
    assert np.isfinite([model.log_loss_, model.accuracy_, *model.log_losses_.values()]).all()
    assert set(model.predict(X).tolist()) <= set(model.classes_.tolist())


# Few rows, many classes


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8])
def test_a_handful_of_rows(size: int) -> None:
    X, y = rows(size)
    assert_answers(fitted(X, y), X)


def test_two_rows_a_class() -> None:
    X, y = rows(8, 4)
    assert_answers(fitted(X, y), X)


def test_one_row_of_a_class() -> None:
    X, y = rows(21)
    y[:] = 0
    y[7] = 1
    model = fitted(X, y)
    assert_answers(model, X)
    assert model.classes_.tolist() == [0, 1]


def test_one_row_in_all() -> None:
    X, _ = rows(1)
    with pytest.warns(OneClass):
        model = suffice.Pool().fit(X, ["only"])
    assert model.predict_proba(X).tolist() == [[1.0]]


def test_one_class_has_probability_one() -> None:
    X, _ = rows(12)
    with pytest.warns(OneClass, match="only one class, 'a'"):
        model = suffice.Pool().fit(X, ["a"] * 12)
    assert (model.predict_proba(X) == 1.0).all()
    assert_answers(model, X)


@pytest.mark.slow
def test_a_hundred_classes() -> None:
    X, y = rows(200, 100)
    assert_answers(fitted(X, y), X)


def test_no_rows_at_all_are_refused() -> None:
    with pytest.raises(SufficeError, match=r"\nHint: "):
        suffice.Pool().fit(np.zeros((0, 2)), [])
    with pytest.raises(SufficeError, match=r"\nHint: "):
        suffice.Pool().fit([[1.0], [2.0]], ["a", "b"], sample_weight=[0.0, 0.0])


# Columns that say nothing, or too much


STRANGE: dict[str, Any] = {
    "constant": lambda n: np.full(n, 3.0),
    "all blank": lambda n: np.full(n, np.nan),
    "one value and blanks": lambda n: np.where(np.arange(n) % 2, 3.0, np.nan),
    "huge": lambda n: np.where(np.arange(n) % 3, 1e300, -1e300),
    "huge and tiny": lambda n: np.array([0.0, 5e-324, 1e300, -1e-310])[np.arange(n) % 4],
    "one huge": lambda n: np.where(np.arange(n) == 4, 1e300, 1.0),
    "largest": lambda n: np.where(np.arange(n) % 3, 1.7e308, -1.7e308),
    "tiny": lambda n: np.arange(n) * 1e-300,
    "smallest": lambda n: np.arange(n) * 5e-324,
    "far from zero": lambda n: 1e15 + np.arange(n),
    "minus zero": lambda n: np.where(np.arange(n) % 2, 0.0, -0.0),
    "one category": lambda n: np.full(n, "x", dtype=object),
    "a category for each row": lambda n: np.array([f"row {i}" for i in range(n)], dtype=object),
    "blank categories": lambda n: np.full(n, None, dtype=object),
    "truths": lambda n: np.arange(n) % 3 == 0,
}


@pytest.mark.parametrize("alone", [False, True], ids=["beside others", "alone"])
@pytest.mark.parametrize("name", quick(STRANGE, *list(STRANGE)[::4]))
def test_strange_columns(name: str, alone: bool) -> None:
    X, y = rows(16)
    X = X.assign(strange=STRANGE[name](16))
    X = X[["strange"]] if alone else X
    assert_answers(fitted(X, y), X)


def test_a_column_twice() -> None:
    X, y = rows(30)
    assert_answers(fitted(X.assign(again=X["size"], more=X["colour"]), y), X.assign(
        again=X["size"], more=X["colour"]
    ))  # fmt: skip


def test_constant_columns_change_nothing_but_the_folds() -> None:
    X, y = rows(30)
    model = fitted(X.assign(k=1.0, l="x"), y)
    assert_answers(model, X.assign(k=1.0, l="x"))
    assert_answers(model, X.assign(k=[5.0] * 29 + [np.nan], l="y"))


@pytest.mark.parametrize("value", quick([1e300, -1e300, 1.7e308, 5e-324, 1e16], 1.7e308))
def test_new_rows_far_away(value: float) -> None:
    X, y = rows(24)
    model = fitted(X, y)
    assert_answers(model, X.assign(size=value))


def test_a_whole_column_may_be_fractional_later() -> None:
    X, y = rows(30)
    X = X.assign(count=np.arange(30) % 4)
    model = fitted(X, y, QUICK)
    later = X.assign(count=X["count"] + 0.5)
    assert_answers(model, later)
    assert_answers(model.partial_fit(later, y), X)


def test_levels_and_blanks_that_were_never_seen() -> None:
    X, y = rows(30)
    model = fitted(X, y)
    with pytest.raises(NotANumber, match="colour holds categories"):
        model.predict(X.assign(colour=7))
    for colour in ("green", None, ""):
        for size in (1.0, np.nan):
            assert_answers(model, X.assign(colour=colour, size=size))
    blank = X.assign(size=np.nan, colour=None, member=None)
    assert_answers(model, blank)


def test_kinds_that_change_are_refused_by_name_or_read() -> None:
    X, y = rows(30)
    model = fitted(X, y, QUICK)
    with pytest.raises(NotANumber, match=r"row 0, size: 'x' is not a number[\s\S]*Hint"):
        model.predict(X.assign(size="x"))
    with pytest.raises(NotANumber, match=r"row 0, colour: 1.5 is a number[\s\S]*Hint"):
        model.predict(X.assign(colour=1.5))
    with pytest.raises(NotANumber, match=r"row 0, member: 2.0 is neither"):
        model.predict(X.assign(member=2.0))
    assert np.array_equal(
        model.predict_proba(X.assign(member=X["member"] * 1.0)), model.predict_proba(X)
    )
    with pytest.raises(NotANumber):
        model.partial_fit(X.assign(size="x"), y)
    with pytest.raises(ColumnMismatch, match="text"):
        model.predict(X.assign(text="never seen"))
    with pytest.raises(ColumnMismatch, match="now missing"):
        model.predict(X.drop(columns="size"))


def test_columns_in_another_order_are_the_same() -> None:
    X, y = rows(30)
    model = fitted(X, y, QUICK)
    assert np.array_equal(
        model.predict_proba(X[["member", "size", "colour"]]), model.predict_proba(X)
    )


# What is refused before any work


def test_sparse_rows_are_refused_with_a_hint() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(BadSetting, match=r"sparse[\s\S]*Hint: X.toarray\(\)"):
        suffice.Pool().fit(csr_array(X), y)
    with pytest.raises(BadSetting, match="sparse"):
        fitted(X[:30], y[:30] % 2 + np.arange(30) % 2, QUICK).predict(csr_array(X))


def test_infinities_are_refused_with_row_and_column() -> None:
    X, y = rows(12)
    bad = X.copy()
    bad.loc[5, "size"] = np.inf
    with pytest.raises(NotFinite, match=r"[Rr]ow 5[\s\S]*size|size[\s\S]*row 5"):
        suffice.Pool().fit(bad, y)
    weights = np.ones(12)
    weights[:3] = 0.0
    with pytest.raises(NotFinite, match=r"[Rr]ow 5[\s\S]*size|size[\s\S]*row 5"):
        suffice.Pool().fit(bad, y, sample_weight=weights)
    with pytest.raises(NotFinite, match=r"[Rr]ow 5[\s\S]*size|size[\s\S]*row 5"):
        fitted(X, y, QUICK).predict(bad)


def test_blank_labels_are_refused() -> None:
    X, _ = rows(4)
    for labels in ([1.0, np.nan, 0.0, 1.0], ["a", None, "b", "a"], [0.5, 1.5, 0.5, 1.5]):
        with pytest.raises(BadLabels, match=r"\nHint: "):
            suffice.Pool().fit(X, labels)


@pytest.mark.parametrize("members", ["forests", ["forest", "x"], [], 3, None, [3]])
def test_members_that_are_none_are_refused(members: Any) -> None:
    X, y = rows(6)
    with pytest.raises(BadSetting, match=r"\nHint: "):
        suffice.Pool(members).fit(X, y)


def test_a_pool_has_no_density() -> None:
    model = fitted(*rows(12), QUICK)
    for name in ("log_density", "log_joint", "typicality", "sample", "with_priors", "vouch"):
        assert not hasattr(model, name)


def test_what_was_never_learned_cannot_be_forgotten_or_merged() -> None:
    X, y = rows(12)
    model = fitted(X, y, QUICK)
    with pytest.raises(ForgettingUnseen, match=r"\nHint: "):
        model.forget(X.assign(size=99.0), y)
    other = fitted(X.rename(columns={"size": "length"}), y, QUICK)
    with pytest.raises((DifferentKinds, ColumnMismatch), match=r"\nHint: "):
        _ = model + other


# Many rows


@pytest.mark.slow
def test_more_rows_than_are_kept() -> None:
    X, y = rows(2 * MOST + 100, 3)
    model = fitted(X, y, QUICK)
    assert len(model.statistics_.sample.rows) == MOST
    assert model.model_.weights.sum() == len(y)
    assert_answers(model, X.head(50))
    half = len(y) // 2
    parts = fitted(X[:half], y[:half], QUICK) + fitted(X[half:], y[half:], QUICK)
    assert np.array_equal(parts.predict_proba(X), model.predict_proba(X))


@pytest.mark.slow
def test_a_class_of_which_no_row_is_kept() -> None:
    X, y = rows(3 * MOST)
    model = fitted(X, y, QUICK)
    kept = {tuple(row.cells[:1]) for row in model.statistics_.sample.rows.values()}
    place = next(i for i in range(len(y)) if (float(X["size"][i]),) not in kept)
    tail = fitted(X, y, QUICK)
    for i in range(place, place + 40):
        tail.partial_fit(X[i : i + 1], [2])
        if not any(row.label == 2 for row in tail.statistics_.sample.rows.values()):
            break
    assert_answers(tail, X.head(20))


def test_rows_are_answered_in_blocks_that_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows(40, 3)
    model = fitted(X, y)
    many = pd.concat([X] * 10, ignore_index=True)
    said = model.predict_proba(many)
    monkeypatch.setattr("suffice.models.pool.model.BLOCK", 1)
    assert np.abs(model.predict_proba(many) - said).max() < 1e-12
    assert np.abs(model.predict_proba(X) - said[:40]).max() < 1e-12


# What people do with estimators


def test_it_is_a_classifier_among_others() -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    assert is_classifier(suffice.Pool())
    search = GridSearchCV(suffice.Pool(), {"members": [["naive Bayes"], QUICK]}, cv=2)
    search.fit(X, y)
    assert search.best_params_["members"] in (["naive Bayes"], QUICK)
    piped = make_pipeline(FunctionTransformer(np.log1p), suffice.Pool(QUICK)).fit(X, y)
    assert piped.score(X, y) > 0.8
    assert clone(suffice.Pool(QUICK)).members == QUICK
    assert not hasattr(suffice.Pool(), "set_output")


def test_copies_answer_alike() -> None:
    X, y = rows(24)
    model = fitted(X, y)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(twin.predict_proba(X), model.predict_proba(X))
        assert twin.weights_ == model.weights_


def test_shares_and_losses_are_told_by_name() -> None:
    X, y = rows(40)
    model = suffice.Pool().fit(X, y)
    assert set(model.members_) == set(model.weights_) == set(model.log_losses_) == set(MEMBERS)
    assert sum(model.weights_.values()) == pytest.approx(1.0)
    assert model.left_out_ == ()
    assert "class shares" in suffice.Pool(["forest"]).fit(X, y).members_
    assert 0.0 < model.log_loss_ < 1.0


def test_explanations_add_up() -> None:
    X, y = rows(24, 3)
    model = fitted(X, y)
    found = model.explain(X.head(4))
    said = model.predict_log_proba(X.head(4))
    place = {label: c for c, label in enumerate(model.classes_.tolist())}
    odds = [
        said[i, place[of]] - said[i, place[against]]
        for i, (of, against) in enumerate(zip(found.of, found.against, strict=True))
    ]
    assert np.allclose(found.baseline + found.contributions.sum(axis=1), odds)
    assert found.columns[-1] == "all blank"
    with pytest.raises(BadSetting, match=r"explain fewer rows"):
        model.explain(pd.concat([X] * 40))


def test_explanations_are_fair_to_columns_that_say_the_same() -> None:
    """Leaving one of two equal columns blank changes little, and must not be all that counts."""
    rng = np.random.default_rng(8)
    y = np.arange(60) % 2
    signal = 3.0 * y + rng.normal(size=60)
    X = pd.DataFrame({"a": signal, "b": signal, "noise": rng.normal(size=60), "same": 1.0})
    model = fitted(X, y, members=["naive Bayes", "GDA", "logistic", "forest"])
    found = model.explain(X.head(20), of=1, against=0).contributions
    one = model.explain(X.iloc[7:8], of=1, against=0).contributions
    assert np.allclose(found[7:8], one, atol=1e-9)  # orders are the same in every call
    assert np.all(found[:, 3] == 0.0)
    shares = np.abs(found).mean(axis=0)
    assert 0.5 < shares[0] / shares[1] < 2.0
    assert shares[:2].min() > shares[2]
    assert np.ptp(found[:, 4]) < 1e-9  # what a row of blanks is given: the same for every row


def test_two_columns_have_shapleys_values() -> None:
    X, y = rows(30, 2)
    X = X.iloc[:, :2]
    model = fitted(X, y, members=["naive Bayes", "GDA", "logistic"])
    first = X.head(1)
    of, against = model.classes_

    def odds(**blank: Any) -> float:
        said = model.predict_log_proba(first.assign(**blank))[0]
        return float(said[0] - said[1])

    a, b = X.columns
    none: dict[str, Any] = {
        name: np.nan if pd.api.types.is_numeric_dtype(X[name]) else None for name in (a, b)
    }
    empty, whole = odds(**none), odds()
    only_a, only_b = odds(**{b: none[b]}), odds(**{a: none[a]})
    found = model.explain(first, of=of, against=against).contributions[0]
    assert found[0] == pytest.approx(0.5 * ((only_a - empty) + (whole - only_b)), abs=1e-9)
    assert found[1] == pytest.approx(0.5 * ((only_b - empty) + (whole - only_a)), abs=1e-9)


def test_threads_ask_and_learn_at_once() -> None:
    X, y = rows(24)
    model = fitted(X, y, QUICK)
    more, labels = rows(24, seed=1)
    errors: list[BaseException] = []

    def ask() -> None:
        try:
            for _ in range(5):
                assert_answers(model, X)
        except BaseException as error:  # noqa: BLE001  it is raised below
            errors.append(error)

    def learn(start: int) -> None:
        try:
            for i in range(start, 24, 3):
                model.partial_fit(more[i : i + 1], labels[i : i + 1])
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    threads += [threading.Thread(target=learn, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors
    expected = fitted(pd.concat([X, more]), np.concatenate([y, labels]), QUICK)
    assert np.array_equal(model.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize("pair", [(1e-300, 1e300), (1.0, 1e200), (1e300, 1e300)])
@pytest.mark.parametrize("member", ["naive Bayes", "logistic", "forest"])
def test_weights_whose_squares_are_beyond_all_doubles_are_answered_or_refused(
    member: str, pair: tuple[float, float]
) -> None:
    X, y = np.random.default_rng(3).normal(size=(30, 2)), np.arange(30) % 2
    weights, model = np.where(np.arange(30) < 15, *pair), suffice.Pool([member])
    if member == "logistic" and max(pair) > 1e250:
        with pytest.raises(BadWeights, match="their squares are beyond all doubles"):
            model.fit(X, y, sample_weight=weights)
    else:
        answers = model.fit(X, y, sample_weight=weights).predict_proba(X)
        assert np.isfinite(answers).all()


@pytest.mark.slow
def test_a_pool_that_is_certain_of_every_row_that_counts_can_be_read_again(tmp_path: Path) -> None:
    rng = np.random.default_rng(19)
    X, y = rng.integers(0, 3, (30, 2)).astype(float), np.arange(30) % 2
    model = suffice.Pool().fit(X, y, sample_weight=np.where(y == 0, 1e-100, 1e100))
    model.save(tmp_path / "model")
    again = suffice.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
