"""Learn, forget, merge: files of models obey the algebra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import suffice

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray


def halves(table: Path) -> tuple[Path, Path]:
    """Return every other row of a table, and the rest."""
    header, *rows = table.read_text().splitlines(keepends=True)
    parts = []
    for k in (0, 1):
        path = table.with_name(f"{table.stem}{k}.csv")
        path.write_text(header + "".join(rows[k::2]))
        parts.append(path)
    return parts[0], parts[1]


def probabilities(model: Path, table: Path, target: str) -> NDArray[Any]:
    X = pd.read_csv(table).drop(columns=target)
    found: NDArray[Any] = suffice.load(model).predict_proba(X)
    return found


@pytest.mark.parametrize("model", ["gda", "qda"])
def test_learning_is_fitting_later_and_forgetting_takes_it_back(
    model: str, run: Any, fitted: Callable[..., Path], measurements: Path, tmp_path: Path
) -> None:
    first, second = halves(measurements)
    whole, half = fitted(measurements, "class", model), fitted(first, "class", model)
    before = probabilities(half, measurements, "class")
    done = run("learn", half, second)
    assert done.code == 0
    assert f"learned {len(pd.read_csv(second))} rows" in done.err
    np.testing.assert_allclose(
        probabilities(half, measurements, "class"), probabilities(whole, measurements, "class")
    )
    other = tmp_path / "other.suffice"
    assert run("forget", half, second, "-o", other).code == 0
    np.testing.assert_allclose(probabilities(other, measurements, "class"), before)


def test_merging_is_fitting_everything(
    run: Any, fitted: Callable[..., Path], measurements: Path, tmp_path: Path
) -> None:
    parts = [fitted(part, "class", "gda") for part in halves(measurements)]
    both = tmp_path / "both.suffice"
    done = run("merge", *parts, "-o", both)
    assert (done.code, done.err) == (0, f"{both}: 120 rows of 2 models\n")
    np.testing.assert_allclose(
        probabilities(both, measurements, "class"),
        probabilities(fitted(measurements, "class", "gda"), measurements, "class"),
    )
    assert run("predict", both, measurements).err.startswith("note: ")  # the target is known still


@pytest.mark.parametrize("model", ["gda", "naive-bayes", "logistic"])
def test_a_new_level_widens_at_learn_and_is_taken_at_predict(
    model: str, run: Any, fitted: Callable[..., Path], flowers: Path, tmp_path: Path
) -> None:
    path = fitted(flowers, "kind", model)
    more = tmp_path / "more.csv"
    more.write_text(
        "size,colour,petals,scented,kind\n1.5,violet,5,true,rose\n0.4,violet,14,false,daisy\n"
    )
    assert run("predict", path, more).code == 0
    done = run("learn", path, more)
    assert done.code == 0, done.err
    assert run("predict", path, more).rows[0] == "prediction"
    if model == "gda":
        assert "colour=violet" in suffice.load(path)._require().columns.coded_names


def test_a_new_class_is_a_new_class(
    run: Any, fitted: Callable[..., Path], flowers: Path, tmp_path: Path
) -> None:
    path = fitted(flowers, "kind", "naive-bayes")
    more = tmp_path / "more.csv"
    more.write_text(
        "kind,size,colour,petals,scented\n" + "orchid,3.5,violet,6,false\n" * 3 + ",1,red,5,true\n"
    )
    done = run("learn", path, more)
    assert "learned 3 rows; new: orchid" in done.err
    assert "note: 1 row without a label left out" in done.err
    assert run("predict", path, more).rows[1] == "orchid"


def test_forgetting_what_was_never_learned_is_refused_and_loses_nothing(
    run: Any, fitted: Callable[..., Path], flowers: Path, tmp_path: Path
) -> None:
    path = fitted(flowers, "kind", "naive-bayes")
    before = path.read_bytes()
    more = tmp_path / "more.csv"
    more.write_text("size,colour,petals,scented,kind\n1.5,violet,5,true,rose\n")
    assert run("forget", path, more).code == 1
    assert run("forget", path, flowers).code == 1  # nothing would be left
    assert path.read_bytes() == before


def test_logistic_regression_neither_forgets_nor_merges(
    run: Any, fitted: Callable[..., Path], measurements: Path, tmp_path: Path
) -> None:
    path = fitted(measurements, "class", "logistic")
    for done in (
        run("forget", path, measurements),
        run("merge", path, path, "-o", tmp_path / "m.suffice"),
    ):
        assert done.code == 1
        assert "its coefficients are no sums" in done.err


def test_models_that_differ_are_not_merged(
    run: Any, fitted: Callable[..., Path], measurements: Path, flowers: Path, tmp_path: Path
) -> None:
    out = tmp_path / "merged.suffice"
    gda = fitted(measurements, "class", "gda")
    for other, words in (
        (fitted(measurements, "class", "qda"), "covariance='shared' and 'per-class'"),
        (fitted(measurements, "class", "naive-bayes"), "is a NaiveBayes"),
        (fitted(flowers, "kind", "gda"), "target 'class'"),
    ):
        done = run("merge", gda, other, "-o", out)
        assert done.code == 1
        assert words in done.err
        assert not out.exists()


def test_a_model_without_statistics_answers_and_does_no_more(
    run: Any, fitted: Callable[..., Path], measurements: Path
) -> None:
    whole = fitted(measurements, "class", "naive-bayes")
    said = run("predict", whole, measurements).out
    size = whole.stat().st_size
    path = fitted(measurements, "class", "naive-bayes", "--without-statistics")
    assert path.stat().st_size < size
    assert run("predict", path, measurements).out == said
    done = run("learn", path, measurements)
    assert done.code == 1
    assert "saved without its statistics" in done.err


def test_a_model_of_arrays_takes_columns_by_their_place(
    run: Any, measurements: Path, tmp_path: Path
) -> None:
    frame = pd.read_csv(measurements)
    path = tmp_path / "arrays.suffice"
    rows = frame.drop(columns="class").to_numpy()
    suffice.GaussianDiscriminant().fit(rows, frame["class"].to_numpy()).save(path)
    table = tmp_path / "plain.csv"
    np.savetxt(table, rows[:5], delimiter=",")
    expected = suffice.load(path).predict(rows[:5])
    assert run("predict", path, table).rows[1:] == list(expected)
    done = run("learn", path, measurements)
    assert done.code == 1
    assert "does not say which column holds the labels" in done.err
    assert run("learn", path, measurements, "--target", "class").code == 0
