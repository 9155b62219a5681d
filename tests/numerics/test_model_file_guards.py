"""Every guard of model files has an example that it alone refuses in these words.

What a damaged file is refused by is often the second or third guard that it meets, so that a file
that is refused says little about the first. Here parts of sound models are replaced one at a time,
and the words of the refusal are those of the guard that is meant: without it the test fails.
"""

from __future__ import annotations

import ast
import copy
import datetime as dt
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import suffice
from suffice.columns import Column, Columns
from suffice.errors import BadFile
from suffice.families import Poisson
from suffice.kernels.ngrams.texts import BITS
from suffice.statistics import Totals
from suffice.statistics.labels import ordered
from suffice.storage.archive import PackedArrays, StoredArrays
from suffice.storage.checks.consistency import check_sound
from suffice.storage.checks.estimated_models import check_settings, estimated
from suffice.storage.model_file import StoredModel, read_model
from suffice.storage.tree_checks import DEEPEST, TreeCheck
from tests.conftest import ROOT
from tests.reference.saved_models import fitted, laws, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    Case = tuple[str, tuple[Any, ...], Any]

CHOSEN: dict[str, Any] = {
    "penalty, chosen": lambda: suffice.LogisticRegression("auto"),
    "penalties, averaged": lambda: suffice.LogisticRegression("average"),
    "columns, predictive": lambda: suffice.NaiveBayes("predictive-gaussian"),
    "mixture": lambda: suffice.GaussianMixture(2, "EEE"),
    "mixtures": lambda: suffice.MixtureDiscriminant(2, "EEE"),
    "hidden classes": lambda: suffice.LatentClasses(2, starts=2),
    "one variance, predictive": lambda: suffice.GaussianDiscriminant("spherical", predictive=2.0),
}
"""Models with guards of their own that are not among those every test of files goes through."""
FIRST = object()
"""In a path: whatever key comes first."""


@cache
def stored(name: str) -> StoredModel:
    """Return what the file of a model holds."""
    rng = np.random.default_rng(0)
    if name.endswith("law"):
        (model,) = (law for other, law, _ in laws(rng, 12) if other == name)
    elif name == "mixture, stream":
        rows = numbers(rng, 60)[0]
        model = suffice.GaussianMixture(2, "VVV").fit(rows).partial_fit(rows)
    elif name == "mixtures, streams":
        rows, labels = numbers(rng, 4_000)
        model = suffice.MixtureDiscriminant(2, "EEI").partial_fit(rows, labels)
    elif name in CHOSEN:
        model = CHOSEN[name]().fit(*numbers(rng, 60))
    else:
        model = fitted(name, rng, 12)[0]
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        found = read_model(Path(folder) / "model")
    if name == "pool":  # as in the file, where rows are beside the model
        found.state["model"] = replace(found.state["model"], sample=None)  # type: ignore[index]
    return found


