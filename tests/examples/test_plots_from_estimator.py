"""Pictures drawn from a fitted classifier are those drawn from what it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import LinearSVC

from suffice import GaussianDiscriminant, LogisticRegression, NaiveBayes, Perceptron, plots
from suffice.errors import BadSetting, SufficeError

if TYPE_CHECKING:
    from collections.abc import Callable

Figure = pytest.importorskip("matplotlib.figure").Figure

MODELS: dict[str, Callable[[], Any]] = {
    "GDA": lambda: GaussianDiscriminant("per-class"),
    "naive Bayes": NaiveBayes,
    "logistic": lambda: LogisticRegression(penalty=1.0),
    "forest": lambda: RandomForestClassifier(10, random_state=0),
}
WITHOUT_PROBABILITIES: dict[str, Callable[[], Any]] = {
    "perceptron": lambda: Perceptron(random_state=0),
    "svm": LinearSVC,
}
FROM_SCORES = [
    (plots.draw_roc_from_estimator, plots.draw_roc),
    (plots.draw_precision_recall_from_estimator, plots.draw_precision_recall),
]


def rows(classes: int) -> tuple[Any, Any]:
    random = np.random.default_rng(classes)
    codes = np.arange(90) % classes
    return random.normal(codes[:, None], 1.0, (90, 2)), np.array(["ham", "spam", "news"])[codes]


def axes() -> Any:
    return Figure().add_subplot()


def lines(ax: Any) -> list[Any]:
    return [line.get_xydata().tolist() for line in ax.get_lines()]


def words(ax: Any) -> list[str]:
    legend = ax.get_legend()
    said = [] if legend is None else [text.get_text() for text in legend.get_texts()]
    return [*said, ax.get_xlabel(), ax.get_ylabel(), *(text.get_text() for text in ax.texts)]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_what_is_drawn_from_a_model_is_what_is_drawn_from_its_answers(
    name: str, classes: int
) -> None:
    X, y = rows(classes)
    model = MODELS[name]().fit(X, y)
    known, p = model.classes_.tolist(), model.predict_proba(X)
    pairs = [
        (
            plots.draw_confusion_from_estimator(axes(), model, X, y),
            plots.draw_confusion(axes(), y, model.predict(X)),
        ),
        (
            plots.draw_reliability_from_estimator(axes(), model, X, y, bins=5),
            plots.draw_reliability(axes(), y, p, classes=known, bins=5),
        ),
        *((draw(axes(), model, X, y), plain(axes(), y, p, classes=known))
          for draw, plain in FROM_SCORES),
        *((draw(axes(), model, X, y, positive="ham"), plain(axes(), y, p[:, known.index("ham")],
           positive="ham", classes=known)) for draw, plain in FROM_SCORES),
    ]  # fmt: skip
    for ours, theirs in pairs:
        assert lines(ours) == lines(theirs)
        assert words(ours) == words(theirs)


@pytest.mark.parametrize("positive", ["ham", "spam"])
@pytest.mark.parametrize("name", WITHOUT_PROBABILITIES)
def test_models_without_probabilities_are_ranked_by_their_scores(name: str, positive: str) -> None:
    X, y = rows(2)
    model = WITHOUT_PROBABILITIES[name]().fit(X, y)
    sign = 1.0 if model.classes_[1] == positive else -1.0
    for draw, plain in FROM_SCORES:
        ours = draw(axes(), model, X, y, positive=positive)
        theirs = plain(axes(), y, sign * model.decision_function(X), positive=positive)
        assert lines(ours) == lines(theirs)
    with pytest.raises(BadSetting, match="has no predict_proba"):
        plots.draw_reliability_from_estimator(axes(), model, X, y)


def test_several_models_have_a_curve_each() -> None:
    X, y = rows(2)
    models = {name: make().fit(X, y) for name, make in MODELS.items()}
    for draw, _ in FROM_SCORES:
        ax = draw(axes(), models, X, y)
        assert [text.partition(":")[0] for text in words(ax)[: len(models)]] == list(models)
        for model in models.values():
            assert all(line in lines(ax) for line in lines(draw(axes(), model, X, y)))


def test_classes_that_new_rows_lack_stay_in_their_place() -> None:
    X, y = rows(3)
    model = GaussianDiscriminant("shared").fit(X, y)
    some = y != "news"
    ax = plots.draw_reliability_from_estimator(axes(), model, X[some], y[some], positive="spam")
    assert ax.get_xlabel() == "predicted probability of spam"
    ax = plots.draw_roc_from_estimator(axes(), model, X[some], y[some], positive="spam")
    assert len(ax.get_lines()) == 2


def test_what_cannot_be_drawn_is_refused() -> None:
    X, y = rows(3)
    model = GaussianDiscriminant("shared").fit(X, y)
    two = GaussianDiscriminant("shared").fit(*rows(2))
    for draw, _ in FROM_SCORES:
        with pytest.raises(BadSetting, match="no class 'eggs'"):
            draw(axes(), model, X, y, positive="eggs")
        with pytest.raises(BadSetting, match="no class 'eggs'"):
            draw(axes(), {"GDA": model}, X, y, positive="eggs")
        with pytest.raises(BadSetting, match="which class"):
            draw(axes(), {"GDA": model}, X, y)
        with pytest.raises(BadSetting, match="two has other classes than three"):
            draw(axes(), {"three": model, "two": two}, X, y, positive="ham")
        with pytest.raises(BadSetting, match="no models"):
            draw(axes(), {}, X, y)
        with pytest.raises(BadSetting, match=r"has no (classes_|decision_function)"):
            draw(axes(), "GDA", X, y)
    with pytest.raises(BadSetting, match="str has no predict"):
        plots.draw_confusion_from_estimator(axes(), "GDA", X, y)
    with pytest.raises(SufficeError):
        plots.draw_confusion_from_estimator(axes(), model, X, y[:-1])
