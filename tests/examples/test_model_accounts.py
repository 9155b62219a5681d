"""What a model file holds, and what two of them differ in: numbers that can be checked by hand."""

from __future__ import annotations

import json
import warnings
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.errors import BadSetting, DifferentKinds, SufficeWarning
from suffice.storage.describe import describe
from suffice.storage.model_diff import Move, differences
from suffice.storage.model_file import StoredModel, read_model
from tests.reference.saved_models import CASES, fitted, of_cases

if TYPE_CHECKING:
    from pathlib import Path

GDA, NB, LOGISTIC = suffice.GaussianDiscriminant, suffice.NaiveBayes, suffice.LogisticRegression


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        yield


def stored(model: Any, folder: Path, **options: Any) -> StoredModel:
    model.save(folder / "model", **options)
    return read_model(folder / "model")


def move(found: Any, place: str, label: object, kind: str = "mean") -> Move:
    (one,) = [m for m in found.moves if (m.place, m.label, m.kind) == (place, label, kind)]
    return one


# What a model holds


def test_an_account_tells_classes_columns_rows_and_abilities(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [1.0, 2.0, 5.0, 6.0, 6.0], "colour": list("rgrgg")})
    account = describe(stored(GDA().fit(frame, list("aabbb")), tmp_path))
    assert account.rows == 5.0
    assert [(c.label, c.weight, c.prior) for c in account.classes] == [
        ("a", 2.0, pytest.approx(0.4)),
        ("b", 3.0, pytest.approx(0.6)),
    ]
    assert [(c.name, c.kind, c.levels) for c in account.columns] == [
        ("age", "number", ()),
        ("colour", "category", ("g", "r")),
    ]
    assert account.can_learn
    assert account.can_forget
    text = str(account)
    for line in (
        "GaussianDiscriminant, learned from 5 rows", "2 classes", "  a: 2 rows, prior 0.4",
        "2 columns", "  colour: category (g, r)", "  all classes share one covariance",
        "It has its statistics: it can learn more, forget, and be merged.",
    ):  # fmt: skip
        assert line in text.splitlines()


def test_an_account_names_the_family_of_every_column(tmp_path: Path) -> None:
    frame = pd.DataFrame({"calls": [0, 2, 7, 5], "plan": ["x", "y", None, "x"]})
    model = NB({"calls": "poisson", "plan": "categorical"}).fit(frame, list("aabb"))
    account = describe(stored(model, tmp_path))
    assert [(c.family, c.levels) for c in account.columns] == [
        ("poisson", ()),
        ("categorical", ("x", "y")),
    ]
    assert account.assumptions == ("the columns are independent within each class",)


def test_a_model_without_statistics_says_so(tmp_path: Path) -> None:
    model = GDA().fit([[1.0], [2.0], [5.0], [6.0]], list("aabb"))
    account = describe(stored(model, tmp_path, statistics=False))
    assert not account.can_learn
    assert "It has no statistics: it can predict, but not learn." in str(account)
    assert account.rows == 4.0


@pytest.mark.parametrize("name", of_cases())
def test_every_model_has_an_account_and_no_difference_from_itself(
    name: str, tmp_path: Path
) -> None:
    model, _ = fitted(name, np.random.default_rng(0))
    for statistics in (True, False) if CASES[name].alone else (True,):
        one = stored(model, tmp_path, statistics=statistics)
        account = describe(one)
        known = list(getattr(model, "classes_", ()))  # hidden ones have numbers
        assert [c.label for c in account.classes if known] == list(known)
        # With rows that have no label, more are learned, but not as one fit would have.
        more = "unlabelled" in name
        assert account.can_learn == (statistics and (CASES[name].learns or more))
        assert account.can_forget == (statistics and (CASES[name].forgets or more))
        assert str(account).startswith(type(model).__name__)
        if name == "logistic, averaged":
            with pytest.raises(BadSetting, match="no coefficients to compare"):
                differences(one, one)
            continue
        found = differences(one, one)
        assert not found.settings
        assert found.classes == found.columns == ((), ())
        assert all(m.errors in (0.0, None) for m in found.moves)
        for report in (account, found):
            json.dumps(report.to_dict(), allow_nan=False)