def altered(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return a copy in which the part at a path is another: a value, or what a function makes."""
    if not path:
        return new(value) if callable(new) else new
    key, *rest = path
    if isinstance(value, dict):
        key = next(iter(value)) if key is FIRST else key
        return {**value, key: altered(value[key], tuple(rest), new)}
    if isinstance(value, tuple) and isinstance(key, int):
        items = [*value]
        items[key] = altered(items[key], tuple(rest), new)
        return tuple(items)
    found = copy.copy(value)
    object.__setattr__(found, key, altered(getattr(value, key), tuple(rest), new))
    return found


def put(*places: tuple[Any, Any]) -> Any:
    """Return what puts values into a copy of an array."""

    def change(array: Any) -> Any:
        found = array.copy()
        for place, value in places:
            found[place] = value
        return found

    return change


def times(factor: float) -> Any:
    return lambda value: value * factor


def cut(value: Any) -> Any:
    return value[:-1]


def narrow(value: Any) -> Any:
    return value[:, :2]


def with_row(**parts: Any) -> Any:
    """Return what changes the first row of a sample."""

    def change(sample: Any) -> Any:
        key = next(iter(sample.rows))
        row = sample.rows[key]._replace(**parts)
        return altered(sample, ("rows", key), row)

    return change


NUMBER = Columns((Column(None, "number"),))
STATISTICS = ("statistics", "groups", FIRST)
TERMS = ("model", "term_counts", "groups", "a")
NGRAMS = ("model", "ngram_counts", "groups", "a")
SOUND: dict[str, Case] = {
    # Parts that belong to one model
    "model is a Poisson": ("shared", ("model",), Poisson()),
    "frame is of 'abacus'": ("pandas", ("frame",), "abacus"),
    "columns are a Poisson": ("shared", ("columns",), Poisson()),
    "columns are not the 3 of the model": ("shared", ("columns",), NUMBER),
    "columns are not the 4 of the model": ("naive Bayes", ("columns",), NUMBER),
    "columns are not the 3 of the model ": ("logistic", ("columns",), NUMBER),
    "chosen has no covariances": ("auto", ("chosen",), Poisson()),
    "spread is not that of the law": ("fitted law", ("spread",), Poisson()),
    "columns are not those of the law": ("fitted law", ("columns",), NUMBER),
    "evidence is none": ("fitted law", ("evidence",), Poisson()),
    "spread is that of another covariance": ("fitted law", ("spread", "lengths"), times(1.1)),
    "columns are not of texts": ("texts", ("columns",), Columns(())),
    "columns are not of texts ": ("texts", ("columns",), NUMBER),
    "statistics are Totals": ("texts", ("statistics",), Totals.empty(3)),
    "statistics hold a document that is not text": (
        "texts", ("statistics",), with_row(cells=("a", 1)),
    ),
    "statistics hold a document of a class that this model lacks": (
        "texts", ("statistics",), with_row(label="x"),
    ),
    "statistics hold a document of symbols that are not bytes": (
        "texts", ("statistics",), with_row(cells=("a", "\u20ac")),
    ),
    "statistics hold more documents than were learned": (
        "texts", ("statistics",), with_row(weight=1e6),
    ),
    "statistics holds more rows than are kept": ("texts", ("statistics", "limit"), 0),
    "statistics holds rows beyond its limit": ("texts", ("statistics", "limit"), 1),
    "labels are of an unknown type": ("shared", ("labels",), 3),
    "labels are not of the type <i8": ("shared", ("labels",), "<i8"),
    "found is not of this model": ("logistic", ("found", "labels"), (0, 1, 2)),
    "seen is not of this model": ("logistic", ("seen",), Totals.empty(3)),
    "stream has other coefficients than the model": (
        "logistic, stream", ("stream", "mean"), times(2.0),
    ),
    "found has other coefficients than the model": ("logistic", ("model", "weights"), times(2.0)),
    "seen has other columns than the fit": ("logistic", ("seen", "moments", "mean"), times(2.0)),
    "chosen has no families": ("naive Bayes", ("chosen",), None),
    "chosen.columns[0] are not places": (
        "naive Bayes", ("chosen", "product", "columns", 0), (0.0,),
    ),
    "chosen has other families than the model": (
        "naive Bayes", ("chosen", "product", "columns"), ((0,), (2, 1), (3,)),
    ),
    "statistics are PooledMoments": (
        "naive Bayes", ("statistics",), lambda _: stored("shared").state["statistics"].groups[
            b"\1\1\1"],
    ),
    "statistics are of other classes than the model": (
        "diagonal", ("statistics", "groups"),
        lambda groups: {{"c": "d"}.get(key, key): group for key, group in groups.items()},
    ),
    "statistics are not of the 3 columns of the model": (
        "diagonal", ("statistics",),
        lambda whole: altered(whole, ("groups",), {
            label: group.take([0, 1]) if hasattr(group, "take") else _narrow(group)
            for label, group in whole.groups.items()}),
    ),
    "statistics weigh 1.8e+10, the model 18": (
        "per-class", ("statistics", "groups", FIRST, "groups"), lambda groups: {
            label: altered(group, ("weight",), 1e9 * group.weight)
            for label, group in groups.items()},
    ),
    "statistics are of other families than the model": (
        "naive Bayes", ("statistics", "groups"), lambda groups: {
            label: altered(group, ("parts",), cut) for label, group in groups.items()},
    ),
    "statistics of gaussian columns are Totals": (
        "naive Bayes", (*STATISTICS, "parts", 0), Totals.of(np.ones((8, 1))),
    ),
    "statistics of gaussian columns weigh 9": (
        "naive Bayes", (*STATISTICS, "parts", 0, "weight"), 9.0,
    ),
    "statistics have bins that do not match the family": (
        "binned", (*STATISTICS, "parts", 0, "levels"), ((0, 1, 2, 3, 4, 99),),
    ),
    "statistics have more events than cells": (
        "Bernoulli", (*STATISTICS, "parts", 0, "sums"), lambda sums: sums + 1e6,
    ),
    "statistics.sample holds a row that does not belong to this model": (
        "held out", ("statistics", "sample"), with_row(label="x"),
    ),
    "statistics.sample holds a row with other columns": (
        "held out", ("statistics", "sample"),
        lambda sample: with_row(cells=("x", *next(iter(sample.rows.values())).cells[1:]))(sample),
    ),
    "statistics.sample holds more rows than were learned": (
        "held out", ("statistics", "sample"), with_row(weight=1e6),
    ),
    "statistics.sample holds more rows than are kept": (
        "held out", ("statistics", "sample", "limit"), 0,
    ),
    # Forms of fields
    "statistics.limit holds a value that is not a number": (
        "texts", ("statistics", "limit"), float("nan"),
    ),
    ".usual holds nan to nan, which no float is": (
        "shared", (*STATISTICS, "usual"), np.full(3, np.nan),
    ),
    "model.densities is a Poisson": ("shared", ("model", "densities"), Poisson()),
    "model.laws is a list": ("naive Bayes", ("model", "laws"), list),
    "model.product.columns has 3 where 2 belong": (
        "naive Bayes", ("model", "product", "families"), cut,
    ),
    "model.labels are not labels": ("shared", ("model", "labels"), ("a", "a", "c")),
    "model.labels are not in order": ("shared", ("model", "labels"), ("c", "b", "a")),
    "model.blank are not places": ("naive Bayes", ("model", "blank"), (-1,)),
    "model.blank are not places ": ("naive Bayes", ("model", "blank"), range(-3, 0)),
    "model.weights is not an array of float64": ("shared", ("model", "weights"), [1.0, 2.0, 3.0]),
    "model.weights has the shape (3, 1)": (
        "shared", ("model", "weights"), lambda weights: weights[:, np.newaxis],
    ),
    "model.weights has 2 where 3 belong": ("shared", ("model", "weights"), cut),
    "model.weights holds -1 to 5, which no weight is": (
        "shared", ("model", "weights"), put((0, -1.0)),
    ),
    "model.densities.rank is -1: it is not a count": ("shared", ("model", "densities", "rank"), -1),
    "model.temperature is nan: it is not a scale": (
        "naive Bayes", ("model", "temperature"), float("nan"),
    ),
    ".keys are not in order, each once": ("texts", (*TERMS, "keys"), lambda keys: keys[::-1]),
    "statistics holds groups of ['ByClass', 'PooledMoments']": (
        "per-class, gaps", ("statistics", "groups", b"\1\1\1"),
        lambda _: stored("shared").state["statistics"].groups[b"\1\1\1"],
    ),
    "statistics has an invalid pattern": (
        "shared", ("statistics", "groups"), lambda groups: {b"\1\2\1": groups[b"\1\1\1"]},
    ),
    "statistics has 3 columns under a pattern of 2": (
        "shared", ("statistics", "groups"), lambda groups: {b"\1\1\0": groups[b"\1\1\1"]},
    ),
    "statistics has groups that are not classes": (
        "diagonal", ("statistics", "groups"),
        lambda groups: {frozenset(key): group for key, group in groups.items()},
    ),
    # Texts
    "has counts without a finite sum": ("texts", (*TERMS, "counts"), put((0, 1e305))),
    "counts n-grams of 9 symbols": ("texts", (*NGRAMS, "order"), 9),
    "has n-grams that are longer than its order": ("texts", (*NGRAMS, "order"), 1),
    "has n-grams of no text": (
        "texts", (*NGRAMS, "keys"), put((-1, np.uint64((1 << 5 * BITS) - 1))),
    ),
    "is smoothed by 1e+200": ("texts", ("model", "smoothing"), 1e200),
    "has no event model, or half a calibration": ("texts", ("model", "shifts"), None),
    "has a calibration of other event models": (
        "texts", ("model", "factors"), lambda factors: np.append(factors, 1.0),
    ),
    "has two event models, but no weights for them": (
        "texts", ("model",),
        lambda model: altered(altered(model, ("factors",), None), ("shifts",), None),
    ),
    "has counts of other event models": ("texts", ("model", "term_counts"), None),
    "has counts of other classes": (
        "texts", ("model", "term_counts", "groups"),
        lambda groups: {{"c": "d"}.get(key, key): group for key, group in groups.items()},
    ),
    "has counts of other documents": ("texts", (*TERMS, "weight"), 99.0),
    "has n-grams of another order": ("texts", ("model", "language", "order"), 4),
    "has terms in more documents than there are": ("texts", (*TERMS, "counts"), put((0, 99.0))),
    # Rules inside an object
    "has no scatter of squares": ("shared", (*STATISTICS, "scatter"), put(((0, 1), 9e9))),
    "has a weight in two parts": (
        "per-class", ("statistics", "groups", FIRST, "groups", "a", "weight_low"), 1.0,
    ),
    "has cells on a grid without having looked for one": (
        "shared", (*STATISTICS, "steps"), lambda steps: np.full(3, 7.0),
    ),
    "has squares in two parts": ("shared", (*STATISTICS, "scatter_low"), put(((0, 0), 1e3))),
    "has other weights than levels": ("binned", (*STATISTICS, "parts", 0, "held"), cut),
    "has levels that no cell can have": (
        "binned", (*STATISTICS, "parts", 0, "levels"),
        ((dt.date(2026, 1, 1), dt.date(2026, 1, 2), 2, 3, 4, 6),),
    ),
    "has levels that weigh more than its rows": (
        "binned", (*STATISTICS, "parts", 0, "held"), times(99.0),
    ),
    "has more blank cells than rows": (
        "Bernoulli", (*STATISTICS, "parts", 0, "missing"), np.full(4, 99.0),
    ),
    "has more cells than rows": ("diagonal", (*STATISTICS, "counts"), times(99.0)),
    "has other folds": ("multinomial, sparse", ("statistics", "parts"), cut),
    "has other means than columns": ("logistic", ("columns", "usual"), cut),
    "keeps columns that do not exist": ("logistic", ("columns", "kept"), np.array([0, 1, 9])),
    "has an origin in two parts": (
        "shared", ("model", "densities", "origin_low"), lambda low: low + 1.0,
    ),
    "has factors of other columns or classes": (
        "shared", ("model", "densities", "active"), put((0, False)),
    ),
    "has loadings of other columns or classes": (
        "factors", ("model", "densities", "active"), put((0, False)),
    ),
    "has a rank beyond its columns": ("shared", ("model", "densities", "rank"), 4),
    "has a factor without a positive diagonal": (
        "shared", ("model", "densities", "factors"), put(((0, 0, 0), -1.0)),
    ),
    "has a factor that is not lower triangular": (
        "shared", ("model", "densities", "factors"), put(((0, 0, 2), 1.0)),
    ),
    "has a whitening that is not the inverse of its factor": (
        "shared", ("model", "densities", "whitenings"), times(2.0),
    ),
    "has deviations of other classes": (
        "diagonal", ("model", "densities", "deviations"), cut,
    ),
    "has deviations larger than any fit can have": (
        "diagonal", ("model", "densities", "deviations"), put(((0, 0), 1e290)),
    ),
    "has offsets of no probabilities or rates": (
        "Bernoulli", ("model", "laws", 0, "offsets"), put(((0, 0), 0.5)),
    ),
    "has the weights of other columns": (
        "Bernoulli", ("model", "laws", 0, "held"), np.ones((3, 2)),
    ),
    "has words without documents, or documents without words": (
        "multinomial", ("model", "laws", 0, "tokens"), None,
    ),
    "has words without documents": (
        "multinomial", ("model", "laws", 0, "documents"), put((0, 0.0)),
    ),
    "has levels that no cell can have ": (
        "binned", ("model", "laws", 1, "levels"),
        lambda levels: ((dt.date(2026, 1, 1), *levels[0][1:]), *levels[1:]),
    ),
    "has a table of other levels": ("binned", ("model", "laws", 0, "tables", 0), cut),
    "has edges that do not rise": (
        "binned", ("model", "laws", 0, "edges"), lambda edges: edges[::-1],
    ),
    "has other levels than bins": (
        "binned", ("model", "laws", 0, "levels"), ((0, 1, 2, 3, 4, 5, 6, 7, 8, 10),),
    ),
    "has a law of more than one class": (
        "families as objects", ("model", "laws"),
        lambda laws: tuple(
            altered(law, ("inner",), laws[0]) if type(law).__name__ == "CommonColumns" else law
            for law in laws),
    ),
    "has weights without a finite sum": (
        "shared", ("model", "weights"), np.full(3, 1e308),
    ),
    "has priors that do not add up to 1": ("shared", ("model", "log_priors"), np.zeros(3)),
    "has NormalColumns where the family is bernoulli": (
        "naive Bayes", ("model", "product", "families"), lambda families: families[::-1],
    ),
    "has a law of 1 columns for 2": (
        "naive Bayes", ("model", "product", "columns"), ((0, 2), (1,), (3,)),
    ),
    "has bins of other edges": (
        "binned", ("model", "product", "families", 0, "edges"),
        lambda edges: (edges[0] - 1.0, *edges[1:]),
    ),
    "does not have each column once": (
        "naive Bayes", ("model", "product", "columns"), ((0,), (1, 1), (3,)),
    ),
    "has blank columns that are not in order": ("naive Bayes", ("model", "blank"), (2, 1)),
    "has blank columns that do not exist": ("naive Bayes", ("model", "blank"), (9,)),
    "has other documents than rows": (
        "multinomial", ("model", "laws", 0, "documents"), times(2.0),
    ),
    "has weights without a finite sum ": (
        "complement", ("model", "weights"), np.full(3, 1e308),
    ),
    "has no class with a finite offset": (
        "logistic", ("model", "offsets"), np.full(3, -np.inf),
    ),
    "has a θ of other classes or columns": ("logistic, penalty", ("found", "theta"), cut),
    "has more than its penalty on absolute values": (
        "logistic, lasso", ("found", "l1_ratio"), 1.5,
    ),
    "has a covariance of another θ": (
        "logistic, penalty", ("found", "covariance_"), np.eye(2),
    ),
    "has a covariance with a negative variance": (
        "logistic, penalty", ("found", "covariance_"), lambda whole: whole - 2.0 * np.diag(
            np.diag(whole)),
    ),
    "uses columns that do not exist": (
        "logistic, separated", ("found", "separation", "columns"), (9,),
    ),
    "separates classes that do not exist": (
        "logistic, separated", ("found", "separation", "pairs"), ((5, 0),),
    ),
    "is of an unknown kind": (
        "logistic, separated", ("found", "separation", "kind"), "partial",
    ),
    "has a covariance of negative variances": (
        "fitted law", ("model", "covariance"), lambda whole: -whole,
    ),
    "has directions that are longer than one": (
        "fitted law", ("spread", "directions"), times(2.0),
    ),
    "has directions that are not at right angles": (
        "fitted law", ("spread", "directions"), np.full((3, 3), 0.5),
    ),
    "has lengths that correlations cannot have": ("fitted law", ("spread", "lengths"), times(1e9)),
    "varies where it is constant": (
        "degenerate law", ("spread", "scale"), put((0, 0.0)),
    ),
    # Averages
    "path is not there, and the model is an average over one": (
        "penalties, averaged", ("path",), None,
    ),
    "path is not an average over penalties": ("penalty, chosen", ("path",), Poisson()),
    "found is one fit, and the model is an average": (
        "penalties, averaged", ("seen",), lambda _: stored("penalty, chosen").state["seen"],
    ),
    "found has another penalty than its path": (
        "penalty, chosen", ("found", "penalty"), times(2.0),
    ),
    "has shares that do not add up to one": (
        "penalties, averaged", ("model", "shares"), times(2.0),
    ),
    "has members of other classes": (
        "penalties, averaged", ("model", "members", 0, "labels"), ("a", "b", "x"),
    ),
    "path has shares that do not add up to one": (
        "penalty, chosen", ("path", "shares"), times(2.0),
    ),
    "does not start at the strongest penalty": (
        "penalty, chosen", ("path", "penalties"), lambda held: held[::-1].copy(),
    ),
    "was judged in an unknown way": (
        "penalty, chosen", ("path", "judged"), lambda held: ("by eye", *held[1:]),
    ),
    "has a stretch below 1": (
        "predictive", ("model", "densities", "stretches"), times(0.1),
    ),
    "has next to no degrees of freedom": (  # there is nothing to draw from
        "predictive", ("model", "densities", "freedom"), times(1e-160),
    ),
    "has one variance of several degrees of freedom": (
        "one variance, predictive", ("model", "densities", "freedom"),
        put(((0, 0), 99.0)),
    ),
    "has a distribution without a share": (
        "averaged", ("model", "densities", "shares"), put((0, 0.0)),
    ),
    "has shares that do not add up to 1   ": (
        "averaged", ("model", "densities", "shares"), times(2.0),
    ),
    "has shares that do not add up to 1 ": ("left out", ("model", "shares"), times(2.0)),
    "has temperatures without shares, or shares without temperatures": (
        "left out", ("model", "shares"), None,
    ),
    "has scales larger than any fit can have": (
        "columns, predictive", ("model", "laws", 0, "spreads"), times(1e300),
    ),
    # Mixtures
    "mixture is none": ("mixture", ("mixture",), Poisson()),
    "mixture has a form that is not known": ("mixture", ("mixture", "form"), "EEX"),
    "mixture has a form that is not known ": ("mixture", ("mixture", "forms", 0), "XXX"),
    "mixture has noise in 1.5 of all rows": ("mixture", ("mixture", "noise"), 1.5),
    "mixtures are none": ("mixtures", ("mixtures",), Poisson()),
    "mixtures are those of other classes": (
        "mixtures", ("mixtures", "forms"), lambda forms: forms[:1],
    ),
    "mixtures has a form that is not known": ("mixtures", ("mixtures", "forms", 0), "XXX"),
    "model has a class of no weight": ("mixtures", ("model", "weights"), put((0, 0.0))),
    "model is not one of classes that are mixtures, or should not be": (
        "mixtures", ("model", "densities"), lambda _: stored("shared").state["model"].densities,
    ),
    "has shares of": (
        "mixtures", ("model", "densities", "mixing"), lambda held: held[:, :-1],
    ),
    "has a component that is not of one class": (
        "mixtures", ("model", "densities", "mixing"), lambda held: np.full_like(held, 0.5),
    ),
    "densities has shares that do not add up to 1": (
        "mixtures", ("model", "densities", "mixing"), times(2.0),
    ),
    "stream is none": ("mixture, stream", ("stream",), Poisson()),
    "stream has 2 columns, not": (
        "mixture, stream", ("stream",),
        lambda held: altered(altered(held, ("waiting",), narrow), ("blank",), narrow),
    ),
    "stream has other components than its mixture": (
        "mixture, stream", ("stream",),
        lambda held: replace(
            held, held=np.ones(1), means=held.means[:1], scatters=held.scatters[:1]
        ),
    ),
    "stream has moments of a different form than its mixture": (
        "mixture, stream", ("stream",),
        lambda held: replace(held, scatters=None, squares=np.ones_like(held.means)),
    ),
    "stream has some of its moments, and not others": (
        "mixture, stream", ("stream", "total"), None,
    ),
    "stream has some of its moments, and not others ": (
        "mixture, stream", ("stream", "worth"), 0.0,
    ),
    "stream has moments twice, or noise alone": ("mixture, stream", ("stream", "noise"), 1.0),
    "streams have come to another model": (
        "mixtures, streams", ("streams", "classes", 0, "model", "log_priors"),
        lambda held: held[::-1],
    ),
    "stream has shares that do not add up to 1": (
        "mixture, stream", ("stream", "held"), times(2.0),
    ),
    "stream has no squares among its moments": (
        "mixture, stream", ("stream", "scatters"), put(((0, 0, 1), 9.0), ((0, 1, 0), 9.0)),
    ),
    # Pools
    "holds rows, which belong to the statistics": (
        "pool", ("model", "sample"), lambda _: stored("pool").state["statistics"].sample,
    ),
    "has shares that do not add up to 1": ("pool", ("model", "shares"), times(2.0)),
    "has exponents without offsets, or offsets without exponents": (
        "pool", ("model", "offsets"), None,
    ),
    "has a product of a part of 1.5": ("pool", ("model", "product"), 1.5),
    "has an exponent of 2e+06": ("pool", ("model", "exponents"), put((0, 2e6))),
    "is right in 2 of all rows": ("pool", ("model", "accuracy"), 2.0),
    "has columns of an unknown kind": (
        "pool", ("model", "kinds"), lambda held: ("colour", *held[1:]),
    ),
    "has another θ": (
        "logistic, stream", ("stream",),
        lambda held: altered(altered(held, ("theta",), cut), ("mean",), cut),
    ),
}  # fmt: skip
"""Refusals by their words (a blank at the end tells two guards of the same words apart)."""


def _narrow(group: Any) -> Any:
    """Return moments of the first two columns of three."""
    found = group
    for name in ("counts", "mean", "low", "scatter", "error", "scatter_low", "sum_error"):
        found = altered(found, (name,), lambda held: held if held is None else held[:2])
    return found


@pytest.mark.parametrize("words", SOUND)
def test_what_cannot_be_a_model_is_refused_by_its_own_guard(words: str) -> None:
    name, path, new = SOUND[words]
    state = dict(stored(name).state)
    check_sound(state)
    with pytest.raises(BadFile) as found, np.errstate(all="ignore"):
        check_sound(altered(state, path, new))
    assert words.strip() in found.value.problem


def test_labels_of_several_types_are_refused() -> None:
    state = dict(stored("shared").state)
    labels = (1, dt.timedelta(days=1), dt.timedelta(days=2))
    state = altered(state, ("model", "labels"), ordered(labels))
    with pytest.raises(BadFile, match="labels are of several types"):
        check_sound({**state, "labels": "<m8[s]"})


def test_a_law_of_no_columns_is_refused() -> None:
    from suffice.storage.checks.rules import RULES

    assert RULES["Normal"](None, {"d": 0}) == "has no columns"


# A model is what its statistics become under its settings

SETTINGS: dict[str, tuple[str, dict[str, Any], Case | None]] = {
    "chosen has other families than the settings ask for": (
        "naive Bayes", {"families": "select"}, None,
    ),
    "model has other families than the settings ask for": (
        "Bernoulli", {}, ("", ("model", "product", "families", 0, "threshold"), 2.0),
    ),
    "is one of factors that its settings do not ask for, or is none": (
        "shared", {"factors": 1}, None,
    ),
    "model has other priors than its settings": (
        "shared", {"priors": {"a": 0.8, "b": 0.1, "c": 0.1}}, None,
    ),
    "model is not smoothed according to its settings": ("texts", {"smoothing": 0.5}, None),
    "path is not what the settings ask for": ("penalty, chosen", {"penalty": 1.0}, None),
    "mixture is not there, or belongs to another estimator": (
        "mixture", {}, ("", (), lambda state: {k: v for k, v in state.items() if k != "mixture"}),
    ),
    "mixtures is not there, or belongs to another estimator": (
        "mixture", {}, ("", (), lambda state: {**state, "mixtures": 1}),
    ),
    "statistics cannot be those of a mixture": (
        "mixture", {}, ("", ("statistics",), lambda _: stored("shared").state["statistics"]),
    ),
    "latent is not there, or belongs to another estimator": (
        "hidden classes", {},
        ("", (), lambda state: {k: v for k, v in state.items() if k != "latent"}),
    ),
    "settings cannot be those of latent classes": (
        "hidden classes", {"smoothing": "held-out"}, None,
    ),
    "are not those that these rows allow": (
        "pool", {}, ("", ("model", "grids", 0), lambda _: np.full(4, 0.25)),
    ),
    "statistics are not those that the settings ask for": (
        "diagonal", {"covariance": "per-class"}, None,
    ),
    "model has other priors than the weights of its classes": (
        "mixtures", {}, ("", ("model", "weights"), put((0, 1.0))),
    ),
    "has invalid weights of labelled rows": (
        "unlabelled", {}, ("", ("unlabelled", "labelled"), lambda held: [-1.0, *held[1:]]),
    ),
    "the model is not what its statistics become under its settings": (
        "shared", {}, ("", ("model", "densities", "means"), lambda means: means + 0.1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", SETTINGS)
def test_a_model_of_other_settings_is_refused_by_its_own_guard(words: str) -> None:
    name, settings, change = SETTINGS[words]
    file = stored(name)
    state: Any = dict(file.state)
    if change is not None:
        state = altered(state, change[1], change[2])
    with pytest.raises(BadFile) as found:
        _believed(file.estimator, {**file.settings, **settings}, state)
    assert words in found.value.problem


def _believed(estimator: str, settings: Any, state: Any) -> Any:
    check_settings(estimator, settings, state)
    return estimated(settings, state)


def test_what_the_statistics_become_has_the_form_of_a_model() -> None:
    """Each sum is a number, and so are all parts of the model; what the sums become is none."""
    file = stored("multinomial")
    state = altered(dict(file.state), (*STATISTICS, "parts", 0, "sums"), np.full(4, 1e308))
    with (
        pytest.raises(BadFile, match=r"what the statistics become.*slopes holds -inf"),
        np.errstate(all="ignore"),
    ):
        estimated(file.settings, state)


# Every guard has an example


def _refusals(module: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a module that refuse something, and the longest words that they say."""
    source = (ROOT / "src" / "suffice" / module).read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        said: list[ast.expr] = []
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            said = [*node.exc.args]
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.IfExp):
            said = [node.value.body, node.value.orelse]
        elif isinstance(node, ast.Return) and node.value is not None:
            said = [node.value]
        for one in said:
            parts = one.values if isinstance(one, ast.JoinedStr) else [one]
            texts = [p.value for p in parts if isinstance(p, ast.Constant) if p.value]
            words = [text for text in texts if isinstance(text, str) and " " in text]
            if words:
                yield node.lineno, max(words, key=len).strip()


