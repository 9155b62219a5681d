"""What a model file says agrees with itself, or the file is refused: one file, one answer."""

from __future__ import annotations

import json
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import suffice
from suffice.errors import BadFile
from suffice.rows import read_table
from suffice.statistics import Moments
from suffice.storage.model_file import (
    read_checkpoint,
    read_model,
    stored_posterior,
    write_checkpoint,
)
from tests.numerics.test_model_files import changed, file_of, first, part, read, refused
from tests.reference.forged_models import put_together, taken_apart
from tests.reference.model_file_mutations import opened, written

if TYPE_CHECKING:
    from pathlib import Path


# Memory


def _dense(content: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Many objects in few bytes, each of a kind that may be: more than a model has."""
    content["settings"]["priors"] = {
        "is": "tuple", "items": [{"is": "tuple", "items": []} for _ in range(20_000)]
    }  # fmt: skip
    _bracketed(content, arrays, 100_000)


def _bracketed(content: dict[str, Any], arrays: dict[str, Any], size: int) -> None:
    text = np.frombuffer(b"[" + b"[]," * size + b"1]", dtype=np.uint8)
    place = first(content["state"], "ByPattern")["arrays"]["0/labels"]
    place.update({"from": len(arrays["uint8"]), "shape": [len(text)]})
    arrays["uint8"] = np.concatenate([arrays["uint8"], text])


@pytest.mark.parametrize(
    "change", [_dense, lambda c, a: _bracketed(c, a, 200_000)], ids=["objects", "brackets"]
)
def test_no_file_takes_more_than_64_times_its_size(change: Any, tmp_path: Path) -> None:
    place = tmp_path / "model.suffice"
    place.write_bytes(changed("shared", change))
    tracemalloc.start()
    try:
        with pytest.raises(BadFile):
            suffice.load(place)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64 * 2**20 + 64 * place.stat().st_size


# One file, one answer


CONTRADICTIONS: dict[str, tuple[str, Any]] = {
    "other means": ("shared", lambda c, a: part(c, a, "FullNormals", "means").__iadd__(0.1)),
    "other variances": (
        "diagonal", lambda c, a: part(c, a, "DiagonalNormals", "deviations").__imul__(1.1),
    ),
    "other priors": (
        "shared", lambda c, a: part(c, a, "GenerativeModel", "log_priors").__setitem__(
            slice(None), np.log([0.5, 0.25, 0.25])),
    ),
    "priors that the settings do not give": (
        "priors", lambda c, _: c["settings"].update(priors={"a": 0.25, "b": 0.25, "c": 0.5}),
    ),
    "another smoothing": ("multinomial", lambda c, _: c["settings"].update(smoothing=0.5)),
    "another temperature": (
        "naive Bayes", lambda c, _: first(c["state"], "NaiveBayesModel")["fields"].update(
            temperature=0.5),
    ),
    "other rates": (
        "named families", lambda c, a: part(c, a, "PoissonColumns", "slopes").__iadd__(0.01),
    ),
    "other statistics": (
        "named families", lambda c, a: part(c, a, "ByClass", "0/0/mean").__iadd__(5.0),
    ),
    "another shrinkage": ("shared, shrunk", lambda c, _: c["settings"].update(shrink=0.4)),
    "another covariance": ("shared", lambda c, _: c["settings"].update(covariance="per-class")),
    "other families": ("named families", lambda c, _: c["settings"].update(families="auto")),
    "another threshold": ("Bernoulli", lambda c, _: c["settings"].update(threshold=0.0)),
    "other calibrated texts": ("texts, language", lambda c, _: c["settings"].update(order=4)),
}  # fmt: skip


@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_a_model_that_is_not_what_its_statistics_become_is_refused(what: str) -> None:
    name, change = CONTRADICTIONS[what]
    refused(changed(name, change))


@pytest.mark.parametrize("name", ["shared", "per-class, gaps", "naive Bayes", "held out", "texts"])
def test_whoever_reads_a_file_has_the_same_model(name: str, tmp_path: Path) -> None:
    data, X, _ = file_of(name)
    place = tmp_path / "model.suffice"
    place.write_bytes(data)
    stored = read_model(place)
    assert np.array_equal(
        stored_posterior(stored, read_table(X)), suffice.load(place).predict_proba(X)
    )


def test_models_that_differ_by_rounding_are_read(tmp_path: Path) -> None:
    # Another version of NumPy may have added up in another order.
    def rounded(content: dict[str, Any], arrays: dict[str, Any]) -> None:
        part(content, arrays, "FullNormals", "means").__imul__(1.0 + 1e-12)
        part(content, arrays, "FullNormals", "factors").__imul__(1.0 + 1e-12)

    assert not isinstance(read(changed("shared", rounded)), BadFile)


INSIDE: dict[str, tuple[str, Any]] = {
    "bins that are not there": (
        "binned", lambda c, a: _with_text(c, a, "levels", lambda v: [*v[:-1], 99]),
    ),
    "levels that are no cells": (
        "named families", lambda c, a: _with_text(
            c, a, "levels", lambda v: [{"is": "date", "text": "2026-01-01"}, *v[1:]]),
    ),
    "weights next to nothing": (
        "named families", lambda c, a: part(c, a, "ByClass", "0/weight").fill(1e-310),
    ),
    "rates below zero": (
        "named families", lambda c, a: part(c, a, "PoissonColumns", "offsets").fill(0.5),
    ),
    "a rank beyond its columns": (
        "shared", lambda c, _: first(c["state"], "FullNormals")["fields"].update(rank=2**64 - 1),
    ),
    "a library that is none": ("pandas", lambda c, _: c["state"].update(frame="abacus")),
}  # fmt: skip


def _with_text(content: Any, arrays: Any, name: str, change: Any) -> None:
    """Change a JSON text in the statistics, and lay the bytes out anew."""
    held = first(content["state"], "ByClass")["arrays"]
    place = next(held[key] for key in held if key.endswith(f"/{name}"))
    start, size = place["from"], place["shape"][0]
    flat = arrays["uint8"]
    told = change(json.loads(flat[start : start + size].tobytes()))
    text = np.frombuffer(json.dumps(told).encode(), dtype=np.uint8)
    arrays["uint8"] = np.concatenate([flat[:start], text, flat[start + size :]])
    for other in held.values():
        if other.get("of") == "uint8" and other["from"] > start:
            other["from"] += len(text) - size
    place["shape"] = [len(text)]


@pytest.mark.parametrize("what", INSIDE)
def test_statistics_that_no_rows_have_are_refused(what: str) -> None:
    name, change = INSIDE[what]
    refused(changed(name, change))


@pytest.mark.parametrize(
    "part_of", [{"is": "range", "ends": [-(10**15), 0, 1]}, {"is": "words", "shape": [1],
                "items": ["x" * 100]}, [1], {"is": "array", "of": "float64", "from": 0,
                "shape": [40_000_000, 0]}],
    ids=["range", "words", "list", "shape"],
)  # fmt: skip
def test_checkpoints_are_checked_like_models(part_of: Any, tmp_path: Path) -> None:
    place = tmp_path / "state"
    write_checkpoint(place, {"parts": 3, "statistics": Moments.of([[1.0, 2.0], [3.0, 5.0]])})
    assert read_checkpoint(place)["parts"] == 3
    content, arrays = opened(place.read_bytes())
    content["state"]["parts"] = part_of
    place.write_bytes(written(content, arrays))
    with pytest.raises(BadFile):
        read_checkpoint(place)


def test_statistics_of_a_checkpoint_have_their_form(tmp_path: Path) -> None:
    place = tmp_path / "state"
    write_checkpoint(place, {"statistics": Moments.of([[1.0, 2.0], [3.0, 5.0]])})
    content, arrays = opened(place.read_bytes())
    arrays["float64"][-4:] = np.nan
    place.write_bytes(written(content, arrays))
    with pytest.raises(BadFile):
        read_checkpoint(place)


def test_priors_of_a_model_without_statistics_are_those_of_its_settings(tmp_path: Path) -> None:
    place = tmp_path / "model.suffice"
    rows, labels = [[0.0], [1.0], [4.0], [6.0]], list("aabb")
    model = suffice.GaussianDiscriminant(priors={"a": 0.5, "b": 0.5}).fit(rows, labels)
    model.save(place, statistics=False)
    content, arrays = opened(place.read_bytes())
    content["settings"]["priors"].update({"a": 0.9, "b": 0.1})
    place.write_bytes(written(content, arrays))
    with pytest.raises(BadFile, match="other priors than its settings"):
        suffice.load(place)


def test_classes_of_mixtures_have_the_priors_of_their_weights(tmp_path: Path) -> None:
    """Nothing else in the file tells how many rows a class had: no statistics are kept."""
    rng = np.random.default_rng(8)
    place = tmp_path / "model.suffice"
    y = np.repeat(["a", "b"], 20)
    model = suffice.MixtureDiscriminant(1).fit(rng.normal(size=(40, 2)) + (y == "b")[:, None], y)
    model.save(place)
    whole = place.read_bytes()
    for factor in (1e-20, 1.0 + 1e-9, 3.0):
        content = taken_apart(whole)
        weights = content["state"]["model"]["fields"]["weights"]["data"]
        weights[0] *= factor
        place.write_bytes(put_together(content))
        with pytest.raises(BadFile, match="other priors than the weights of its classes"):
            suffice.load(place)
    place.write_bytes(put_together(taken_apart(whole)))
    assert np.array_equal(suffice.load(place).priors_, model.priors_)


@pytest.mark.parametrize("given", [None, {"a": 0.3, "b": 0.7}])
def test_classes_of_mixtures_answer_alike_to_the_last_digit_of_a_prior(
    given: dict[str, float] | None, tmp_path: Path
) -> None:
    """A file of another system may have priors of another logarithm."""
    rng = np.random.default_rng(9)
    place = tmp_path / "model.suffice"
    y = np.repeat(["a", "b"], [15, 25])
    X = rng.normal(size=(40, 2)) + (y == "b")[:, None]
    suffice.MixtureDiscriminant(1, priors=given).fit(X, y).save(place)
    content = taken_apart(place.read_bytes())
    logs = content["state"]["model"]["fields"]["log_priors"]["data"]
    logs[:] = [float(np.nextafter(one, 0.0)) for one in logs]
    place.write_bytes(put_together(content))
    said = stored_posterior(read_model(place), read_table(X))
    np.testing.assert_array_equal(said, suffice.load(place).predict_proba(X))
