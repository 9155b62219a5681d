"""Classes made of several on the command line: fitted, kept in a file, asked, refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice import MixtureDiscriminant
from suffice.errors import BadRows, NotANumber
from suffice.learning.collect import learned_from
from suffice.learning.learners import mixture_discriminant

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Run


@pytest.fixture
def kinds() -> pd.DataFrame:
    """One class between the two halves of the other; some cells are blank."""
    rng = np.random.default_rng(0)
    places = rng.integers(0, 3, 240)
    rows = np.array([[0.0, 0.0], [-4.0, -4.0], [4.0, 4.0]])[places] + rng.normal(size=(240, 2))
    frame = pd.DataFrame(rows.round(3), columns=["a", "b"])
    frame.loc[::17, "a"] = np.nan
    frame["kind"] = np.where(places == 0, "inner", "outer")
    return frame


@pytest.fixture
def table(kinds: pd.DataFrame, tmp_path: Path) -> Path:
    place = tmp_path / "kinds.csv"
    kinds.to_csv(place, index=False)
    return place


@pytest.mark.slow
def test_the_command_writes_what_the_estimator_learns(
    kinds: pd.DataFrame, table: Path, run: Callable[..., Run]
) -> None:
    file = table.with_suffix(".suffice")
    said = run(
        "fit", table, "--target", "kind", "--model", "mda", "--components", "2",
        "--covariance", "VVI", "-o", file,
    )  # fmt: skip
    assert said.code == 0
    assert "% right on rows it has not seen" in said.err
    held = suffice.load(file)
    assert isinstance(held, MixtureDiscriminant)
    own = MixtureDiscriminant(2, "VVI").fit(kinds[["a", "b"]], kinds["kind"])
    rows = kinds[["a", "b"]]
    np.testing.assert_array_equal(held.predict_proba(rows), own.predict_proba(rows))
    assert held.score(rows, kinds["kind"]) > 0.95
    # One normal law for each class puts the mean of "outer" where the other class is.
    line = suffice.GaussianDiscriminant().fit(rows, kinds["kind"])
    assert line.score(rows, kinds["kind"]) < 0.8


def test_its_file_is_read_by_commands(
    kinds: pd.DataFrame, table: Path, run: Callable[..., Run]
) -> None:
    file = table.with_suffix(".suffice")
    MixtureDiscriminant({"outer": 2}, "EEE", shared=True).fit(
        kinds[["a", "b"]], kinds["kind"]
    ).save(file)
    for words in (
        ("predict", file, table), ("predict", file, table, "--proba"), ("outliers", file, table),
        ("explain", file, table), ("inspect", file), ("sample", file),
    ):  # fmt: skip
        said = run(*words)
        assert said.code == 0, said.err
        assert said.out


def test_the_fit_is_the_same_from_a_table_a_frame_and_arrays(
    kinds: pd.DataFrame, table: Path
) -> None:
    rows, labels = kinds[["a", "b"]], kinds["kind"]
    settings: dict[str, Any] = {"model": "mixture-discriminant", "covariance": "EEI"}
    found = [
        suffice.train(table, target="kind", components={"outer": 2}, **settings),
        suffice.train(kinds, target="kind", components={"outer": 2}, **settings),
        suffice.train(rows.to_numpy(), labels.to_numpy(), components={"outer": 2}, **settings),
    ]
    cells = rows.to_numpy()
    answers = [one.estimator.log_density(cells) for one in found]
    assert found[0].estimator.components_ == {"inner": 1, "outer": 2}
    for answer in answers[1:]:
        np.testing.assert_allclose(answer, answers[0], rtol=1e-9)


def test_a_source_is_learned_from_all_at_once_or_refused(
    kinds: pd.DataFrame, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = MixtureDiscriminant({"outer": 2}, "VVI").as_learner()
    there = learned_from(learner, table, "kind", None)
    here = learner.first(learner.read(kinds[["a", "b"]], kinds["kind"]))
    cells = kinds[["a", "b"]].to_numpy()
    np.testing.assert_allclose(there.posterior(cells), here.posterior(cells), atol=1e-9)
    monkeypatch.setattr("suffice.learning.collect.MOST_CELLS", 100)
    monkeypatch.setattr(mixture_discriminant, "MOST_CELLS", 100)
    with pytest.raises(BadRows, match=r"needs all rows at once.*more than 100 cells"):
        learned_from(learner, table, "kind", None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--penalty", "1"), "--penalty does not apply to --model mixture-discriminant"),
        (("--components", "0"), "components=0 is not a whole number of at least 1"),
        (("--components", "some"), "'some' must be a whole number or auto"),
        (("--checkpoint", "c.state"), "--checkpoint works for models that read the rows once"),
    ],
)
def test_what_it_does_not_take_is_refused(
    words: tuple[str, ...], said: str, table: Path, run: Callable[..., Run]
) -> None:
    found = run("fit", table, "--target", "kind", "--model", "mda", *words)
    assert found.code != 0
    assert said in found.err
    assert "Hint:" in found.err


def test_words_are_refused_with_their_columns(kinds: pd.DataFrame) -> None:
    kinds["shade"] = np.where(np.arange(len(kinds)) % 2, "red", "blue")
    with pytest.raises(NotANumber, match=r"cannot be normally distributed: shade"):
        suffice.train(kinds, target="kind", model="mda")


def test_rows_of_the_fit_cannot_be_left_out(
    kinds: pd.DataFrame, table: Path, run: Callable[..., Run]
) -> None:
    file = table.with_suffix(".suffice")
    held = suffice.train(
        kinds, target="kind", model="mda", components={"outer": 2}, covariance="VVI", time_limit=0.1
    )
    held.save(file)
    said = run("outliers", file, table, "--training")
    assert said.code == 1
    assert "has no typicality of the rows of the fit" in said.err
    said = run("forget", file, table, "--target", "kind")
    assert said.code == 1
    assert "cannot forget" in said.err


def test_a_file_learns_more_rows_as_the_estimator_does(
    kinds: pd.DataFrame, table: Path, run: Callable[..., Run]
) -> None:
    file, late = table.with_suffix(".suffice"), table.with_name("late.csv")
    rows, labels = kinds[["a", "b"]], kinds["kind"]
    own = MixtureDiscriminant({"outer": 2}, "VVI").fit(rows, labels)
    own.save(file)
    more = pd.concat([kinds] * 6)
    more.loc[more.index % 40 == 0, "kind"] = "between"
    more.to_csv(late, index=False)
    said = run("learn", file, late, "--target", "kind")
    assert said.code == 0, said.err
    assert "between" in said.err + said.out
    held = suffice.load(file)
    own.partial_fit(more[["a", "b"]], more["kind"])
    np.testing.assert_allclose(held.predict_proba(rows), own.predict_proba(rows), atol=1e-12)
    assert list(held.classes_) == ["between", "inner", "outer"]
