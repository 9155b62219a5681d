"""Laws of pools: order, parts, repetitions and units of rows do not matter."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice
from suffice.errors import SufficeWarning
from suffice.models.pool.coding import Coding
from suffice.models.pool.folded_rows import FoldedRows
from suffice.models.pool.members import MEMBERS as ALL_MEMBERS
from suffice.models.pool.model import training_rows
from tests.searches import examples

pytestmark = pytest.mark.slow
TREES = ("forest", "boosted trees")
"""Members that draw rows."""
MEMBERS = ["naive Bayes", "weighted naive Bayes", "GDA", "logistic on ranks", *TREES]
"""Enough for a law: one of each kind but kernels; all together are tried once."""
seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(2, 24)
few = examples(5)
"""A pool takes a tenth of a second: the profile's number of examples is for smaller things."""


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        yield


def table(seed: int, size: int, classes: int = 2) -> tuple[pd.DataFrame, Any]:
    """Return rows of two numbers, a category and a truth, with blanks, some rows twice."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(classes), rng.integers(classes, size=size)])
    rows = len(codes)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=rows) + codes,
            "b": rng.integers(4, size=rows).astype(float),
            "c": rng.choice(np.array(["x", "y", "z", None], dtype=object), size=rows),
            "d": rng.random(rows) < 0.3 + 0.4 * (codes == 1),
        }
    )
    frame.loc[rng.random(rows) < 0.1, "a"] = np.nan
    twice = rng.integers(rows, size=max(1, rows // 6))
    return (
        pd.concat([frame, frame.iloc[twice]], ignore_index=True),
        np.concatenate([codes, codes[twice]]),
    )


def pool(members: Any = MEMBERS) -> Any:
    return suffice.Pool(members)


def cut(rows: pd.DataFrame, labels: Any, kept: Any) -> tuple[pd.DataFrame, Any]:
    return rows[kept].reset_index(drop=True), labels[kept]


@given(seeds, sizes)
@few
def test_the_order_of_rows_does_not_matter(seed: int, size: int) -> None:
    rows, labels = table(seed, size)
    order = np.random.default_rng(seed).permutation(len(labels))
    said = pool().fit(rows, labels).predict_proba(rows)
    again = pool().fit(rows.iloc[order], labels[order]).predict_proba(rows)
    assert np.array_equal(said, again)


@given(seeds, sizes, st.sampled_from([2, 3]))
@few
def test_parts_learned_or_merged_are_the_whole(seed: int, size: int, classes: int) -> None:
    rows, labels = table(seed, size, classes)
    first = np.random.default_rng(seed).random(len(labels)) < 0.5
    first[0], first[1] = True, False
    one, other = cut(rows, labels, first), cut(rows, labels, ~first)
    said = pool().fit(rows, labels).predict_proba(rows)
    learned = pool().partial_fit(*one).partial_fit(*other)
    merged = pool().fit(*one) + pool().fit(*other)
    assert np.array_equal(learned.predict_proba(rows), said)
    assert np.array_equal(merged.predict_proba(rows), said)
    assert learned.weights_ == merged.weights_


@given(seeds, sizes)
@few
def test_what_is_forgotten_was_never_there(seed: int, size: int) -> None:
    rows, labels = table(seed, size)
    kept = np.random.default_rng(seed).random(len(labels)) < 0.6
    kept[:1] = True
    if kept.all():
        return
    one, other = cut(rows, labels, kept), cut(rows, labels, ~kept)
    model = pool().fit(rows, labels).forget(*other)
    expected = pool().fit(*one)
    assert model.classes_.tolist() == expected.classes_.tolist()
    assert np.array_equal(model.predict_proba(rows), expected.predict_proba(rows))


@given(seeds, sizes)
@few
def test_weights_are_repetitions_and_zero_is_absence(seed: int, size: int) -> None:
    rows, labels = table(seed, size)
    weights = np.random.default_rng(seed).integers(0, 3, size=len(labels))
    weights[:2] = 1
    weighted = pool().fit(rows, labels, sample_weight=weights.astype(float))
    repeated = np.repeat(np.arange(len(labels)), weights)
    said = pool().fit(rows.iloc[repeated], labels[repeated]).predict_proba(rows)
    assert np.abs(weighted.predict_proba(rows) - said).max() <= 1e-9


@given(seeds, sizes, st.sampled_from([2, 3]))
@few
def test_what_judging_made_ready_answers_like_what_rows_make_ready(
    seed: int, size: int, classes: int
) -> None:
    # Levels of one row each: without its fold a column is narrower, or gone.
    rows, labels = table(seed, size, classes)
    rows["e"] = np.where(np.arange(len(rows)) < 3, "usual", rows.index.astype(str))
    learned = pool().fit(rows, labels).learned_
    kinds = learned.model.kinds
    cells, codes, weights = training_rows(learned.statistics.sample, kinds, learned.labels)
    coding = Coding.of(cells, weights)
    one, other = (FoldedRows(coding.code(cells), codes, weights, classes) for _ in range(2))
    asked = coding.code(learned.rows(rows))
    for name, member in ALL_MEMBERS.items():
        if member.affordable(one):
            judged = member.judge(one)
            answer = judged.answer or member.ready(one, judged.grid)
            again = member.ready(other, judged.grid)
            assert np.array_equal(answer(one.new(asked)), again(other.new(asked))), name


LABELS: dict[str, list[Any]] = {
    "integers": [7, -3, 0],
    "text": ["ham", "spam", "ü"],
    "truths": [False, True],
    "floats": [1.0, -2.0, 1e9],
    "tuples": [("a", 1), ("a", 2), ("b", 0)],
}


@pytest.mark.parametrize("kind", LABELS)
@given(seeds)
@examples(3)
def test_labels_of_any_kind_have_probabilities(kind: str, seed: int) -> None:
    names = LABELS[kind]
    rows, codes = table(seed, 12, len(names))
    labels = np.empty(len(codes), dtype=object)
    labels[:] = [names[code] for code in codes]
    model = pool(["naive Bayes", "logistic"]).fit(rows, labels)
    said = model.predict_proba(rows)
    assert set(model.classes_.tolist()) == set(names)
    assert set(model.predict(rows).tolist()) <= set(names)
    assert_probabilities(said)


def assert_probabilities(said: Any) -> None:
    assert np.isfinite(said).all()
    assert (said >= 0.0).all()
    assert np.abs(said.sum(axis=1) - 1.0).max() <= 1e-12


@given(seeds, sizes, st.sampled_from([1, 2, 5]))
@few
def test_all_members_give_probabilities(seed: int, size: int, classes: int) -> None:
    rows, labels = table(seed, size, classes)
    model = pool("auto").fit(rows, labels)
    strange = rows.assign(a=rows["a"] * 1e6, c="never seen")
    for X in (rows, strange):
        assert_probabilities(model.predict_proba(X))
        for said in model.member_probabilities(X).values():
            assert_probabilities(said)
    assert 0.0 <= model.accuracy_ <= 1.0
    assert np.isfinite([model.log_loss_, *model.log_losses_.values()]).all()


@given(seeds, st.floats(-6.0, 6.0), st.floats(-100.0, 100.0))
@few
def test_units_and_origins_of_numbers_do_not_matter(seed: int, power: float, shift: float) -> None:
    # Folds follow what rows say, so members are asked by themselves, with shares held.
    rows, labels = table(seed, 30)
    scale = 2.0 ** round(power)
    moved = rows.assign(a=rows["a"] * scale + shift * scale, b=rows["b"] * scale)
    ours, theirs = pool().fit(rows, labels), pool().fit(moved, labels)
    for name, said in _members(ours, rows).items():
        again = _members(theirs, moved, like=ours)[name]
        assert np.abs(said - again).max() <= 1e-6, name


def _members(model: Any, X: Any, like: Any = None) -> dict[str, Any]:
    """Return what members say, with the grids of another model where one is given.

    Trees draw rows in the order of their hashes, which follow what rows say.
    """
    from dataclasses import replace

    held = model.model_
    source = held if like is None else like.model_
    found = replace(held, members=source.members, shares=source.shares, grids=source.grids)
    said: dict[str, Any] = found.posteriors(model.learned_.rows(X))
    return {name: value for name, value in said.items() if name not in TREES}


@given(seeds)
@few
def test_names_of_levels_do_not_matter_while_their_order_stays(seed: int) -> None:
    rows, labels = table(seed, 24)
    renamed = rows.assign(
        c=rows["c"].map({"x": "k", "y": "l", "z": "m"}).where(rows["c"].notna(), None)
    )
    ours, theirs = pool().fit(rows, labels), pool().fit(renamed, labels)
    for name, said in _members(ours, rows).items():
        again = _members(theirs, renamed, like=ours)[name]
        assert np.abs(said - again).max() <= 1e-6, name