@pytest.mark.slow
def test_names_that_a_terminal_would_obey_are_quoted(tmp_path: Path) -> None:
    frame = pd.DataFrame({"\x1b[31mred": [1.0, 2.0, 5.0, 6.0]})
    model = GDA().fit(frame, ["a\nb", "a\nb", "c", "c"])
    one = stored(model, tmp_path)
    other = stored(model.partial_fit(frame + 1.0, ["a\nb", "a\nb", "c", "c"]), tmp_path)
    for text in (str(describe(one)), str(differences(one, other))):
        assert "\x1b" not in text
        assert "a\nb" not in text
        assert "a\\nb" in text


# What moved


def test_a_mean_moves_by_so_many_standard_errors(tmp_path: Path) -> None:
    y = list("aaabbb")
    before = GDA("per-class").fit([[1.0], [2.0], [3.0], [10.0], [10.0], [13.0]], y)
    after = GDA("per-class").fit([[5.0], [6.0], [7.0], [10.0], [10.0], [13.0]], y)
    found = differences(stored(before, tmp_path), stored(after, tmp_path))
    # Variances are 1 in either, of three rows: √(1/3 + 1/3).
    assert move(found, "x0", "a") == Move("a", "x0", "mean", 2.0, 6.0, 4.0 / sqrt(2.0 / 3.0))
    assert move(found, "x0", "b").errors == 0.0
    assert found.moves[0].label == "a"
    assert str(found).splitlines() == [
        "mean of x0 in class 'a': 2 became 6, +4.9 standard errors",
        "3 estimates are the same",
    ]


def test_shared_covariances_give_shared_errors(tmp_path: Path) -> None:
    y = list("aaabbb")
    before = GDA().fit([[1.0], [2.0], [3.0], [10.0], [10.0], [13.0]], y)
    after = GDA().fit([[5.0], [6.0], [7.0], [10.0], [10.0], [13.0]], y)
    found = differences(stored(before, tmp_path), stored(after, tmp_path))
    # The scatter is 2 + 6 in both, with 6 - 2 degrees of freedom: variances of 2.
    assert move(found, "x0", "a").errors == pytest.approx(4.0 / sqrt(2.0 / 3.0 + 2.0 / 3.0))


@pytest.mark.parametrize("covariance", ["shared", "per-class", "diagonal"])
def test_cells_that_are_missing_do_not_count(covariance: str, tmp_path: Path) -> None:
    nan = float("nan")
    x = np.array([[1.0, 0.0], [2.0, 1.0], [3.0, nan], [nan, 2.0], [1.0, 0.0], [3.0, 4.0]])
    y = list("aaaabb")
    one = stored(GDA(covariance).fit(x, y), tmp_path)
    other = stored(GDA(covariance).fit(x + np.array([3.0, 0.0]), y), tmp_path)
    found = differences(one, other)
    first = move(found, "x0", "a")
    assert (first.before, first.after) == (pytest.approx(2.0), pytest.approx(5.0))
    # Of class a three cells, scatter 2; of b two, scatter 2.
    variance = 4.0 / 3.0 if covariance == "shared" else 1.0
    assert first.errors == pytest.approx(3.0 / sqrt(2.0 * variance / 3.0))
    assert move(found, "x1", "a").errors == 0.0


def test_probabilities_and_rates_have_the_errors_of_both_together(tmp_path: Path) -> None:
    rows = {"yes": [True] * 1 + [False] * 3, "n": [0, 2, 2, 4], "c": list("xxyy")}
    frame = pd.DataFrame({name: held * 2 for name, held in rows.items()})
    other = frame.copy()
    other.loc[:3, "yes"] = [True, True, True, False]
    other.loc[:3, "n"] = [4, 4, 4, 8]
    other.loc[:3, "c"] = list("xyyy")
    y = list("aaaabbbb")
    families = {"yes": "bernoulli", "n": "poisson", "c": "categorical"}
    found = differences(
        stored(NB(families).fit(frame, y), tmp_path), stored(NB(families).fit(other, y), tmp_path)
    )
    # ¼ became ¾ of four rows each: ½ together, √(¼(¼ + ¼)).
    assert move(found, "yes", "a", "probability").errors == pytest.approx(0.5 / sqrt(0.125))
    # 2 became 5: 3.5 together, √(3.5(¼ + ¼)).
    assert move(found, "n", "a", "rate") == Move(
        "a", "n", "rate", 2.0, 5.0, pytest.approx(3.0 / sqrt(1.75))
    )
    # ½ became ¼: ⅜ together.
    level = move(found, "c=x", "a", "probability")
    assert (level.before, level.after) == (0.5, 0.25)
    assert level.errors == pytest.approx(-0.25 / sqrt(0.375 * 0.625 * 0.5))
    assert move(found, "c=x", "b", "probability").errors == 0.0


