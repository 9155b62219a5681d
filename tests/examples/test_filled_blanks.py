"""Logistic regression with blank cells: filled with means, and marked, when that is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import suffice
from suffice import LogisticRegression
from suffice.columns.filled import FilledColumns
from suffice.errors import BadSetting, NotFinite

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

rng = np.random.default_rng(0)
frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
labels = np.where(frame.a + frame.b + rng.normal(size=200) > 0, "yes", "no")
frame.loc[::7, "a"] = np.nan
by_hand = FilledColumns.of(frame)
HELD: dict[str, Callable[[pd.DataFrame], object]] = {
    "frame": lambda rows: rows,
    "array": lambda rows: rows.to_numpy(),
    "list": lambda rows: rows.to_numpy().tolist(),
}


@pytest.mark.parametrize("hold", HELD.values(), ids=HELD)
@pytest.mark.parametrize("settings", [{}, {"penalty": 1.0}, {"penalty": "auto"}])
def test_it_is_the_fit_of_rows_that_were_filled_before(hold, settings) -> None:
    model = LogisticRegression(missing="indicator", **settings).fit(hold(frame), labels)
    before = LogisticRegression(**settings).fit(by_hand.transform(frame), labels)
    found = model.predict_proba(hold(frame))
    np.testing.assert_allclose(found, before.predict_proba(by_hand.transform(frame)), rtol=1e-9)
    assert model.n_features_in_ == 3
    assert len(model.coefficient_names_) == 4


@pytest.mark.slow
def test_it_is_saved_cloned_read_from_files_and_cross_validated(tmp_path: Path) -> None:
    model = LogisticRegression(missing="indicator").fit(frame, labels)
    model.save(tmp_path / "m.suffice")
    back = suffice.load(tmp_path / "m.suffice")
    assert back.missing == "indicator"
    np.testing.assert_array_equal(back.predict_proba(frame), model.predict_proba(frame))
    assert cross_val_score(clone(model), frame, labels, cv=3).min() > 0.5
    frame.assign(y=labels).to_csv(tmp_path / "t.csv", index=False)
    read = LogisticRegression(missing="indicator").fit(tmp_path / "t.csv", target="y")
    np.testing.assert_allclose(read.predict_proba(frame), model.predict_proba(frame), rtol=1e-9)
    profile = model.summary(frame, labels, intervals="profile")
    assert "a=blank" in str(profile)


def test_what_it_cannot_do_is_refused_in_words() -> None:
    with pytest.raises(BadSetting, match="missing='mean' is not known"):
        LogisticRegression(missing="mean").fit(frame, labels)
    with pytest.raises(BadSetting, match="cannot be combined with partial_fit"):
        LogisticRegression(missing="indicator").partial_fit(frame, labels)
    with pytest.raises(NotFinite) as refusal:
        LogisticRegression().fit(frame, labels)
    assert 'LogisticRegression(missing="indicator")' in refusal.value.hint
    endless = frame.assign(b=np.where(np.arange(200) == 3, np.inf, frame.b))
    with pytest.raises(NotFinite, match="row 3, b: inf"):
        LogisticRegression(missing="indicator").fit(endless, labels)