def _flaws(module: str) -> Iterator[tuple[int, str]]:
    """Yield the refusals of a module of families that say what is wrong with a file."""
    source = (ROOT / "src" / "suffice" / module).read_text(encoding="utf-8")
    lines = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.name.endswith("flaw")
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    return ((line, words) for line, words in _refusals(module) if line in lines)


CHECKS = "storage/checks"
FAMILY_FILES = "models/naive_bayes/families"


def test_families_are_looked_through_for_what_they_refuse() -> None:
    found = [words for module in _modules(FAMILY_FILES) for _, words in _flaws(module)]
    assert "has bins of other edges" in found
    assert "has a table of other levels" in found


def _modules(folder: str) -> list[str]:
    return [
        f"{folder}/{path.name}" for path in sorted((ROOT / "src/suffice" / folder).glob("*.py"))
    ]


RULES = ("consistency.py", "estimated_models.py", "form_checks.py", "linear_rules.py", "rules.py")
"""Files of checks whose refusals are all tried here."""


@pytest.mark.parametrize(
    "module", [*(f"{CHECKS}/{name}" for name in RULES), *_modules(FAMILY_FILES)]
)
def test_every_refusal_has_an_example(module: str) -> None:
    examples = [*SOUND, *SETTINGS, "labels are of several types", "has no columns"]
    lacking = [
        (line, words)
        for line, words in (_refusals if module.startswith(CHECKS) else _flaws)(module)
        if not any(words in example for example in examples)
    ]
    assert not lacking