def test_the_share_of_a_class_moves(tmp_path: Path) -> None:
    x = [[0.0], [1.0], [2.0], [3.0]]
    found = differences(
        stored(GDA().fit(x, list("abbb")), tmp_path), stored(GDA().fit(x, list("aaab")), tmp_path)
    )
    one = move(found, "the class", "a", "share of the rows")
    assert (one.before, one.after) == (0.25, 0.75)
    assert one.errors == pytest.approx(0.5 / sqrt(0.125))


def test_classes_columns_and_settings_of_one_alone_are_named(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [1.0, 2.0, 5.0, 6.0], "size": [2.0, 1.0, 0.0, 4.0]})
    one = stored(GDA().fit(frame, list("aabb")), tmp_path)
    two = stored(
        GDA("per-class", pool=0.5).fit(frame.rename(columns={"size": "height"}), list("bbcc")),
        tmp_path,
    )
    found = differences(one, two)
    assert found.settings == (("covariance", "shared", "per-class"), ("pool", None, 0.5))
    assert found.classes == (("a",), ("c",))
    assert found.columns == (("size",), ("height",))
    assert {m.place for m in found.moves} == {"age", "the class"}
    text = str(found).splitlines()
    assert "class 'a' is only in the first" in text
    assert "column 'height' is only in the second" in text
    assert "covariance: 'shared' became 'per-class'" in text


def test_coefficients_move_by_the_errors_of_both_fits(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2))
    y = (x[:, 0] + rng.normal(size=80) > 0.0).astype(int)
    first, second = LOGISTIC().fit(x, y), LOGISTIC().fit(-x, y)
    found = differences(stored(first, tmp_path), stored(second, tmp_path))
    one = move(found, "x0", 1, "coefficient")
    assert one.before == pytest.approx(first.coef_[0, 0])
    assert one.after == pytest.approx(-first.coef_[0, 0])
    error = sqrt(first.covariance_[1, 1])
    assert one.errors == pytest.approx(-2.0 * first.coef_[0, 0] / (error * sqrt(2.0)), rel=1e-6)


def test_coefficients_are_compared_against_a_class_that_both_have(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 1))
    y = np.array(list("abc"))[np.arange(90) % 3]
    kept = y != "a"
    found = differences(
        stored(LOGISTIC().fit(x, y), tmp_path), stored(LOGISTIC().fit(x[kept], y[kept]), tmp_path)
    )
    assert found.classes == (("a",), ())
    assert {m.label for m in found.moves} == {"c"}
    assert abs(move(found, "x0", "c", "coefficient").errors or 0.0) < 0.5


def test_a_model_of_classes_and_one_of_coefficients_have_nothing_in_common(tmp_path: Path) -> None:
    x, y = [[1.0], [2.0], [1.5], [6.0]], list("aabb")
    one, two = stored(GDA().fit(x, y), tmp_path), stored(LOGISTIC(1.0).fit(x, y), tmp_path)
    with pytest.raises(DifferentKinds, match="no estimates in common"):
        differences(one, two)


# Words


def test_moves_are_told_in_words(tmp_path: Path) -> None:
    assert str(Move("a", "age", "mean", 2.0, 6.0, 4.87)) == (
        "mean of age in class 'a': 2 became 6, +4.9 standard errors"
    )
    assert str(Move("b", "age", "coefficient", 0.5, -1.0, None, "a")) == (
        "coefficient of age, 'b' against 'a': 0.5 became -1"
    )
    assert str(Move("a", "age", "mean", 2.0, 6.0, float("inf"))) == (
        "mean of age in class 'a': 2 became 6, where there was no variance"
    )
    x = [[0.0], [1.0], [2.0], [3.0]]
    found = differences(
        stored(GDA().fit(x, list("abbb")), tmp_path), stored(GDA().fit(x, list("aaab")), tmp_path)
    )
    assert (
        "share of class 'a' among the rows: 0.25 became 0.75, +1.4 standard errors"
        in str(found).splitlines()
    )


