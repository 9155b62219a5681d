"""The page about a table: prediction sets of held-out rows, and labels that are probably wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from suffice import compare
from suffice.report.contents import Contents
from suffice.report.guarantees.audited_labels import MOST_ROWS, audit_section, audited
from suffice.report.guarantees.held_out_sets import COVERAGES, held_out_sets, sets_section
from suffice.report.html_page import rendered


@pytest.fixture(scope="module")
def found() -> Any:
    X, y = load_iris(return_X_y=True)
    X, y = X[:, :2], np.array(["<b>setosa", "versicolor", "virginica"])[y]
    y[3] = "virginica"
    return compare(X, y, models=["gda"], folds=5, curves=False)


def test_sets_are_those_of_ranks_among_the_others(found: Any) -> None:
    model = found.recommendation.model
    told = held_out_sets(found, model)
    assert told is not None
    scores, codes = -found.held_out[model].log_posterior, found.rows.codes
    n = len(codes)
    own = scores[np.arange(n), codes]
    for at in told.at:
        sizes, held = [], 0
        for i in range(n):
            others = np.delete(own, i)
            p = np.array([(1 + (others >= s).sum()) / n for s in scores[i]])
            chosen = (p > 1.0 - at.coverage) | (scores[i] == scores[i].min())
            sizes.append(chosen.sum())
            held += bool(chosen[codes[i]])
        assert at.held == pytest.approx(held / n)
        assert at.size == pytest.approx(np.mean(sizes))
        assert at.held >= at.coverage - 1.0 / n
        assert at.single + at.several == pytest.approx(1.0)
    assert [at.coverage for at in told.at] == list(COVERAGES)


def test_the_page_has_both_sections_and_escapes_labels(found: Any) -> None:
    contents = Contents.of(found, curve=False)
    html = rendered(contents, pictures=False)
    assert '<section id="sets">' in html
    assert '<section id="labels">' in html
    assert "<b>setosa" not in html
    assert contents.audit is not None
    assert 3 in contents.audit.suspect_rows
    record = contents.record()
    assert record["audit"]["suspects"] == contents.audit.suspect_rows
    assert record["prediction_sets"]["sets"][1]["coverage"] == 0.9


def test_tables_that_are_too_large_are_not_audited(
    found: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MOST_ROWS == 5_000
    monkeypatch.setattr("suffice.report.guarantees.audited_labels.MOST_ROWS", 100)
    assert audited(found) is None
    assert audit_section(None) == "" == sets_section(None)
