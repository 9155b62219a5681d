"""Whether the parts of a file belong to one model: columns, statistics, labels, and the model."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.rows.cells import CATEGORY
from suffice.statistics.algebra import LEFTOVER, exceeds
from suffice.storage.checks.form_checks import check_form, refusal
from suffice.storage.checks.rules import ROUNDING, TINY
from suffice.storage.known_classes import name_of
from suffice.storage.stored_labels import are_labels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.models.gaussian.law.factored_covariance import Spread
    from suffice.models.gaussian.law.normal import Normal
    from suffice.models.linear.form import LinearForm
    from suffice.models.linear.logistic.result import LogisticFit
    from suffice.models.linear.online.seen_rows import SeenRows
    from suffice.models.naive_bayes.model import NaiveBayesModel
    from suffice.models.naive_bayes.product import Product
    from suffice.statistics.row_sample import RowSample

LINEAR = ("AveragedForm", "LinearForm")
"""Models that are linear in the rows, or an average of such."""
MODELS = (*LINEAR, "GenerativeModel", "NaiveBayesModel", "PoolModel", "TextRecord")
"""Models with classes; the only other one in a file is the `Normal` of a law."""
FRAMES = ("pandas", "polars", "pyarrow", "modin", "cudf")
"""Libraries that samples are given back in."""
TYPES_OF: dict[str, tuple[type, ...]] = {
    "b": (bool,),
    "i": (int,),
    "u": (int,),
    "f": (float,),
    "U": (str,),
    "S": (bytes,),
    "M": (date, datetime, int),  # what NumPy makes of its times depends on their unit
    "m": (timedelta, int),
}
"""Types of single labels, by the kind of the NumPy array that they came in."""


def check_sound(state: Mapping[str, Any]) -> None:
    """Refuse a state whose parts cannot belong to one model."""
    sizes = {}
    for name, value in state.items():
        kind = name_of(value)
        if kind:
            sizes[name] = check_form(value, name)
    model = state["model"]
    if name_of(model) == "Normal":
        _check_law(state, sizes)
        return
    if name_of(model) not in MODELS:
        raise refusal("model", f"is a {type(model).__name__}")
    _check_labels(model.labels, state["labels"])
    _check_frame(state.get("frame"))
    if name_of(model) == "TextRecord":
        _check_texts(state)
    elif name_of(model) == "PoolModel":
        from suffice.storage.checks.sampled_rows import check_pool  # other models have no such rows

        check_pool(state)
    else:
        _check_rows(state, sizes)


def _check_frame(frame: object) -> None:
    """Refuse a library of frames that is none."""
    if frame is not None and frame not in FRAMES:
        raise refusal("frame", f"is of {frame!r:.30}")


def _check_rows(state: Mapping[str, Any], sizes: Mapping[str, Any]) -> None:
    """Refuse a model of rows whose columns, choices or statistics are those of another one."""
    model = state["model"]
    width = sizes["model"]["d"]
    columns = state["columns"]
    if name_of(columns) not in ("Columns", "Design", "PlainColumns"):
        raise refusal("columns", f"are a {type(columns).__name__}")
    if name_of(model) in LINEAR:
        _check_linear(state, sizes, width)
    elif name_of(model) == "GenerativeModel":
        if "mixture" in state and name_of(state["mixture"]) != "MixtureRecord":
            raise refusal("mixture", "is none")
        _check_mixtures(state, sizes)
        if name_of(columns) != "Columns" or columns.width != width:
            raise refusal("columns", f"are not the {width} of the model")
        if state["chosen"] is not None and name_of(state["chosen"]) != "Gaussian":
            raise refusal("chosen", "has no covariances")
    else:
        if name_of(columns) == "Design" or len(columns.columns) != width:
            raise refusal("columns", f"are not the {width} of the model")
        _check_choice(state["chosen"], model)
    if state["statistics"] is not None:
        _check_statistics(state["statistics"], sizes["statistics"], model, width)


def _check_mixtures(state: Mapping[str, Any], sizes: Mapping[str, Any]) -> None:
    """Refuse what is said of mixtures and their streams, if it is said of others."""
    if (name_of(state["model"].densities) == "MixtureLaws") != ("mixtures" in state):
        raise refusal("model", "is not one of classes that are mixtures, or should not be")
    if "stream" in state:
        _check_stream(state)
    if "streams" in state:
        _check_streams(state)
    if "mixtures" not in state:
        return
    if name_of(state["mixtures"]) != "ClassMixtures":
        raise refusal("mixtures", "are none")
    if len(state["mixtures"].forms) != sizes["model"]["k"]:
        raise refusal("mixtures", "are those of other classes")
    if not (state["model"].weights > 0.0).all():  # a stream goes on by the mean over its rows
        raise refusal("model", "has a class of no weight")


def _check_stream(state: Mapping[str, Any]) -> None:
    """Refuse a stream of rows that is not the one of its mixture."""
    stream = state["stream"]
    if "mixture" not in state or name_of(stream) != "MixtureStream":
        raise refusal("stream", "is none")
    from suffice.storage.checks.mixture_rules import stream_flaw  # other files need none

    if why := stream_flaw(stream, state["model"]):
        raise refusal("stream", why)


def _check_streams(state: Mapping[str, Any]) -> None:
    """Refuse streams of classes that are not those of the model."""
    streams, model = state["streams"], state["model"]
    if "mixtures" not in state or name_of(streams) != "ClassStreams":
        raise refusal("streams", "are none")
    width = len(model.densities.origin)
    if streams.labels != model.labels or not np.array_equal(streams.weights, model.weights):
        raise refusal("streams", "are those of other classes")
    if any(one.rows.waiting.shape[1] != width for one in streams.classes):
        raise refusal("streams", f"do not have the {width} columns of the model")
    if not all(one.is_begun for one in streams.classes):
        return  # what waits is fitted when it is asked about
    laws, owners = model.densities, model.densities.owners
    room = ROUNDING * (laws.scale + np.abs(laws.origin))
    for c, one in enumerate(streams.classes):
        own, theirs = np.flatnonzero(owners == c), one.model.densities
        same = theirs.size == len(own)
        if same:
            gaps = np.abs(theirs.class_means - laws.components.class_means[own])
            shares = np.exp(one.model.log_priors) - laws.mixing[c, own]
            same = bool((gaps <= room).all() and (np.abs(shares) <= ROUNDING).all())
        if not same:
            raise refusal("streams", "have come to another model")


def _check_law(state: Mapping[str, Any], sizes: Mapping[str, Any]) -> None:
    """Refuse a normal law whose columns, directions or evidence are those of another one."""
    law: Normal = state["model"]
    spread: Spread = state["spread"]
    columns, width = state["columns"], sizes["model"]
    if name_of(spread) != "Spread" or sizes["spread"]["d"] != width["d"]:
        raise refusal("spread", "is not that of the law")
    plain = name_of(columns) == "Columns" and columns.width == len(columns.columns)
    if not plain or columns.width != width["d"]:
        raise refusal("columns", "are not those of the law")
    if state["evidence"] is not None and name_of(state["evidence"]) != "Evidence":
        raise refusal("evidence", "is none")
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        away = np.abs(law.covariance - spread.factor @ spread.factor.T)
        room = 1e-6 * np.multiply.outer(spread.scale, spread.scale) + TINY
        if not (away <= room).all():
            raise refusal("spread", "is that of another covariance")


def _check_texts(state: Mapping[str, Any]) -> None:
    """Refuse a model of texts whose columns hold none, or whose documents are of other classes."""
    columns, sample, model = state["columns"], state["statistics"], state["model"]
    if name_of(columns) != "Columns" or not columns.columns:
        raise refusal("columns", "are not of texts")
    if any(column.kind != CATEGORY or column.levels for column in columns.columns):
        raise refusal("columns", "are not of texts")
    if sample is None:
        return
    if name_of(sample) != "RowSample":
        raise refusal("statistics", f"are {type(sample).__name__}")
    _check_hashes(sample, "statistics")
    held = dict.fromkeys(model.labels, 0.0)
    for row in sample.rows.values():
        pair = isinstance(row.cells, tuple) and len(row.cells) == 2
        if not pair or not all(type(cell) is str for cell in row.cells):
            raise refusal("statistics", "hold a document that is not text")
        weighs = type(row.weight) in (int, float) and 0.0 < row.weight < np.inf
        if not weighs or not are_labels([row.label]) or row.label not in held:
            raise refusal("statistics", "hold a document of a class that this model lacks")
        if not row.cells[1].isascii() and max(row.cells[1]) > "\xff":
            raise refusal("statistics", "hold a document of symbols that are not bytes")
        held[row.label] += row.weight
    for label, weight in zip(model.labels, model.weights.tolist(), strict=True):
        if exceeds(held[label], weight):
            raise refusal("statistics", "hold more documents than were learned")


def _check_labels(labels: tuple[object, ...], dtype: object) -> None:
    """Refuse labels that are not of the type that they are said to be."""
    if not isinstance(dtype, str) or len(dtype) > 16:
        raise refusal("labels", "are of an unknown type")
    kind = np.dtype(dtype).kind
    if kind != "O" and any(type(label) not in TYPES_OF.get(kind, ()) for label in labels):
        raise refusal("labels", f"are not of the type {dtype}")
    if len({type(label) for label in labels if label is not None}) > 1 and kind != "O":
        raise refusal("labels", "are of several types")


def _check_linear(state: Mapping[str, Any], sizes: Mapping[str, Any], width: int) -> None:
    if name_of(state["columns"]) != "Design" or sizes["columns"]["d"] != width:
        raise refusal("columns", f"are not the {width} of the model")
    model, labels = state["model"], state["model"].labels
    for name in ("found", "seen", "stream"):
        part = state.get(name)
        if part is None:
            continue
        held = getattr(part, "labels", None) or getattr(getattr(part, "online", None), "labels", ())
        if name not in sizes or sizes[name].get("d") != width or held != labels:
            raise refusal(name, "is not of this model")
    found, stream = state.get("found"), state.get("stream")
    _check_path(state)
    if stream is not None:
        _check_form(stream.form(), model, "stream")
    elif found is not None:
        _check_form(found.form, model, "found")
        if state.get("seen") is not None and name_of(found) == "LogisticFit":
            _check_seen(state["seen"], found)


def _check_path(state: Mapping[str, Any]) -> None:
    """Refuse a path of penalties that is none, or that led to another fit."""
    path, found = state.get("path"), state.get("found")
    averaged = name_of(state["model"]) == "AveragedForm"
    if path is None:
        if averaged:
            raise refusal("path", "is not there, and the model is an average over one")
        return
    if name_of(path) != "PenaltyPath":
        raise refusal("path", "is not an average over penalties")
    if averaged and any(state.get(name) is not None for name in ("found", "seen", "stream")):
        raise refusal("found", "is one fit, and the model is an average")
    if found is not None and not np.isclose(found.penalty, path.penalty, rtol=1e-9, atol=0.0):
        raise refusal("found", "has another penalty than its path")


def _check_seen(seen: SeenRows, found: LogisticFit) -> None:
    """Refuse columns of other means or deviations than the fit has: a stream goes on from both."""
    moments = seen.moments
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        deviations = np.where(found.inverse > 0.0, 1.0 / found.inverse, 0.0)
        room = 1e-6 * (np.abs(found.origin) + deviations) + TINY
        share = moments.counts / moments.weight
        near = np.abs(moments.mean * share - found.origin) <= room
        squares = moments.scatter / moments.weight
        if seen.sparse or not found.intercept:  # of the cells that are not zero, or about zero
            squares = squares + share * np.square(moments.mean) - np.square(found.origin)
        if not found.intercept:  # columns are not centred then
            near = found.origin == 0.0
        # What is left of a constant, or of a difference of squares, is rounding.
        rooms = 1e-6 * np.square(deviations) + np.square(room)
        near &= np.abs(squares - np.square(deviations)) <= rooms + (seen.sparse * 1e-6 * squares)
    if not near.all():
        raise refusal("seen", "has other columns than the fit")


def _check_form(form: LinearForm, model: LinearForm, place: str) -> None:
    """Refuse coefficients that are not those of the model.

    An intercept is a difference of larger numbers, of which rounding leaves more: so it is
    compared with the largest.
    """
    for ours, theirs in ((form.weights, model.weights), (form.offsets, model.offsets)):
        finite = np.abs(theirs[np.isfinite(theirs)])
        room = 1e-9 * finite.max(initial=0.0)
        if ours.shape != theirs.shape or not np.allclose(ours, theirs, rtol=1e-6, atol=room):
            raise refusal(place, "has other coefficients than the model")


def _check_choice(chosen: object, model: NaiveBayesModel) -> None:
    if not isinstance(chosen, dict) or set(chosen) != {"asked", "product"}:
        raise refusal("chosen", "has no families")
    check_form(chosen["product"], "chosen")  # 0.0 would be equal to 0, and is no place
    if chosen["product"] != model.product:
        raise refusal("chosen", "has other families than the model")


def _check_statistics(statistics: Any, sizes: Mapping[str, int], model: Any, width: int) -> None:
    """Refuse statistics of other classes, columns or weights than the model was learned from."""
    naive = name_of(model) == "NaiveBayesModel"
    whole = statistics
    known = ("WithRows", "Folds" if naive else "ByPattern", "ByClass")
    if name_of(whole) not in known:
        raise refusal("statistics", f"are {type(whole).__name__}")
    whole = getattr(whole, "held", whole)
    whole = getattr(whole, "whole", whole)
    if tuple(whole.labels) != model.labels:
        raise refusal("statistics", "are of other classes than the model")
    if naive:
        for group in whole.groups.values():
            _check_parts(group, model.product)
        if name_of(statistics) == "WithRows":
            _check_sample(statistics.sample, whole, model)
    elif sizes.get("d") != width:
        raise refusal("statistics", f"are not of the {width} columns of the model")
    elif name_of(statistics) == "WithRows":
        _check_coded_sample(statistics.sample, model, width)
    if not np.isclose(whole.weight, float(model.weights.sum()), rtol=1e-9):
        raise refusal("statistics", f"weigh {whole.weight:g}, the model {model.weights.sum():g}")


def _check_parts(group: Any, product: Product) -> None:
    parts = getattr(group, "parts", ())
    if len(parts) != len(product.families):
        raise refusal("statistics", "are of other families than the model")
    for part, family, columns in zip(parts, product.families, product.columns, strict=True):
        if name_of(part) != family.statistics or part.width != len(columns):
            raise refusal("statistics", f"of {family.name} columns are {type(part).__name__}")
        if not np.isclose(part.weight, group.weight, rtol=1e-6, atol=LEFTOVER):
            raise refusal("statistics", f"of {family.name} columns weigh {part.weight:g}")
        if why := family.statistics_flaw(part):
            raise refusal("statistics", why)


def _check_sample(sample: Any, whole: Any, model: Any) -> None:
    """Refuse sampled rows that are not among those the statistics are of."""
    from suffice.models.naive_bayes.row_samples import are_cells  # no other model has such rows

    product = model.product
    shown = {
        label: [[set(v) for v in getattr(part, "levels", ())] for part in group.parts]
        for label, group in whole.groups.items()
    }
    _check_hashes(sample, "statistics.sample")
    held = dict.fromkeys(shown, 0.0)
    for row in sample.rows.values():
        fits = isinstance(row.cells, tuple) and len(row.cells) == len(product.families)
        weighs = type(row.weight) in (int, float) and 0.0 < row.weight < np.inf
        if not fits or not weighs or not are_labels([row.label]) or row.label not in shown:
            raise refusal("statistics.sample", "holds a row that does not belong to this model")
        parts = zip(row.cells, product.families, product.columns, shown[row.label], strict=True)
        for cells, family, columns, levels in parts:
            if not are_cells(cells, family, len(columns), levels):
                raise refusal("statistics.sample", "holds a row with other columns")
        held[row.label] += row.weight
    if any(exceeds(held[label], group.weight) for label, group in whole.groups.items()):
        raise refusal("statistics.sample", "holds more rows than were learned")


def _check_coded_sample(sample: Any, model: Any, width: int) -> None:
    """Refuse sampled rows of normal classes that are not as wide, or more than were learned."""
    _check_hashes(sample, "statistics.sample")
    held = dict.fromkeys(model.labels, 0.0)
    for row in sample.rows.values():
        one = isinstance(row.cells, tuple) and len(row.cells) == 1
        fits = one and isinstance(row.cells[0], tuple) and len(row.cells[0]) == width
        weighs = type(row.weight) in (int, float) and 0.0 < row.weight < np.inf
        if not fits or not weighs or not are_labels([row.label]) or row.label not in held:
            raise refusal("statistics.sample", "holds a row that does not belong to this model")
        if not all(type(cell) is float and abs(cell) != np.inf for cell in row.cells[0]):
            raise refusal("statistics.sample", "holds a row with other columns")  # NaN is a blank
        held[row.label] += row.weight
    for label, weight in zip(model.labels, model.weights.tolist(), strict=True):
        if exceeds(held[label], weight):
            raise refusal("statistics.sample", "holds more rows than were learned")


def _check_hashes(sample: RowSample, place: str) -> None:
    from suffice.storage.checks.sampled_rows import check_hashes  # few models keep rows

    check_hashes(sample, place)
