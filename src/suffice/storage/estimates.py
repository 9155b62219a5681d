"""What a stored model has estimated of every class: means, probabilities and rates, with variances.

They are read off the statistics, before smoothing and shrinking: what the rows said. A model that
was stored without its statistics tells what it uses instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting
from suffice.statistics.moments.diagonal import DiagonalMoments
from suffice.statistics.moments.full import Moments
from suffice.statistics.moments.pooled import PooledMoments
from suffice.storage.describe import document_lengths
from suffice.storage.known_classes import name_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.columns import Columns
    from suffice.columns.design import Design
    from suffice.models.gaussian.law.normal import Normal
    from suffice.models.gaussian.model import GenerativeModel
    from suffice.models.gaussian.normal_fit import Evidence
    from suffice.models.linear.form import LinearForm
    from suffice.models.naive_bayes.asked_of_families import EstimatedColumns
    from suffice.models.naive_bayes.model import NaiveBayesModel
    from suffice.models.text.learner import TextRecord
    from suffice.rows import FloatArray, Label
    from suffice.storage.model_file import StoredModel

MEAN, PROBABILITY, RATE, COEFFICIENT = "mean", "probability", "rate", "coefficient"
LAW_MEAN = "mean of all rows"
"""Of a normal law that is not that of a class."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Estimates (k, p) of p quantities in k classes.

    labels     the classes
    places     what is estimated: "age", "colour=red"
    kinds      what each one is: a mean, a probability, a rate or a coefficient
    values     the estimates
    counts     the weight of the cells that each was made from
    variances  of one cell; of the estimate itself, where it is a coefficient. NaN is not known
    """

    labels: tuple[Label, ...]
    places: tuple[str, ...]
    kinds: tuple[str, ...]
    values: FloatArray
    counts: FloatArray
    variances: FloatArray


def estimates_of(stored: StoredModel, reference: Label | None = None) -> Estimates:
    """Return what a stored model has estimated of every class.

    Coefficients are those against `reference`, or against the first class.
    """
    model = stored.state["model"]
    if name_of(model) == "LinearForm":
        return _of_coefficients(stored, reference)
    if name_of(model) == "AveragedForm":
        raise BadSetting(
            "a model averaged over penalties has no coefficients to compare",
            hint='fit with penalty="auto": it chooses one penalty',
        )
    if name_of(model) == "GenerativeModel":
        return _of_normals(stored)
    if name_of(model) == "Normal":
        return _of_law(stored)
    if name_of(model) == "TextRecord":
        return _of_texts(model)
    return _of_columns(stored)


# Normal laws


def _of_law(stored: StoredModel) -> Estimates:
    """Return the means of a law. One that was given is exact; a conditional one has no count."""
    law: Normal = stored.state["model"]
    evidence: Evidence | None = stored.state["evidence"]
    names: tuple[str, ...] = stored.state["columns"].names
    spread = np.diagonal(law.covariance)
    if evidence is None:
        count, variances = np.inf, np.full(len(names), np.nan)
    elif evidence.weight > 0.0 and evidence.degrees > 0.0:
        count, variances = evidence.weight, spread * (evidence.divisor / evidence.degrees)
    else:
        count, variances = np.nan, np.full(len(names), np.nan)
    counts = np.full((1, len(names)), count)
    kinds = (LAW_MEAN,) * len(names)
    means = law.mean[np.newaxis]
    return Estimates((None,), names, kinds, means, counts, variances[np.newaxis])


# Texts


def _of_texts(model: TextRecord) -> Estimates:
    """Return how long documents are. Of terms nothing else has a name: only numbers are kept."""
    names, values = document_lengths(model)
    counts, unknown = np.repeat(model.weights[:, None], len(names), 1), np.full_like(values, np.nan)
    return Estimates(model.labels, names, (MEAN,) * len(names), values, counts, unknown)


# Normal classes


def _of_normals(stored: StoredModel) -> Estimates:
    model: GenerativeModel = stored.state["model"]
    columns: Columns = stored.state["columns"]
    statistics = stored.state["statistics"]
    statistics = getattr(statistics, "held", statistics)
    if statistics is None:
        means = model.densities.class_means
        counts = np.repeat(model.weights[:, np.newaxis], means.shape[1], axis=1)
        spread = np.diagonal(model.densities.covariances, axis1=1, axis2=2)
        variances = np.broadcast_to(spread, means.shape)
    else:
        counts, means, variances = _moments(statistics, model.labels, columns.width)
    names = columns.coded_names
    return Estimates(model.labels, names, (MEAN,) * len(names), means, counts, variances)


def _moments(
    statistics: Any, labels: tuple[Label, ...], width: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return counts, means and variances (k, d) of classes, whatever cells were missing."""
    held = {label: DiagonalMoments.empty(width) for label in labels}
    shared = np.zeros(width)
    pooled = False
    patterns = (
        statistics.items()
        if name_of(statistics) == "ByPattern"
        else [(np.ones(width, dtype=bool), statistics)]
    )
    for seen, group in patterns:
        if isinstance(group, PooledMoments):
            pooled = True
            shared[seen] += np.diagonal(group.scatter)
            none = np.zeros(int(seen.sum()))
            for label, weight, mean, low in zip(
                group.labels, group.weights, group.means, group.lows, strict=True
            ):
                own = Moments(float(weight), mean, low, np.diag(none), none)
                held[label] = held[label] + _spread(own, seen)
        else:
            for label, own in group.groups.items():
                held[label] = held[label] + _spread(own, seen)
    ordered = [held[label] for label in labels]
    counts, means, scatters = (
        np.array([getattr(own, name) for own in ordered]) for name in ("counts", "mean", "scatter")
    )
    if not pooled:
        return counts, means, _ratio(scatters, counts - 1.0)
    freedom = counts.sum(axis=0) - len(labels)
    variances = _ratio(shared + scatters.sum(axis=0), freedom)
    return counts, means, np.broadcast_to(variances, means.shape)


