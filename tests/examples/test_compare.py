"""`compare`: the same folds for all, figures that scikit-learn confirms, words that hold back."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import suffice
from suffice import GaussianDiscriminant, LogisticRegression, NaiveBayes, compare
from suffice.columns.filled import FilledColumns
from suffice.errors import BadLabels, BadSetting, NotFinite, SufficeError
from suffice.evaluation import Comparison, LabelledRows, LearningCurves, crossing, merged_folds
from suffice.evaluation import work_limits as budgets
from suffice.evaluation.candidates import usual_candidates
from suffice.evaluation.recommendation import difference, recommend
from suffice.evaluation.work_limits import CurvePlan, Extent, affordable, affordable_folds
from tests.reference.data_sets import load
from tests.searches import quick

if TYPE_CHECKING:
    from pathlib import Path

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def iris() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True)
    return X, y


@pytest.fixture(scope="module")
def found(iris: tuple[Any, Any]) -> Comparison:
    return compare(*iris, models="single", folds=5)


@pytest.mark.slow
def test_figures_are_those_of_cross_validate_on_the_same_splits(iris: tuple[Any, Any]) -> None:
    X, y = iris
    models = {
        "shared": GaussianDiscriminant(),
        "per class": GaussianDiscriminant("per-class"),
        "auto": GaussianDiscriminant("auto"),
        "naive": NaiveBayes(),
        "logistic": LogisticRegression(1.0),
        "peer": make_pipeline(StandardScaler(), PeerLogistic()),
    }
    ours = compare(X, y, models=list(models.items()), folds=10, random_state=3, curves=False)
    splits = StratifiedKFold(10, shuffle=True, random_state=3)
    for name, model in models.items():
        theirs = cross_validate(model, X, y, cv=splits, scoring=("accuracy", "neg_log_loss"))
        scores = ours.scores[name]
        np.testing.assert_allclose(scores.accuracy, theirs["test_accuracy"], atol=1e-8)
        np.testing.assert_allclose(scores.log_loss, -theirs["test_neg_log_loss"], atol=1e-8)


PAIRS = {
    # Other solvers, and QDA, have changed their divisor from one release to the next.
    "lda": (GaussianDiscriminant(), LinearDiscriminantAnalysis(solver="lsqr")),
    "naive Bayes": (NaiveBayes("gaussian"), GaussianNB(var_smoothing=0.0)),
    "logistic": (
        LogisticRegression(1.0),
        make_pipeline(StandardScaler(), PeerLogistic(tol=1e-12, solver="newton-cg", max_iter=1000)),
    ),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_a_peer_of_the_same_model_gets_the_same_figures(iris: tuple[Any, Any], pair: str) -> None:
    ours, theirs = PAIRS[pair]
    both = [("ours", ours), ("theirs", theirs)]
    found = compare(*iris, models=both, folds=5, curves=False).scores
    for one in ("accuracy", "log_loss", "brier"):
        a, b = getattr(found["ours"], one), getattr(found["theirs"], one)
        np.testing.assert_allclose(a, b, rtol=0.0, atol=1e-8)
    splits = StratifiedKFold(5, shuffle=True, random_state=0)
    by_hand = cross_validate(theirs, *iris, cv=splits, scoring="neg_log_loss")["test_score"]
    np.testing.assert_allclose(found["ours"].log_loss, -by_hand, rtol=0.0, atol=1e-8)


def test_a_row_that_was_ruled_out_costs_what_it_costs_in_scikit_learn() -> None:
    rng = np.random.default_rng(4)
    X = np.concatenate([rng.normal(size=(40, 2)), [[1e3, 1e3], [-1e3, -1e3]]])
    y = np.append(X[:40, 0] + X[:40, 1] > 0.0, [False, True]).astype(int)
    model = GaussianDiscriminant("diagonal", shrink=None)
    found = compare(X, y, models=[("one", model)], folds=6, curves=False).scores["one"]
    splits = StratifiedKFold(6, shuffle=True, random_state=0)
    by_hand = cross_validate(model, X, y, cv=splits, scoring="neg_log_loss")["test_score"]
    assert -by_hand.min() > 1.0
    np.testing.assert_allclose(found.log_loss, -by_hand, rtol=0.0, atol=1e-8)


def test_both_schools_are_compared_and_one_is_recommended(found: Comparison) -> None:
    assert len(found.candidates) == 7
    assert {one.school for one in found.candidates} == {"generative", "discriminative"}
    frame = found.to_frame()
    assert frame["log_loss"].is_monotonic_increasing
    assert found.best == frame["model"][0]
    said = found.recommendation
    assert said.model in set(frame["model"])
    assert said.advice.startswith(f"Use {said.model}, of the {said.school} school")
    text = str(found)
    assert "hold for this data only" in text
    assert "±" in text
    assert "softmax" in text
    assert max(map(len, text.splitlines())) <= 100
    assert repr(found).startswith("Comparison(150 rows, 3 classes, 7 candidates")


def test_the_least_log_loss_is_taken_everywhere(found: Comparison) -> None:
    losses = {n: s.log_loss.mean() for n, s in found.scores.items() if s.log_loss is not None}
    least = min(losses, key=lambda name: losses[name])
    assert found.best == found.recommendation.model == found.recommendation.best == least
    assert repr(found.estimator()) == repr(found.candidate(least).estimator)


def test_a_difference_within_noise_is_called_noise(found: Comparison) -> None:
    asked = [one for one in found.candidates if one.key in ("gda", "logistic")]
    rng = np.random.default_rng(0)
    even = {asked[0].name: 0.3 + 0.1 * rng.random(10), asked[1].name: 0.299 + 0.1 * rng.random(10)}
    even[asked[1].name] -= even[asked[1].name].mean() - even[asked[0].name].mean() + 0.001
    said = recommend(asked, even, found.diagnostics, ())
    assert said.model == asked[1].name  # by a hair
    assert "is simpler, and its log-loss is higher by 0.001" in said.reasons[0]
    assert "within one standard error" in said.reasons[0]
    same = dict.fromkeys(even, even[asked[0].name])
    assert recommend(asked, same, found.diagnostics, ()).model == asked[0].name  # the simpler one
    clear = {asked[0].name: even[asked[0].name] + 0.5, asked[1].name: even[asked[0].name]}
    said = recommend(asked, clear, found.diagnostics, ())
    assert said.model == asked[1].name
    assert "has a clearly higher log-loss: by 0.500" in " ".join(said.reasons)


def test_the_standard_error_of_a_difference_counts_that_folds_share_rows() -> None:
    gaps = np.array([0.1, 0.2, 0.3, 0.4])
    found = difference(np.zeros(4), gaps, 1.0 / 3.0)
    assert found.mean == pytest.approx(0.25)
    assert found.standard_error == pytest.approx(np.sqrt(gaps.var(ddof=1) * (1 / 4 + 1 / 3)))


def test_curves_have_bands_and_crossings_have_bands(found: Comparison) -> None:
    assert isinstance(found.curves, LearningCurves)
    assert len(found.crossings) == 2
    mean, low, high = found.curves.band("softmax")
    assert ((low <= mean) & (mean <= high)).all()
    for one in found.crossings:
        assert one.second == "softmax"
        assert "95 % band" in str(one)


def test_a_crossing_is_the_first_size_from_which_a_curve_stays_below() -> None:
    sizes = np.array([10, 20, 40, 80])
    first = np.tile(np.array([0.3, 0.3, 0.3, 0.3])[:, np.newaxis], 6)
    second = np.tile(np.array([0.25, 0.4, 0.3, 0.2])[:, np.newaxis], 6)
    curves = LearningCurves(("a", "b"), sizes, np.stack([first, second]), np.stack([first, second]))
    there = crossing(curves, "a", "b")
    assert (there.size, there.low, there.high, there.never) == (40, 40, 40, 0.0)
    assert str(there).startswith("B has no higher error than a from about 40 rows on")
    back = crossing(curves, "b", "a")
    assert (back.size, back.low, back.high, back.never) == (None, None, None, 1.0)
    assert str(back).startswith("With 80 rows a still has a higher error than b")
    assert "more than 80 rows" in str(back)


def test_a_crossing_that_splits_disagree_about_has_a_wide_band() -> None:
    rng = np.random.default_rng(1)
    sizes = np.array([10, 20, 40, 80])
    errors = 0.3 + 0.1 * rng.standard_normal((2, 4, 10))
    errors[1, 2, 5:] = np.nan  # fewer splits at one size
    errors[0, 2, 5:] = np.nan
    errors[1, 0, 2] = np.nan  # and one split in which b has failed
    found = crossing(LearningCurves(("a", "b"), sizes, errors, errors), "a", "b")
    assert found.low != found.high
    errors[1, 3] = np.nan
    shorter = crossing(LearningCurves(("a", "b"), sizes, errors, errors), "a", "b")
    assert (shorter.smallest, shorter.largest) == (10, 40)
    errors[1] = np.nan
    with pytest.raises(BadSetting, match="no split has errors of both"):
        crossing(LearningCurves(("a", "b"), sizes, errors, errors), "a", "b")


def test_estimators_of_others_are_compared_beside_ours(iris: tuple[Any, Any]) -> None:
    X, y = (some[::3] for some in iris)
    tree = DecisionTreeClassifier(random_state=0)
    result = compare(X, y, models={"tree": tree, "ridge": RidgeClassifier()}, folds=3, curves=False)
    assert len(result.candidates) == 10
    assert result.candidate("pool").name in result.scores
    frame = result.to_frame().set_index("model")
    assert np.isfinite(frame.loc["tree", "log_loss"])
    assert np.isnan(frame.loc["ridge", "log_loss"])  # it gives no probabilities
    assert frame.loc["ridge", "accuracy"] > 0.7
    assert result.recommendation.model != "ridge"
    assert any(note.startswith("ridge: no predict_proba") for note in result.notes)
    with pytest.raises(BadSetting, match="give no probabilities"):
        compare(X, y, models=[("ridge", RidgeClassifier())], folds=3)


def test_names_choose_among_the_usual_ones(iris: tuple[Any, Any]) -> None:
    result = compare(*iris, models=["gda", "GDA (per class)"], folds=3, curves=False)
    assert [one.key for one in result.candidates] == ["gda", "qda"]
    assert isinstance(result.estimator("qda"), GaussianDiscriminant)
    with pytest.raises(BadSetting, match="no candidate 'lde'"):
        compare(*iris, models=["lde"])
    with pytest.raises(BadSetting, match="cannot fit and predict"):
        compare(*iris, models={"odd": 3})
    with pytest.raises(BadSetting, match="more than one model is called"):
        compare(*iris, models=["gda", "gda"])


def test_reliability_is_asked_of_any_candidate(found: Comparison) -> None:
    one = found.reliability("gda")
    assert one.rows.sum() == pytest.approx(150.0)
    assert ((one.low <= one.observed) & (one.observed <= one.high)).all()
    with pytest.raises(BadSetting, match="no class 'setosa'"):
        found.reliability("gda", of="setosa")


class Fragile(DecisionTreeClassifier):
    """Fails on training sets of some sizes."""

    def __init__(self, least: int = 0, most: int = 10**9, error: Any = RuntimeError) -> None:
        super().__init__(random_state=0)
        self.least, self.most, self.error = least, most, error

    def fit(self, X: Any, y: Any, **_: Any) -> Any:
        if not self.least <= len(X) <= self.most:
            raise self.error("out of order")
        return super().fit(X, y)


def test_a_candidate_that_fails_in_one_fold_is_said_to_and_the_others_go_on(
    iris: tuple[Any, Any],
) -> None:
    X, y = iris[0][:149], iris[1][:149]  # folds of 49, 50 and 50 rows
    models = [("tree", DecisionTreeClassifier(random_state=0)), ("broken", Fragile(most=99))]
    result = compare(X, y, models=models, folds=3, curves=False)
    assert "broken could not be evaluated: RuntimeError: out of order." in result.notes
    assert result.best == "tree"
    assert result.to_frame()["model"].tolist() == ["tree", "broken"]


def test_a_candidate_that_fails_on_few_rows_has_no_curve_and_the_others_have(
    iris: tuple[Any, Any],
) -> None:
    models = [("tree", DecisionTreeClassifier(random_state=0)), ("needy", Fragile(least=25))]
    result = compare(*iris, models=models, folds=3)
    assert result.curves is not None
    assert result.curves.names == ("tree",)
    told = " ".join(result.notes)
    assert "needy has no learning curve. needy, trained on 6 rows, could not be evaluated" in told
    assert "RuntimeError: out of order" in told
    assert np.isfinite(result.scores["needy"].accuracy).all()
    nobody = compare(*iris, models=models[1:], folds=3)
    assert nobody.curves is None
    assert any(note.startswith("There are no learning curves") for note in nobody.notes)


def test_where_no_candidate_can_be_judged_the_first_failure_is_the_refusal(
    iris: tuple[Any, Any],
) -> None:
    with pytest.raises(BadSetting, match="no model could be judged; broken: RuntimeError"):
        compare(*iris, models=[("broken", Fragile(most=0))], folds=3)


def test_an_interruption_is_no_failure_of_a_candidate(iris: tuple[Any, Any]) -> None:
    stopped = Fragile(most=0, error=KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        compare(*iris, models=[("gda", GaussianDiscriminant()), ("stopped", stopped)], folds=3)


def test_probabilities_that_are_no_numbers_are_a_failure(iris: tuple[Any, Any]) -> None:
    class Undecided(DecisionTreeClassifier):
        def predict_proba(self, X: Any) -> Any:
            return np.full((len(X), 3), np.nan)

    models = [("undecided", Undecided()), ("gda", GaussianDiscriminant())]
    result = compare(*iris, models=models, folds=3, curves=False)
    assert "undecided could not be evaluated: Undecided gives probabilities" in " ".join(
        result.notes
    )


@pytest.mark.slow
def test_a_frame_with_text_and_blanks_needs_nothing(shared: Path) -> None:
    table = load("credit_a").taken(200)
    asked = ["gda", "naive-bayes-shared", "naive-bayes", "logistic", "logistic-penalty"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what was warned of is told, not shown
        result = compare(table.X, table.y, models=asked, folds=4)
    assert np.isfinite(result.to_frame()["log_loss"]).all()
    assert "filled with the mean of their column" in " ".join(result.notes)
    tree = {"tree": DecisionTreeClassifier(max_depth=2)}
    coded = compare(table.X, table.y, models=list(tree.items()), folds=4, curves=False)
    assert coded.scores["tree"].accuracy.mean() > 0.7


def test_weights_are_repetitions(iris: tuple[Any, Any]) -> None:
    X, y = iris
    weights = np.ones(150)
    weights[::7] = 0.0
    asked = ["gda", "naive-bayes", "logistic"]
    a = compare(X, y, models=asked, folds=3, curves=False, sample_weight=weights)
    kept = weights > 0.0
    b = compare(X[kept], y[kept], models=asked, folds=3, curves=False)
    for name in a.scores:
        np.testing.assert_allclose(a.scores[name].log_loss, b.scores[name].log_loss, atol=1e-8)
    peer = [("p", make_pipeline(StandardScaler(), PeerLogistic()))]
    with pytest.raises(BadSetting, match="takes no weights"):
        compare(X, y, models=peer, folds=3, curves=False, sample_weight=1.0 + weights)


def test_text_labels_and_hostile_names_come_out_inert(iris: tuple[Any, Any]) -> None:
    X, y = iris
    labels = np.array(["<script>alert(1)</script>", "=cmd()", "b"], dtype=object)[y]
    result = compare(X, labels, models=["gda", "logistic"], folds=3, curves=False)
    html = result._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "<table" in html


def test_what_cannot_be_compared_is_refused(iris: tuple[Any, Any]) -> None:
    X, y = iris
    with pytest.raises(BadLabels, match="only one class"):
        compare(X[:50], y[:50])
    with pytest.raises(BadSetting, match="5 rows cannot be cut into 10 folds"):
        compare(X[48:53], y[48:53], folds=10)
    with pytest.raises(BadSetting, match="is not a seed"):
        compare(X, y, random_state=None)  # type: ignore[arg-type]
    broken = X.copy()
    broken[3, 1] = np.inf
    with pytest.raises(NotFinite, match="row 3"):
        compare(broken, y, folds=3, models=["gda", "naive-bayes"])


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([None, *"abababa"], "no label"),
        ([np.nan, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0], "NaN"),
        (["a", 1] * 4, "mixed types"),
        (np.linspace(0.1, 0.9, 8), "continuous"),
        (["a", "b"] * 3, "inconsistent numbers"),
    ],
)
def test_labels_that_name_no_classes_are_refused(labels: Any, words: str) -> None:
    with pytest.raises(SufficeError, match=words):
        compare(np.arange(16.0).reshape(8, 2), labels, folds=2)


def test_a_class_of_one_row_is_compared_and_worried_about(iris: tuple[Any, Any]) -> None:
    X, y = iris
    result = compare(X[:101], y[:101], models=["gda", "naive-bayes", "logistic"], folds=4)
    assert "Small classes" in str(result.recommendation)
    assert np.isfinite(result.to_frame()["log_loss"]).all()


def hostile(kind: str) -> tuple[Any, Any, dict[str, Any]]:
    """Return rows, labels and settings that are legal and unkind."""
    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    words = pandas.DataFrame({"a": rng.choice(list("xyz"), 40), "b": rng.choice(list("uv"), 40)})
    blanks = np.where(rng.random((40, 3)) < 0.3, np.nan, X)
    rare = np.where(np.arange(40) == 7, 2, y)
    found: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "a class of one row": (X, rare, {}),
        "two rows": (X[:2], y[:2], {"folds": 2}),
        "every row a class": (X[:6], np.arange(6), {"folds": 2}),
        "no column varies": (np.ones((40, 3)), y, {}),
        "a column is the answer": (np.column_stack([X, y]), y, {}),
        "text alone": (words, y, {}),
        "an identifier": (words.assign(id=[f"r{i}" for i in range(40)]), y, {}),
        "blanks everywhere": (blanks, y, {}),
        "a column without a cell": (np.column_stack([X, np.full(40, np.nan)]), y, {}),
        "rows that are repeated": (np.repeat(X[:4], 10, axis=0), y, {}),
        "columns that are repeated": (np.column_stack([X, X]), y, {}),
        "classes far apart": (X + 100.0 * y[:, np.newaxis], y, {}),
        "huge units": (X * 1e140, y, {}),
        "a cell far out": (np.where(np.arange(120).reshape(40, 3) == 5, 1e100, X), y, {}),
        "labels that are tuples": (X, [((1, 2), (3, 4))[c] for c in y], {}),
        "truths": (X > 0.0, y.astype(bool), {}),
        "weights": (X, y, {"sample_weight": rng.integers(0, 3, 40)}),
        "small weights": (X, y, {"sample_weight": np.full(40, 1e-9)}),
        "as many folds as rows": (X[:12], y[:12], {"folds": 12}),
    }
    return found[kind]


HOSTILE = (
    "a class of one row", "two rows", "every row a class", "no column varies",
    "a column is the answer", "text alone", "an identifier", "blanks everywhere",
    "a column without a cell", "rows that are repeated", "columns that are repeated",
    "classes far apart", "huge units", "a cell far out", "labels that are tuples", "truths",
    "weights", "small weights", "as many folds as rows",
)  # fmt: skip


@pytest.mark.parametrize("kind", quick(HOSTILE, *list(HOSTILE)[::5]))
def test_unkind_rows_get_an_answer_without_nan_and_without_a_warning(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets, "SPLITS", budgets.FEWEST_SPLITS)  # as good, and quicker
    X, y, settings = hostile(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = compare(X, y, models=QUICK, **{"folds": 4, **settings})
    assert "could not be evaluated" not in " ".join(result.notes)
    for one in result.scores.values():
        assert one.log_loss is not None
        assert np.isfinite(one.log_loss).all()
        assert np.isfinite(one.cells()[:-1]).all()
    words = str(result).lower().replace(",", " ").split()
    assert "nan" not in words
    assert "inf" not in words
    assert result.recommendation.model in result.scores


QUICK = ["naive-bayes-shared", "gda", "naive-bayes", "logistic", "qda"]


def test_a_polars_frame_is_compared_as_a_pandas_frame_is() -> None:
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(3)
    frame = pandas.DataFrame({"a": rng.normal(size=40), "b": rng.choice(list("uv"), 40)})
    frame.loc[3, "a"] = np.nan
    y = np.array(["no", "yes"])[(np.arange(40) * 7) % 3 % 2]
    other = polars.DataFrame({"a": [None if i == 3 else v for i, v in enumerate(frame["a"])],
                              "b": frame["b"].tolist()})  # fmt: skip
    a = compare(frame, pandas.Series(y), models=QUICK, folds=3, curves=False)
    b = compare(other, polars.Series(y.tolist()), models=QUICK, folds=3, curves=False)
    for name, one in a.scores.items():
        np.testing.assert_allclose(one.log_loss, b.scores[name].log_loss, atol=1e-9)


def test_a_model_that_knows_nothing_is_said_to_gain_nothing() -> None:
    rng = np.random.default_rng(0)
    result = compare(rng.normal(size=(120, 3)), rng.random(120) < 0.2, folds=4)
    assert any("no clear gain" in worry for worry in result.recommendation.worries)


def test_numbers_are_normal_with_one_variance_and_words_are_categories() -> None:
    frame = pandas.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": list("xyxy"), "c": [True, False] * 2})
    rows = LabelledRows.read(frame, [0, 0, 1, 1])
    shared = next(one for one in usual_candidates(rows) if one.key == "naive-bayes-shared")
    families = shared.estimator.families
    assert families == {0: "shared-gaussian", 1: "categorical", 2: "bernoulli"}


# What is left out of a large comparison


def test_a_moderate_table_is_compared_whole() -> None:
    rows = LabelledRows.read(*load_iris(return_X_y=True))
    extent = Extent.of(rows)
    assert extent == Extent(150, 3, 4)
    usual = usual_candidates(rows)
    assert affordable(usual, extent) == (usual, [])
    assert affordable_folds(usual, extent) == (10, [])
    plan = CurvePlan.of([one for one in usual if one.curve], extent)
    assert (plan.splits, plan.notes) == (15, ())


def test_what_would_take_minutes_is_left_out_and_a_note_says_how_to_have_it() -> None:
    usual = usual_candidates(LabelledRows.read(*load_iris(return_X_y=True)))
    kept, notes = affordable(usual, Extent(5000, 10, 800))
    assert "gda-auto" not in [one.key for one in kept]
    assert "naive-bayes" in [one.key for one in kept]
    (note,) = notes
    assert "left out" in note
    assert "800 columns" in note
    assert "gda-auto" in note


def test_folds_splits_and_sizes_become_fewer_before_curves_go() -> None:
    usual = usual_candidates(LabelledRows.read(*load_iris(return_X_y=True)))
    drawn = [one for one in usual if one.curve]
    blank = Extent(400, 2, 80, patterns=40, blank=0.8)
    folds, notes = affordable_folds(usual, blank)
    assert folds < 10
    assert "10 would take long" in " ".join(notes)
    some = CurvePlan.of(drawn, Extent(5000, 5, 60))
    assert 5 <= some.splits < 15
    assert len(some.drawn) == 3
    assert f"{some.splits} splits" in some.notes[0]
    few = CurvePlan.of(drawn, blank)
    assert few.splits == 5
    assert len(few.sizes) <= 4
    assert "GDA (shared covariance)" in few.notes[-1]


def test_fewer_rows_than_folds_are_left_out_one_by_one(iris: tuple[Any, Any]) -> None:
    X, y = iris
    result = compare(X[47:53], y[47:53], models=["gda"], curves=False)
    assert np.bincount(result.folds).tolist() == [1] * 6
    assert "There are 6 folds: there are no more rows." in result.notes


def test_auto_chooses_once_where_choosing_is_dear_and_that_is_said(
    iris: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {"models": ["gda-auto"], "folds": 5, "curves": False}
    assert "chosen once" not in " ".join(compare(*iris, **asked).notes)
    monkeypatch.setattr(merged_folds, "CHOICE_BUDGET", 0.0)
    assert "chosen once, on the rows outside the first fold" in str(compare(*iris, **asked).notes)
    monkeypatch.setattr(merged_folds, "CHOICE_WORK", 0.0)
    monkeypatch.setattr(merged_folds, "FEWEST", 30)
    monkeypatch.setattr(merged_folds, "FEWEST_OF_CLASS", 10)
    told = " ".join(compare(*iris, **asked).notes)
    assert re.search(r"chosen once, on \d\d of the 120 rows outside the first fold", told)
    words = pandas.DataFrame({"a": list("xyzw") * 10, "b": np.arange(40.0)})
    told = " ".join(compare(words, np.arange(40) % 3 % 2, **asked).notes)
    assert "chosen once" in told  # columns of zeros and ones are judged by refits


def test_many_columns_are_not_tested_for_normality_and_that_is_said() -> None:
    X = np.random.default_rng(1).normal(size=(40, 301))
    result = compare(X, np.arange(40) % 2, models=["naive-bayes"], folds=2, curves=False)
    assert "Normality is not tested" in str(result.diagnostics)
    assert result.recommendation.assumptions == ()


def test_the_number_of_blank_patterns_and_of_levels_is_counted() -> None:
    frame = pandas.DataFrame({"a": [1.0, None, 3.0, None], "b": [None, 1.0, 2.0, 3.0],
                              "c": list("xyzx")})  # fmt: skip
    extent = Extent.of(LabelledRows.read(frame, [0, 1, 0, 1]))
    assert extent == Extent(4, 2, 5, patterns=3, blank=0.5)


# Blank numbers


def test_blanks_are_filled_by_the_means_of_the_rows_it_was_made_of() -> None:
    known = pandas.DataFrame(
        {"a": [1.0, None, 3.0], "b": ["x", None, "y"], "c": [True, None, True]}
    )
    filled = FilledColumns.of(known)
    assert filled.names == ("a", "c")
    new = pandas.DataFrame({"a": [None, 7.0], "b": ["x", "z"], "c": [False, None]}, index=[9, 4])
    done = filled.transform(new)
    assert list(done.columns) == ["a", "b", "c", "a=blank", "c=blank"]
    assert done["a"].tolist() == [2.0, 7.0]
    assert done["c"].tolist() == [0.0, 1.0]
    assert done["a=blank"].tolist() == [1.0, 0.0]
    assert done.index.tolist() == [9, 4]
    assert FilledColumns.from_dict(filled.to_dict()) == filled


def test_a_column_blank_only_later_keeps_to_its_mean_without_an_indicator() -> None:
    filled = FilledColumns.of(np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert filled.note == ""
    np.testing.assert_array_equal(filled.transform(np.array([[np.nan, 5.0]])), [[2.0, 5.0]])
    truth = FilledColumns.of(pandas.DataFrame({"t": [True, False]}))
    assert truth.transform(pandas.DataFrame({"t": [None, True]}))["t"].tolist() == [0.5, 1.0]


def test_a_column_without_any_cell_is_filled_with_zeros() -> None:
    rows = np.array([[np.nan, 1.0], [np.nan, 2.0]])
    done = FilledColumns.of(rows).transform(rows)
    np.testing.assert_array_equal(done, [[0.0, 1.0, 1.0], [0.0, 2.0, 1.0]])


def test_names_of_indicators_do_not_collide() -> None:
    frame = pandas.DataFrame({"a": [1.0, None], "a=blank": [0.0, 5.0]})
    done = FilledColumns.of(frame).transform(frame)
    assert list(done.columns) == ["a", "a=blank", "a=blank?"]


def test_a_damaged_record_of_means_is_refused() -> None:
    with pytest.raises(BadSetting, match="no means can be read"):
        FilledColumns.from_dict({"columns": {"columns": []}, "means": [1.0], "blank": [True]})


def test_compare_is_a_public_name() -> None:
    assert suffice.compare is compare