# Trees, before anything is made of them

FILE = {"float64": 4}
STRANGE: dict[str, Any] = {
    "a number of more than 64 bits": 1 << 64,
    "a list": [1],
    "an object of no kind": {"is": 3},
    "an object of an unknown kind": {"is": "os.system", "command": "true"},
    "an object with a key too many": {"is": "tuple", "items": [], "more": 1},
    "an object without its keys": {"is": "tuple"},
    "fields that are a list": {"is": "Poisson", "fields": []},
    "fields that are an object of their own": {"is": "Poisson", "fields": {"is": "x"}},
    "items that are no list": {"is": "tuple", "items": {}},
    "pairs of three": {"is": "dict", "pairs": [[1, 2, 3]]},
    "pairs that are none": {"is": "dict", "pairs": [1]},
    "words that are numbers": {"is": "words", "shape": [1], "items": [1]},
    "words that are long": {"is": "words", "shape": [1], "items": ["x" * 65]},
    "words of another shape": {"is": "words", "shape": [2], "items": ["x"]},
    "words of a negative shape": {"is": "words", "shape": [-1, -1], "items": ["x"]},
    "no words of a huge shape": {"is": "words", "shape": [0, 1 << 40], "items": []},
    "a float that JSON could write": {"is": "float", "value": "1.0"},
    "a date of no text": {"is": "date", "text": 3},
    "columns of names that are numbers": {
        "is": "Columns", "names": [1], "kinds": ["number"], "levels": {},
    },
    "columns of levels that are no object": {
        "is": "Columns", "names": None, "kinds": ["number"], "levels": [],
    },
    "columns of levels that are no list": {
        "is": "Columns", "names": None, "kinds": ["number"], "levels": {"0": 1},
    },
    "a range of two ends": {"is": "range", "ends": [0, 1]},
    "a range that goes too far": {"is": "range", "ends": [0, 1 << 54, 1 << 54]},
    "a range without steps": {"is": "range", "ends": [0, 1, 0]},
    "an array of an unknown type": {"is": "array", "of": "float16", "from": 0, "shape": [1]},
    "an array of too many axes": {"is": "array", "of": "float64", "from": 0, "shape": [1] * 5},
    "an array from before the beginning": {
        "is": "array", "of": "float64", "from": -1, "shape": [1],
    },
    "an array from no place": {"is": "array", "of": "float64", "from": 0.0, "shape": [1]},
    "an array of a negative size": {"is": "array", "of": "float64", "from": 0, "shape": [-1]},
    "an array that is longer than the file": {
        "is": "array", "of": "float64", "from": 1, "shape": [4],
    },
}  # fmt: skip