def _spread(own: Moments | DiagonalMoments, seen: NDArray[np.bool_]) -> DiagonalMoments:
    """Return moments of the columns of a pattern as moments of all columns, the others empty."""
    if isinstance(own, DiagonalMoments):
        return own
    counts, mean, low, scatter, error = (np.zeros(len(seen)) for _ in range(5))
    counts[seen], mean[seen], low[seen] = own.weight, own.mean, own.low
    scatter[seen], error[seen] = np.diagonal(own.scatter), own.error
    return DiagonalMoments(own.weight, counts, mean, low, scatter, error)


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Return above/below; NaN where nothing is left below."""
    found: FloatArray = np.where(below > 0.0, above / np.where(below > 0.0, below, 1.0), np.nan)
    return found


# Independent columns


def _of_columns(stored: StoredModel) -> Estimates:
    model: NaiveBayesModel = stored.state["model"]
    names: Sequence[str] = stored.state["columns"].names
    held = stored.state["statistics"]
    if held is None:
        return _of_laws(model, names)
    held = getattr(held, "held", held)
    groups = getattr(held, "whole", held).groups
    parts: list[EstimatedColumns] = []
    for g, (family, columns) in enumerate(
        zip(model.product.families, model.product.columns, strict=True)
    ):
        own = [groups[label].parts[g] for label in model.labels]
        parts += family.estimates([names[j] for j in columns], own)
    return Estimates(
        model.labels,
        tuple(name for part in parts for name in part[0]),
        tuple(part[1] for part in parts for _ in part[0]),
        *(np.concatenate([part[i] for part in parts], axis=1) for i in (2, 3, 4)),
    )


def _of_laws(model: NaiveBayesModel, names: Sequence[str]) -> Estimates:
    """Return the parameters in use, smoothed as they are; every class counts with its weight."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for law, columns in zip(model.laws, model.product.columns, strict=True):
        for place, j in enumerate(columns):
            for c in range(len(model.labels)):
                for key, pair in _parameters(names[j], law.described(place, c)).items():
                    found.setdefault(key, []).append(pair)
    pairs = np.array(list(found.values())).reshape(len(found), len(model.labels), 2)
    values, variances = pairs[:, :, 0].T, pairs[:, :, 1].T
    counts = np.repeat(model.weights[:, np.newaxis], len(found), axis=1)
    places, kinds = zip(*found, strict=True) if found else ((), ())
    return Estimates(model.labels, places, kinds, values, counts, variances)


def _parameters(name: str, told: dict[object, float]) -> dict[tuple[str, str], tuple[float, float]]:
    if "mean" in told:
        return {(name, MEAN): (told["mean"], told["variance"])}
    if "location" in told:
        return {(name, MEAN): (told["location"], told["scale"] ** 2)}
    if "log_mean" in told:
        return {(f"log {name}", MEAN): (told["log_mean"], told["log_variance"])}
    if "rate" in told:
        return {(name, RATE): (told["rate"], told["rate"])}
    if "weight" in told:
        return {(name, COEFFICIENT): (told["weight"], np.nan)}
    if "probability" in told:
        p = told["probability"]
        return {(name, PROBABILITY): (p, p * (1.0 - p))}
    return {(_level(name, level), PROBABILITY): (p, p * (1.0 - p)) for level, p in told.items()}


def _level(name: str, level: object) -> str:
    """Return how a level of a column is called, or a bin, by its edges."""
    if isinstance(level, tuple):
        return f"{name} {level[0]:g} to {level[1]:g}"
    return f"{name}={'blank' if level is None else level}"


# Linear scores


def _of_coefficients(stored: StoredModel, reference: Label | None) -> Estimates:
    """Return coefficients against one class, with the variances of the fit if it has any."""
    form: LinearForm = stored.state["model"]
    design: Design = stored.state["columns"]
    found: Any = stored.state.get("found")
    place = 0 if reference is None else form.labels.index(reference)
    against = form.against(form.labels[place])
    with np.errstate(invalid="ignore"):
        values = np.column_stack([against.intercepts, against.weights])
    variances = np.full(values.shape, np.nan)
    others = [c for c in range(len(form.labels)) if c != place]
    if name_of(found) == "LogisticFit" and found.covariance_ is not None:
        for c in others:
            variances[c] = np.diagonal(found.covariance(c, place))
    places = ("(intercept)", *design.names)
    if name_of(found) == "LogisticFit" and not found.intercept:
        places, values, variances = places[1:], values[:, 1:], variances[:, 1:]
    return Estimates(
        tuple(form.labels[c] for c in others),
        places,
        (COEFFICIENT,) * len(places),
        values[others],
        np.ones((len(others), len(places))),
        variances[others],
    )
