"""What models and checks return is shown as words and tables, in a prompt and in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import suffice

if TYPE_CHECKING:
    from collections.abc import Callable

RNG = np.random.default_rng(8)
X = RNG.normal(size=(90, 2)) + 1.5 * (np.arange(90) % 3)[:, np.newaxis]
Y = np.array(["<one>", "two", "three"])[np.arange(90) % 3]
MODEL = suffice.GaussianDiscriminant("shared").fit(X, Y)

RESULTS: dict[str, tuple[Callable[[], Any], int | None]] = {
    "explanation": (lambda: MODEL.explain(X[:4]), None),
    "leave-one-out": (lambda: MODEL.leave_one_out(X, Y), 90),
    "prediction sets": (lambda: MODEL.prediction_set(X[:5], rows=(X, Y)), 5),
    "audit": (lambda: suffice.audit(X, Y), None),
    "watch": (lambda: suffice.watch(MODEL, X + 2.0), None),
    "comparison": (lambda: suffice.compare(X, Y, models=["gda", "naive-bayes"], curves=False), 2),
}
"""Each with the number of rows of its frame, where that is known beforehand."""


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_words_and_tables(name: str) -> None:
    make, rows = RESULTS[name]
    found = make()
    assert "array(" not in repr(found)
    assert not repr(found).startswith("<")
    html = found._repr_html_()
    assert "<table" in html
    assert "<one>" not in html  # names of classes are escaped
    frame = found.to_frame("pandas")
    assert rows is None or len(frame) == rows
    assert frame.columns.tolist() == found.to_frame("polars").columns


def test_a_frame_of_sets_has_their_classes_and_p_values() -> None:
    sets = MODEL.prediction_set(X[:5], rows=(X, Y), coverage=0.8)
    frame = sets.to_frame("pandas")
    assert frame["set"].tolist() == [", ".join(each) for each in sets.sets]
    assert frame["classes"].tolist() == sets.sizes.tolist()
    for k, label in enumerate(sets.classes.tolist()):
        assert frame[f"p({label})"].tolist() == sets.p_values[:, k].tolist()


def test_what_is_shown_of_a_watch_has_its_verdict_and_what_has_moved() -> None:
    found = suffice.watch(MODEL, X + 2.0)
    assert not found.ok
    html = found._repr_html_()
    assert found.verdict.split(":", maxsplit=1)[0] in html
    assert html.count("<tr") == 1 + len(found.moved)