@pytest.mark.parametrize("what", STRANGE)
def test_a_tree_that_no_model_is_made_of_is_refused(what: str) -> None:
    with pytest.raises(BadFile, match="is not part of a model"):
        TreeCheck(FILE).check({"part": STRANGE[what]})


def test_a_tree_is_looked_through_however_deep_it_is() -> None:
    deep: Any = 1
    for _ in range(DEEPEST + 1):
        deep = {"is": "tuple", "items": [deep]}
    TreeCheck(FILE).check(deep)
    with pytest.raises(BadFile, match="is not part of a model"):
        TreeCheck(FILE).check({"is": "tuple", "items": [deep]})


@pytest.mark.parametrize(
    ("what", "tree"),
    [
        ("a range of 1000 places", {"is": "range", "ends": [0, 1000, 1]}),
        (
            "an empty array of 1000 places",
            {"is": "array", "of": "float64", "from": 0, "shape": [0, 1000]},
        ),
    ],
)
def test_places_that_are_in_no_array_are_as_many_as_the_file_has_values(
    what: str, tree: Any
) -> None:
    with pytest.raises(BadFile, match=what):
        TreeCheck(FILE).check(tree)
    TreeCheck({"float64": 300}).check(tree)
    with pytest.raises(BadFile, match=what):  # of one file, all together
        TreeCheck({"float64": 300}).check({"is": "tuple", "items": [tree] * 2})


