"""The parts called by themselves: families, statistics, comparisons, sources, pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice import GaussianDiscriminant, LogisticRegression, NaiveBayes, bridge, collect, compare
from suffice import plots as pictures
from suffice.evaluation import stratified_folds
from suffice.families import (
    Bernoulli,
    Binned,
    Categorical,
    Common,
    Gaussian,
    GaussianColumns,
    LogNormal,
    Normal,
)
from suffice.models import GaussianLearner, shrinkage_path
from suffice.sources import open_source, sql_source
from suffice.statistics import leave_one_out, total
from suffice.text import TfIdf, Tokens, count_terms, hash_terms, read_documents
from tests.reference.refused_rows import FRAME, X, Y, fitted

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reference.refusals import Cases


def families() -> Cases:
    """Return settings and laws that families refuse."""
    for value in (np.nan, np.inf, "0", True):
        yield f"Bernoulli({value!r})", lambda value=value: Bernoulli(value)
    for bins in (0, -1, 2.5, "ten", True):
        yield f"Binned({bins!r})", lambda bins=bins: Binned(bins)  # type: ignore[arg-type]
    for edges in ((), (1.0, 1.0), (2.0, 1.0), (0.0, np.nan), (0.0, np.inf)):
        yield f"Binned(edges={edges!r})", lambda edges=edges: Binned(edges=edges)
    for kind in (GaussianColumns, LogNormal):
        yield f"{kind.__name__} of a variance", lambda kind=kind: kind("equal")
    yield "Common of common", lambda: Common(Common(Categorical()))
    for settings in (
        {"covariance": "full"}, {"shrink": 2.0}, {"pool": 0.5}, {"divisor": "n"},
        {"shrink": 0.5, "shrink_target": "identity"},
    ):  # fmt: skip
        yield f"Gaussian {settings}", lambda settings=settings: Gaussian(**settings)  # type: ignore[arg-type]
    unit = Normal(np.zeros(2), np.eye(2))
    yield "Normal: not symmetric", lambda: Normal([0.0, 0.0], [[1.0, 0.5], [0.4, 1.0]])  # type: ignore[arg-type]
    yield "Normal: a mean of another width", lambda: Normal(np.zeros(3), np.eye(2))
    yield "Normal: no columns", lambda: unit.marginal([])
    yield "Normal: a column that is not there", lambda: unit.marginal([2])
    yield "Normal: a column twice", lambda: unit.marginal([0, 0])
    yield "Normal: everything given", lambda: unit.conditional({0: 0.0, 1: 0.0})
    yield "Normal: rows of another width", lambda: unit.log_density(np.zeros((2, 3)))


def statistics() -> Cases:
    """Return what statistics refuse to add up or to take away."""
    shared, apart = (fitted(f"GaussianDiscriminant {form}") for form in ("shared", "per-class"))
    some = GaussianDiscriminant().fit(FRAME[:8], Y[:8]).statistics_
    wide = GaussianDiscriminant().fit(X[:, :2], Y).statistics_
    naive = fitted("NaiveBayes poisson").statistics_
    yield "total of nothing", lambda: total([])
    yield "leave_one_out of one", lambda: leave_one_out([some])
    yield "leave_one_out of nothing", lambda: leave_one_out([])
    yield "less than nothing", lambda: some - shared.statistics_
    yield "another width", lambda: some + wide
    yield "other classes", lambda: some - GaussianDiscriminant().fit(X, Y == "yes").statistics_
    yield "naive Bayes: less than nothing", lambda: naive - (naive + naive)
    for share in (-1.0, np.nan, np.inf):
        yield f"scaled by {share}", lambda share=share: some.scaled(share)
        yield f"naive Bayes scaled by {share}", lambda share=share: naive.scaled(share)
        yield f"per-class scaled by {share}", lambda share=share: apart.statistics_.scaled(share)
    yield "shrinkage_path: beyond one", lambda: shrinkage_path(shared.statistics_, [0.0, 2.0])
    learner = GaussianLearner(Gaussian(), priors={"yes": 0.5, "maybe": 0.5})
    yield "estimate: priors of others", lambda: learner.estimate(shared.statistics_)


def terms() -> Cases:
    """Return what the parts of texts refuse."""
    yield "Tokens: the wrong way round", lambda: Tokens((2, 1))
    yield "TfIdf: a norm", lambda: TfIdf(norm="l3")
    yield "read_documents: a text", lambda: read_documents("abc")
    yield "count_terms: a number", lambda: count_terms([3])  # type: ignore[list-item]
    yield "hash_terms: no columns", lambda: hash_terms(["a"], size=0)


def comparisons() -> Cases:
    """Return what compare and bridge refuse."""
    for what, more in {
        "no candidate": {"models": ["lde"]}, "no estimator": {"models": {"odd": 3}},
        "one twice": {"models": ["gda", "gda"]}, "one fold": {"folds": 1},
        "half a fold": {"folds": 2.5}, "none at all": {"models": []},
        "weights": {"sample_weight": -np.ones(12)}, "target and labels": {"target": "red"},
        "a seed": {"random_state": "x", "models": ["gda"]},
    }.items():  # fmt: skip
        yield f"compare: {what}", lambda more=more: compare(FRAME, Y, **more)
    yield "compare: one class", lambda: compare(FRAME, ["a"] * 12)
    yield "compare: too few labels", lambda: compare(FRAME, Y[:11])
    yield "compare: no labels", lambda: compare(FRAME)
    yield "compare: infinite", lambda: compare(FRAME.assign(red=np.inf), Y)
    yield "compare: two rows", lambda: compare(FRAME[:2], Y[:2])
    yield "compare: a target nearly right", lambda: compare(FRAME.assign(y=Y), target="Y ")
    yield "stratified_folds: one", lambda: stratified_folds(np.zeros(4, int), 1)
    for what, more in {
        "a level": {"level": 2.0}, "draws": {"bootstrap": -1}, "a pair": {"pairs": [("yes", "x")]},
        "a seed": {"bootstrap": 2, "random_state": "x"}, "no pair": {"pairs": "yes"},
        "itself": {"pairs": [("yes", "yes")]},
    }.items():  # fmt: skip
        yield f"bridge: {what}", lambda more=more: bridge(FRAME, Y, **more)
    yield "bridge: one class", lambda: bridge(FRAME, ["a"] * 12)
    yield "bridge: a missing cell", lambda: bridge(FRAME.mask(FRAME == 5.0), Y)
    yield "bridge: too few labels", lambda: bridge(FRAME, Y[:11])
    yield "bridge: a negative weight", lambda: bridge(FRAME, Y, -np.ones(12))


def sources() -> Cases:
    """Return sources that are none, and what cannot be collected from them."""
    Path("t.csv").write_text(FRAME.assign(y=Y).to_csv(index=False), encoding="utf-8")
    Path("empty.csv").write_bytes(b"")
    Path("other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    Path("bad.csv").write_text("red,blue,size,y\n1,2,3,no\n1,inf,3,yes\n", encoding="utf-8")
    Path("folder").mkdir()
    for what, given in {
        "a number": 3, "nothing": None, "an empty list": [],
        "no match": "no-*.csv", "a folder": "folder", "an empty file": "empty.csv",
        "other columns": ["t.csv", "other.csv"], "an unknown scheme": "mysql://host/t",
        "a database without a table": "duckdb://no.db", "a frame": FRAME,
    }.items():  # fmt: skip
        yield f"open_source: {what}", lambda given=given: open_source(given)
    yield "sql_source: no connection", lambda: sql_source(3, "t")
    yield "collect: a model that is none", lambda: collect(3, "t.csv", "y")
    yield "collect: logistic regression", lambda: collect(LogisticRegression(), "t.csv", "y")
    for model in (GaussianDiscriminant(), NaiveBayes("poisson")):
        name = type(model).__name__
        yield (
            f"collect {name}: a target nearly right",
            lambda model=model: collect(model, "t.csv", "Y1"),
        )
        yield (
            f"collect {name}: a weight that is not there",
            lambda model=model: collect(model, "t.csv", "y", weight="w"),
        )
        yield f"collect {name}: infinite", lambda model=model: collect(model, "bad.csv", "y")
        yield f"fit {name}: no target", lambda model=model: model.fit("t.csv")
        yield (
            f"fit {name}: a target nearly right",
            lambda model=model: model.fit("t.csv", target="yy"),
        )
        yield (
            f"fit {name}: labels and a target",
            lambda model=model: model.fit("t.csv", Y, target="y"),
        )


def drawings() -> Cases:
    """Return what pictures refuse."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib.figure import Figure

    ax: Any = Figure().add_subplot()
    plane = GaussianDiscriminant().fit(X[:, :2], Y)
    unit = Normal(np.zeros(2), np.eye(2))
    draw = pictures
    yield "no axes", lambda: draw.draw_roc([0, 1], [0, 1], [0.2, 0.3])  # type: ignore[arg-type]
    yield "a flat surface", lambda: draw.draw_surface(ax, unit)
    yield (
        "contours of three columns",
        lambda: draw.draw_contours(ax, Normal(np.zeros(3), np.eye(3))),
    )
    yield "contours of a word", lambda: draw.draw_contours(ax, "normal")
    yield "no contour", lambda: draw.draw_contours(ax, unit, masses=())
    yield "no range", lambda: draw.draw_contours(ax, unit, limits=((1.0, -1.0), (0.0, 1.0)))
    yield "regions: three columns", lambda: draw.draw_regions(ax, plane, X, Y)
    yield (
        "regions: too few names",
        lambda: draw.draw_regions(ax, plane, X[:, :2], Y, classes=("a",)),
    )
    yield "regions: too few axes", lambda: draw.draw_regions(ax, plane, X[:, :2], Y, columns=("a",))
    yield "regions: no grid", lambda: draw.draw_regions(ax, plane, X[:, :2], Y, grid=1)
    yield "typicality: too few labels", lambda: draw.draw_typicality(ax, plane, X[:, :2], Y[1:])
    yield (
        "typicality of logistic regression",
        lambda: draw.draw_typicality(ax, LogisticRegression(), X[:, :2]),
    )
    yield "a column that is not there", lambda: draw.draw_column(ax, plane, "width")
    yield "a column beyond", lambda: draw.draw_column(ax, plane, 7)
    yield "a column without labels", lambda: draw.draw_column(ax, plane, 0, X[:, :2])
    yield "a column of logistic regression", lambda: draw.draw_column(ax, LogisticRegression(), 0)
    for name in ("roc", "precision_recall"):
        curve = getattr(draw, f"draw_{name}")
        yield f"{name}: one class", lambda curve=curve: curve(ax, ["a", "a"], [0.1, 0.2])
        yield f"{name}: no score", lambda curve=curve: curve(ax, ["a", "b"], [0.1, np.nan])
        yield f"{name}: too many", lambda curve=curve: curve(ax, ["a", "b"], [0.1, 0.2, 0.3])
        yield (
            f"{name}: not there",
            lambda curve=curve: curve(ax, ["a", "b"], [0.1, 0.2], positive="d"),
        )
        yield f"{name}: words", lambda curve=curve: curve(ax, ["a", "b"], ["high", "low"])
    yield "reliability: no probability", lambda: draw.draw_reliability(ax, [0, 1], [0.2, 1.2])
    yield "reliability: no bins", lambda: draw.draw_reliability(ax, [0, 1], [0.2, 0.3], bins=0)
    yield (
        "reliability: equal what",
        lambda: draw.draw_reliability(ax, [0, 1], [0.2, 0.3], equal="x"),
    )
    yield "confusion: too few", lambda: draw.draw_confusion(ax, ["a", "b"], ["a"])
    yield "confusion: not square", lambda: draw.draw_confusion_counts(ax, [[1, 2]])
    yield "confusion: negative", lambda: draw.draw_confusion_counts(ax, [[1, -2], [0, 1]])
    yield "confusion: names", lambda: draw.draw_confusion_counts(ax, [[1, 2], [0, 1]], ["a"])
    yield "explanation: none", lambda: draw.draw_explanation(ax, None)  # type: ignore[arg-type]
    yield (
        "explanation: a row beyond",
        lambda: draw.draw_explanation(ax, plane.explain(X[:, :2]), 99),
    )
    yield (
        "explanation: no columns",
        lambda: draw.draw_explanation(ax, plane.explain(X[:, :2]), most=0),
    )
    yield "sigmoid: no reach", lambda: draw.draw_sigmoid(ax, reach=0.0)
    yield "learning curves: none", lambda: draw.draw_learning_curves(ax, [1, 2], {})
    yield "learning curves: too short", lambda: draw.draw_learning_curves(ax, [1, 2], {"a": [0.1]})
    yield "save: colours of a drawing", lambda: draw.save_figure(ax.figure, "a.svg", colours=9)


GROUPS: dict[str, Callable[[], Cases]] = {
    "families": families,
    "statistics": statistics,
    "terms": terms,
    "comparisons": comparisons,
    "sources": sources,
    "drawings": drawings,
}
