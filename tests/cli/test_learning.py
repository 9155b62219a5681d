"""Learn, forget, merge: files of models obey the algebra."""

from __future__ import annotations

import io
import json
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
        assert "colour=violet" in suffice.load(path).schema.coded_names


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
        assert "it does not keep sums" in done.err


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
    assert "does not record which column has the labels" in done.err
    assert run("learn", path, measurements, "--target", "class").code == 0


KINDS = ("gda", "qda", "naive-bayes")
SEASONS = ("spring", "summer", "autumn")


def garden(path: Path, seed: int, size: int, classes: tuple[str, ...], colours: str) -> Path:
    """Write a table of words, counts, truths and blanks."""
    rng = np.random.default_rng(seed)
    lines = ["size,colour,petals,scented,season,kind"]
    for i in range(size):
        label = i % len(classes)
        cells = [
            "" if i % 7 == 3 else f"{rng.normal(1.0 + label, 0.5):.2f}",
            "" if i % 11 == 5 else colours[int(rng.integers(len(colours)))],
            str(5 + label + int(rng.poisson(3.0))),
            ("true", "false")[int(rng.random() < 0.3 + 0.2 * label)],
            SEASONS[int(rng.integers(3))],
            classes[label],
        ]
        lines.append(",".join(cells))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def gardens(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Return two tables and both in one; the second has a class and colours of its own."""
    first = garden(tmp_path / "first.csv", 1, 90, ("rose", "daisy"), "rwy")
    second = garden(tmp_path / "second.csv", 2, 120, ("rose", "daisy", "orchid"), "rwv")
    both = tmp_path / "both.csv"
    both.write_text(first.read_text() + second.read_text().split("\n", 1)[1])
    return first, second, both


def answers(run: Any, model: Path, table: Path) -> pd.DataFrame:
    """Return the probabilities of a model, by class."""
    done = run("predict", model, table, "--proba", "--json")
    assert done.code == 0, done.err
    found = pd.read_json(io.StringIO(done.out), lines=True, dtype=False)
    return found[sorted(name for name in found if name != "prediction")].astype(float)


# The families of naive Bayes are found out at the fit, so they are named where tables differ.
@pytest.mark.parametrize("model", KINDS)
def test_words_blanks_and_late_classes_learned_later_are_fitted_at_once(
    model: str, run: Any, fitted: Callable[..., Path], gardens: tuple[Path, Path, Path]
) -> None:
    first, second, both = gardens
    part, whole = fitted(first, "kind", model), fitted(both, "kind", model)
    before, strange = answers(run, part, first), answers(run, part, both)
    done = run("learn", part, second, "--json")
    assert done.code == 0, done.err
    said = json.loads(done.out)
    assert (said["learned"], said["new_classes"]) == (120, ["orchid"])
    np.testing.assert_allclose(
        answers(run, part, both), answers(run, whole, both), rtol=1e-6, atol=1e-12
    )
    done = run("forget", part, second, "--json")
    assert json.loads(done.out)["classes_gone"] == ["orchid"]
    after = answers(run, part, first)
    assert list(after) == list(before)
    np.testing.assert_allclose(after, before, rtol=1e-6, atol=1e-12)
    # The colour that was forgotten is a column still, of nothing but rounding: a row that has it
    # is as far from every class as before, to fewer digits.
    np.testing.assert_allclose(answers(run, part, both), strange, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("model", KINDS)
def test_words_blanks_and_late_classes_merged_are_fitted_at_once(
    model: str, run: Any, fitted: Callable[..., Path], gardens: tuple[Path, Path, Path]
) -> None:
    *parts, both = gardens
    merged = both.with_name("merged.suffice")
    done = run("merge", *(fitted(part, "kind", model) for part in parts), "-o", merged, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["rows"] == 210
    expected = answers(run, fitted(both, "kind", model), both)
    np.testing.assert_allclose(answers(run, merged, both), expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("model", [suffice.GaussianDiscriminant, suffice.NaiveBayes])
def test_a_model_saved_in_python_works_in_every_command(
    model: Any, run: Any, gardens: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    first, second, _ = gardens
    frame = pd.read_csv(first)
    path, other = tmp_path / "python.suffice", tmp_path / "other.suffice"
    model().fit(frame.drop(columns="kind"), frame["kind"]).save(path)
    predicted = [json.loads(line) for line in run("predict", path, first, "--json").rows]
    expected = suffice.load(path).predict(frame.drop(columns="kind"))
    assert [one["prediction"] for one in predicted] == list(expected)
    for command in (
        ("explain", path, first, "--row", 4),
        ("outliers", path, second),
        ("sample", path, "-n", 5),
        ("inspect", path),
        ("learn", path, second, "--target", "kind", "-o", other),
        ("diff", path, other),
        ("forget", other, second, "--target", "kind"),
        ("merge", path, other, "-o", tmp_path / "sum.suffice"),
    ):
        done = run(*command)
        assert done.code == 0, done.err


@pytest.mark.parametrize("model", [*KINDS, "logistic"])
def test_a_model_of_the_command_line_takes_the_raw_frame_in_python(
    model: str, run: Any, fitted: Callable[..., Path], gardens: tuple[Path, Path, Path]
) -> None:
    first = gardens[0]
    path = fitted(first, "kind", model)
    loaded = suffice.load(path)
    said = answers(run, path, first)
    for X in (pd.read_csv(first), pd.read_csv(first).drop(columns="kind")):
        found = pd.DataFrame(
            loaded.predict_proba(X), columns=[f"p({label})" for label in loaded.classes_]
        )
        np.testing.assert_allclose(found[list(said)], said, rtol=1e-9)
    again = path.with_name("again.suffice")
    loaded.save(again)
    np.testing.assert_allclose(answers(run, again, first), said, rtol=1e-12)
    assert run("predict", again, first).err.startswith("note: ")  # the target is known still


def test_samples_have_the_digits_of_the_table_also_after_learning_more(
    run: Any, fitted: Callable[..., Path], gardens: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    path = fitted(gardens[0], "kind", "gda")
    drawn = pd.read_csv(io.StringIO(run("sample", path, "-n", 200).out), dtype=str)
    assert drawn["size"].str.fullmatch(r"-?\d+(\.\d{1,2})?").all()
    assert drawn["petals"].str.fullmatch(r"-?\d+").all()
    more = tmp_path / "more.csv"
    more.write_text("size,colour,petals,scented,season,kind\n1.2345,r,5.5,true,spring,rose\n")
    assert run("learn", path, more).code == 0
    drawn = pd.read_csv(io.StringIO(run("sample", path, "-n", 200).out), dtype=str)
    assert drawn["size"].str.fullmatch(r"-?\d+\.\d{4}").any()
    assert drawn["petals"].str.fullmatch(r"-?\d+\.\d").any()


def test_an_l1_ratio_leaves_columns_out(run: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 4)), columns=list("abcd"))
    frame["kind"] = np.where(frame["a"] + 0.3 * rng.normal(size=80) > 0, "high", "low")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    place = tmp_path / "model.suffice"
    asked = ("fit", tmp_path / "rows.csv", "-t", "kind", "-o", place, "--penalty", "8")
    assert run(*asked, "--model", "logistic", "--l1-ratio", "1").code == 0
    assert (suffice.load(place).coef_ != 0.0).tolist() == [[True, False, False, False]]
    assert "coefficients are small or zero" in run("inspect", place).out
    refused = run(*asked, "--model", "gda", "--l1-ratio", "1")
    assert refused.code == 2
    assert "--penalty, --l1-ratio does not apply to --model gda" in refused.err