# Arrays


@pytest.mark.parametrize(
    "place",
    [
        {"of": "float64", "from": -1, "shape": [1]},
        {"of": "float64", "from": 0, "shape": [-2, -2]},
        {"of": "float64", "from": 0, "shape": [1, 1, 1, 1, 1]},
        {"of": "float64", "from": 0, "shape": [1.0]},
        {"of": "float64", "from": 1, "shape": [4]},
    ],
)
def test_an_array_that_is_not_in_the_file_is_not_taken(place: dict[str, Any]) -> None:
    with pytest.raises(BadFile, match="no array can be at"):
        StoredArrays({"float64": np.arange(4.0)}).take(place)


def test_numbers_belong_to_one_array_each() -> None:
    def of(*places: tuple[int, int]) -> StoredArrays:
        found = StoredArrays({"float64": np.arange(4.0)})
        for start, size in places:
            found.take({"of": "float64", "from": start, "shape": [size]})
        return found

    of((0, 1), (1, 3)).check_all_taken()
    for places in (((0, 2), (1, 3)), ((0, 1), (2, 2)), ((1, 3),)):
        with pytest.raises(BadFile, match="overlap or leave gaps"):
            of(*places).check_all_taken()
    with pytest.raises(BadFile, match="1 numbers of float64 belong to no array"):
        of((0, 3)).check_all_taken()


@pytest.mark.parametrize("array", [np.zeros(2, dtype=np.complex128), np.zeros((1,) * 5)])
def test_arrays_that_could_not_be_read_are_not_written(array: Any) -> None:
    with pytest.raises(BadFile, match="cannot be stored"):
        PackedArrays().add(array)