def test_what_was_chosen_is_told(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    model = GDA("auto").fit(x + 3.0 * y[:, np.newaxis], y)
    account = describe(stored(model, tmp_path))
    pool = model.learned_.learner.chosen.pool
    shared = "all classes share one covariance"
    assert (shared in account.assumptions) == (pool == 1.0)
    assert account.assumptions[-1] == "which was chosen by leave-one-out"
    pooled = describe(stored(GDA("per-class", pool=0.25, shrink=0.5).fit(x, y), tmp_path))
    assert pooled.assumptions[1:] == (
        "each class has its own covariance",
        "pooled with that of all classes, by 0.25",
        "covariances between columns are shrunk, by 0.5",
    )


def test_counts_are_draws_and_complements_no_probabilities(tmp_path: Path) -> None:
    x, y = [[1, 0], [2, 1], [0, 3], [0, 1]], list("aabb")
    many = describe(stored(suffice.MultinomialNaiveBayes().fit(x, y), tmp_path))
    other = describe(stored(suffice.ComplementNaiveBayes().fit(x, y), tmp_path))
    assert many.assumptions == (
        "the counts of a row are draws, one by one, with the shares of its class",
    )
    assert "scores are not probabilities" in other.assumptions[-1]
    assert [c.prior for c in other.classes] == [None, None]


def test_weights_that_are_no_whole_numbers_are_called_weights(tmp_path: Path) -> None:
    model = GDA().fit([[1.0], [2.0], [5.0], [7.0]], list("aabb"), [1.0, 0.5, 0.5, 0.5])
    lines = str(describe(stored(model, tmp_path))).splitlines()
    assert lines[0] == "GaussianDiscriminant, learned from rows of weight 2.5"
    assert "  a: rows of weight 1.5, prior 0.6" in lines
    assert "  b: 1 row, prior 0.4" in lines


# Normal laws


def test_a_law_has_an_account(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [1.0, 2.0, 3.0], "twice": [2.0, 4.0, 6.0]})
    account = describe(stored_law(suffice.MultivariateNormal.fit(frame), tmp_path))
    assert account.rows == 3.0
    assert account.classes == ()
    assert account.assumptions == ("rows are normal", "they vary in 1 of 2 directions")
    assert str(account).splitlines() == [
        "MultivariateNormal, learned from 3 rows", "", "2 columns", "  age: number",
        "  twice: number", "", "It assumes that", "  rows are normal",
        "  they vary in 1 of 2 directions", "",
        "It has no statistics: it can predict, but not learn.",
    ]  # fmt: skip
    json.dumps(account.to_dict(), allow_nan=False)
    given = describe(stored_law(suffice.MultivariateNormal([0.0], [[1.0]]), tmp_path))
    assert given.rows is None


def test_the_mean_of_a_law_moves(tmp_path: Path) -> None:
    law = suffice.MultivariateNormal
    first = stored_law(law.fit([[1.0], [2.0], [3.0]]), tmp_path)
    second = stored_law(law.fit([[4.0], [6.0], [8.0], [6.0]], divisor="unbiased"), tmp_path)
    # Variances 1 of three rows and 8/3 of four, whatever divisor the laws have: √(1/3 + 2/3).
    (move,) = differences(first, second).moves
    assert (move.before, move.after) == (2.0, 6.0)
    assert move.errors == pytest.approx(4.0)
    assert str(move) == "mean of x0: 2 became 6, +4.0 standard errors"
    # A law that was given is exact.
    given = stored_law(law([0.0], [[1.0]]), tmp_path)
    (move,) = differences(given, first).moves
    assert move.errors == pytest.approx(2.0 / sqrt(1.0 / 3.0))
    (move,) = differences(given, stored_law(law([1.0], [[1.0]]), tmp_path)).moves
    assert move.errors is None
    with pytest.raises(DifferentKinds):
        differences(first, stored(GDA().fit([[1.0], [2.0], [3.0], [5.0]], list("aabb")), tmp_path))


def stored_law(law: Any, folder: Path) -> StoredModel:
    law.save(folder / "law")
    return read_model(folder / "law")
