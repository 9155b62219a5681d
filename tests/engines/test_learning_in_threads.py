"""One estimator in several threads: no row is lost, and answers come from one whole state."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.base import clone

import suffice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

THREADS = 16
EACH = 24
"""Calls of every thread; half of them with one row, half with three."""


@pytest.fixture(autouse=True)
def often() -> Iterator[None]:
    """Let threads take turns as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(*work: Callable[[], None]) -> None:
    """Run functions in threads that begin together; the first error is raised here."""
    gate = threading.Barrier(len(work))
    errors: list[BaseException] = []

    def run(one: Callable[[], None]) -> None:
        try:
            gate.wait(60)
            one()
        except BaseException as error:  # noqa: BLE001  it is raised below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(one,), daemon=True) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    if errors:
        raise errors[0]
    assert not any(thread.is_alive() for thread in threads)


def counts(rng: np.random.Generator, size: int) -> NDArray[Any]:
    return rng.poisson(3.0, (size, 4)).astype(float)


def numbers(rng: np.random.Generator, size: int) -> NDArray[Any]:
    return rng.normal(size=(size, 4))


MAKERS: dict[str, tuple[Callable[[], Any], Callable[..., NDArray[Any]]]] = {
    "gda": (suffice.GaussianDiscriminant, numbers),
    "qda": (lambda: suffice.GaussianDiscriminant("per-class"), numbers),
    "spherical": (lambda: suffice.GaussianDiscriminant("spherical"), numbers),
    "naive Bayes": (lambda: suffice.NaiveBayes("gaussian"), numbers),
    "held-out": (lambda: suffice.NaiveBayes("poisson", smoothing="held-out"), counts),
    "poisson": (lambda: suffice.NaiveBayes("poisson"), counts),
    "bernoulli": (suffice.BernoulliNaiveBayes, counts),
    "multinomial": (suffice.MultinomialNaiveBayes, counts),
    "complement": (suffice.ComplementNaiveBayes, counts),
}


def weight(model: Any) -> float:
    return float(model.model_.weights.sum())


@pytest.mark.parametrize("kind", MAKERS)
def test_rows_learned_in_sixteen_threads_are_all_there(kind: str) -> None:
    make, draw = MAKERS[kind]
    rng = np.random.default_rng(0)
    X = draw(rng, 3 * EACH * THREADS)
    y = rng.integers(0, 3, len(X))
    model, alone = make().fit(X[:20], y[:20]), make().fit(X[:20], y[:20])
    took = [
        [
            slice(at, at + (1 if i % 2 else 3))
            for i, at in enumerate(range(start, len(X), 3 * THREADS))
        ]
        for start in range(0, 3 * THREADS, 3)
    ]

    def learn(parts: list[slice]) -> Callable[[], None]:
        def work() -> None:
            for part in parts:
                model.partial_fit(X[part], y[part])

        return work

    seen: list[float] = []

    def ask() -> None:
        for _ in range(10):
            seen.append(weight(model))
            model.predict(X[:2])

    at_once(ask, *map(learn, took))
    rows = np.concatenate([np.r_[part] for parts in took for part in parts])
    alone.partial_fit(X[rows], y[rows])
    assert weight(model) == weight(alone) == 20 + len(rows)
    assert seen == sorted(seen)  # what was learned stays
    np.testing.assert_allclose(model.predict_proba(X[:50]), alone.predict_proba(X[:50]), rtol=1e-8)


@pytest.mark.parametrize("kind", ["gda", "naive Bayes", "multinomial"])
def test_learning_and_forgetting_in_threads_leaves_the_sum(kind: str) -> None:
    make, draw = MAKERS[kind]
    rng = np.random.default_rng(1)
    X, y = draw(rng, 400), np.arange(400) % 2
    model, alone = make().fit(X, y), make().fit(X[200:], y[200:])

    def forget(start: int) -> Callable[[], None]:
        def work() -> None:
            for at in range(start, 200, 32):
                model.forget(X[at : at + 4], y[at : at + 4])

        return work

    at_once(*(forget(start) for start in range(0, 32, 4)))
    assert weight(model) == 200
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), rtol=1e-6)


def test_a_stream_learned_by_threads_has_seen_every_row() -> None:
    rng = np.random.default_rng(2)
    X, y = numbers(rng, 960), np.arange(960) % 3
    logistic = suffice.LogisticRegression().partial_fit(X[:30], y[:30])
    perceptron = suffice.Perceptron().partial_fit(X[:30], y[:30])

    def learn(start: int) -> Callable[[], None]:
        def work() -> None:
            for at in range(30 + start, 960, 8):
                logistic.partial_fit(X[at : at + 1], y[at : at + 1])
                perceptron.partial_fit(X[at : at + 1], y[at : at + 1])

        return work

    at_once(*map(learn, range(8)))
    assert logistic.learned_.statistics.stream.seen.size == 960
    assert perceptron.n_epochs_ == 1 + 930


@pytest.mark.parametrize("event", ["boolean", "both"])
def test_texts_learned_in_threads_are_all_there(event: str) -> None:
    texts = [f"word{i % 13} and word{i % 7} number {i}" for i in range(160)]
    labels = ["even" if i % 2 == 0 else "odd" for i in range(160)]
    model = suffice.TextClassifier(event).fit(texts[:4], labels[:4])
    terms = suffice.TextVectorizer().fit(texts[:4])

    def learn(start: int) -> Callable[[], None]:
        def work() -> None:
            for at in range(4 + start, 160, 8):
                model.partial_fit([texts[at]], [labels[at]])
                terms.partial_fit([texts[at]])

        return work

    def ask() -> None:
        for _ in range(20):
            shape = terms.transform(texts[:3]).shape
            assert shape[0] == 3
            terms + terms

    at_once(ask, *map(learn, range(8)))
    assert weight(model) == 160
    assert terms.statistics_.weight == 160
    whole = suffice.TextVectorizer().fit(texts)
    assert set(terms.vocabulary_) == set(whole.vocabulary_)
    assert terms.statistics_.held.sum() == whole.statistics_.held.sum()


@pytest.mark.parametrize("kind", ["gda", "qda", "naive Bayes", "logistic", "perceptron"])
def test_answers_are_those_of_one_whole_state(kind: str) -> None:
    """New classes come in front of the others, so that every place in a list of classes moves."""
    makers = {
        "logistic": suffice.LogisticRegression,
        "perceptron": suffice.Perceptron,
    }
    make = makers[kind] if kind in makers else MAKERS[kind][0]
    rng = np.random.default_rng(3)
    names = [f"c{i:02}" for i in range(30, 0, -1)]
    centres = {name: 40.0 * np.array([np.cos(i), np.sin(i)]) for i, name in enumerate(names)}
    rows = {name: centre + rng.normal(size=(12, 2)) for name, centre in centres.items()}
    first = names[:2]
    model = make()
    model.partial_fit(np.vstack([rows[n] for n in first]), np.repeat(first, 12))
    done = threading.Event()

    def learn() -> None:
        for name in names[2:]:
            model.partial_fit(rows[name], [name] * 12)
        done.set()

    def ask() -> None:
        while not done.is_set():
            found = model.predict(rows[first[0]][:2])
            assert set(found) <= set(names)
            if kind not in makers:
                assert list(found) == [first[0]] * 2
                told = model.explain(rows[first[0]][:2], of=first[0])
                assert list(told.of) == [first[0]] * 2
                drawn, labels = model.sample(3, first[0])
                assert list(labels) == [first[0]] * 3
                assert np.abs(drawn - centres[first[0]]).max() < 30.0
            if kind != "perceptron":
                posterior = model.predict_proba(rows[first[0]][:2])
                np.testing.assert_allclose(posterior.sum(axis=1), 1.0)

    at_once(learn, ask, ask)
    assert model.classes_.tolist() == sorted(names)


@pytest.mark.parametrize("kind", ["gda", "multinomial"])
def test_an_estimator_is_saved_copied_and_pickled_whole_while_others_learn(
    kind: str, tmp_path: Any
) -> None:
    make, draw = MAKERS[kind]
    rng = np.random.default_rng(4)
    X, y = draw(rng, 600), np.arange(600) % 2
    model = make().fit(X[:10], y[:10])
    done = threading.Event()
    found: list[Any] = []

    def learn() -> None:
        for at in range(10, 600):
            model.partial_fit(X[at : at + 1], y[at : at + 1])
        done.set()

    def keep() -> None:
        while not done.is_set():
            found.append(copy.deepcopy(model))
            found.append(copy.copy(model))
            found.append(pickle.loads(pickle.dumps(model)))
            found.append(model + make().fit(X[:40], y[:40]))
            model.save(tmp_path / "model")
            found.append(suffice.load(tmp_path / "model"))  # which compares what it holds

    at_once(learn, keep)
    for one in found:
        assert weight(one) == round(weight(one))
        one.predict(X[:3])
        assert one.partial_fit(X[:1], y[:1]) is one
    assert weight(model) == 600


def test_predictions_do_not_wait_for_who_learns() -> None:
    X, y = numbers(np.random.default_rng(5), 40), np.arange(40) % 2
    model = suffice.GaussianDiscriminant().fit(X, y)
    model.partial_fit(X[:1], y[:1])  # it waits to be learned
    asked, answered = threading.Event(), threading.Event()

    class Slow(list[Any]):
        def __iter__(self) -> Iterator[Any]:
            asked.set()
            assert answered.wait(60)
            return super().__iter__()

    def learn() -> None:
        model.partial_fit(X[:3], Slow(y[:3].tolist()))

    def ask() -> None:
        assert asked.wait(60)
        assert weight(model) == 41  # with the row that waits, and without those of the other
        model.predict(X)
        model.predict_proba(X[:1])
        answered.set()

    at_once(learn, ask)
    assert weight(model) == 44


@pytest.mark.parametrize("kind", [*MAKERS, "logistic", "perceptron", "text"])
def test_a_lock_is_no_part_of_an_estimator(kind: str) -> None:
    X, y = counts(np.random.default_rng(6), 40), np.arange(40) % 2
    more: dict[str, Any] = {
        "logistic": suffice.LogisticRegression,
        "perceptron": suffice.Perceptron,
    }
    model = (
        suffice.TextClassifier() if kind == "text" else more.get(kind, MAKERS.get(kind, [0])[0])()
    )
    rows: Any = [f"a {i}" for i in range(40)] if kind == "text" else X
    fresh = sorted(vars(model))
    model.partial_fit(rows, y)
    model.partial_fit(rows[:1], y[:1])
    held = vars(model).values()
    assert not any("lock" in type(value).__name__.lower() for value in held)
    for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(rows[:5]), model.predict(rows[:5]))
    assert sorted(vars(clone(model))) == fresh
    assert "lock" not in repr(model).lower() + model._repr_html_().lower().split("<style>")[0]


def test_locks_go_with_their_estimators() -> None:
    from suffice.estimators.concurrency import LOCKS

    X, y = numbers(np.random.default_rng(7), 10), np.arange(10) % 2
    before = len(LOCKS)
    for _ in range(50):
        suffice.GaussianDiscriminant().fit(X, y).partial_fit(X[:1], y[:1])
    assert len(LOCKS) <= before + 1
