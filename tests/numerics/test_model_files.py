"""Model files that are not what they should be, and disks that fail: refused in one line."""

from __future__ import annotations

import io
import json
import pickle
import tempfile
import tracemalloc
import warnings
import zipfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import suffice
from suffice.errors import BadFile
from suffice.storage.model_file import read_model
from tests.reference.model_file_mutations import (
    opened,
    with_damaged_bytes,
    written,
    zipped,
)
from tests.reference.model_file_trials import (
    DAMAGES,
    READ,
    REFUSED,
    SavedFile,
    every_file,
    tried,
)
from tests.reference.saved_models import fitted

if TYPE_CHECKING:
    from collections.abc import Callable

SOME = ["shared", "per-class, gaps", "diagonal", "pandas", "naive Bayes", "binned", "held out",
        "multinomial, sparse", "texts", "logistic, separated", "logistic, stream",
        "perceptron"]  # fmt: skip
seeds = st.integers(0, 2**32 - 1)
places = st.integers(0, 2**16)


@cache
def file_of(name: str) -> tuple[bytes, Any, Any]:
    """Return the file of a model, and the rows it was learned from."""
    model, (X, y) = fitted(name, np.random.default_rng(0), 12)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        return (Path(folder) / "model").read_bytes(), X, y


def read(data: bytes) -> Any:
    """Return the model of these bytes, or the refusal: one short line and a hint."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "model.suffice"
        place.write_bytes(data)
        try:
            return suffice.load(place)
        except BadFile as error:
            refusal = error
        # Parts of this are what the file said: it may be long, and of several lines.
        assert str(place) in refusal.problem
        assert "\n" not in refusal.problem + refusal.hint
        assert len(refusal.problem) < len(str(place)) + 250
        return refusal


def refused(data: bytes, expected: str = "") -> None:
    found = read(data)
    assert isinstance(found, BadFile)
    assert expected in str(found)


# Accidents and attacks


@given(st.sampled_from(SOME), seeds)
def test_damaged_bytes_are_refused_or_make_no_difference(name: str, seed: int) -> None:
    data, X, _ = file_of(name)
    damaged = with_damaged_bytes(data, np.random.default_rng(seed))
    found = read(damaged)
    if isinstance(found, BadFile):
        return
    # Dates and versions of zip members are nobody's business; all else has a checksum.
    assert np.array_equal(found.predict(X), read(data).predict(X))
    assert repr(opened(damaged)) == repr(opened(data))


@cache
def files() -> list[SavedFile]:
    """Return a file of every kind and setting."""
    with tempfile.TemporaryDirectory() as folder:
        return list(every_file(Path(folder)))


@pytest.mark.parametrize("what", DAMAGES)
@given(places, seeds)
def test_a_damaged_file_is_refused_or_is_a_model_that_answers(
    what: str, place: int, seed: int
) -> None:
    file = files()[place % len(files())]
    damaged = DAMAGES[what](file.data, np.random.default_rng(seed))
    with tempfile.TemporaryDirectory() as folder:
        verdict = tried(Path(folder) / "model.suffice", damaged, file.X, file.y, learn=True)
        assert verdict in (READ, REFUSED), file.name
        assert [path.name for path in Path(folder).iterdir()] == ["model.suffice"]


def test_files_that_are_not_damaged_are_read(tmp_path: Path) -> None:
    for file in files():
        place = tmp_path / "model.suffice"
        assert tried(place, file.data, file.X, file.y, learn=True) == READ, file.name


@pytest.mark.parametrize("name", SOME)
def test_every_truncation_is_refused(name: str) -> None:
    data, _, _ = file_of(name)
    for size in [*range(0, len(data), 97), len(data) - 1]:
        refused(data[:size])


def changed(name: str, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> bytes:
    """Return the file of a model after a change, with every checksum right."""
    content, arrays = opened(file_of(name)[0])
    change(content, arrays)
    return written(content, arrays)


def members_of(name: str = "shared") -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(file_of(name)[0])) as archive:
        return {entry: archive.read(entry) for entry in archive.namelist()}


def test_the_machinery_of_these_tests_writes_files_that_are_read() -> None:
    for name in SOME:
        assert read(changed(name, lambda *_: None)).classes_.size
    assert read(zipped(members_of())).classes_.size


def test_other_things_by_the_name_of_a_model_are_refused(tmp_path: Path) -> None:
    refused(pickle.dumps({"a": 1}), "is not a model file")
    refused(b"", "is not a model file")
    refused(b"PK\x03\x04", "its end is missing")
    stream = io.BytesIO()
    np.savez(stream, a=np.arange(3))
    refused(stream.getvalue(), "does not belong in it")
    refused(zipped({"model.json": b"{}"}), "model.sha256 is missing")
    with pytest.raises(BadFile, match="is a folder"):
        suffice.load(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"nothing\.suffice"):
        suffice.load(tmp_path / "nothing.suffice")


@pytest.mark.parametrize("name", ["../evil.npy", "/etc/passwd", "arrays/../../x.npy", "arrays/",
                                  "model.pkl", "arrays/object.npy", "a" * 300])  # fmt: skip
def test_members_by_other_names_are_refused(name: str) -> None:
    refused(zipped({**members_of(), name: b"x"}), "does not belong in it")


def test_compressed_encrypted_and_repeated_members_are_refused() -> None:
    refused(zipped(members_of(), zipfile.ZIP_DEFLATED), "compressed or encrypted")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for entry, held in [*members_of().items(), ("model.json", b"{}")]:
            archive.writestr(entry, held)
    refused(stream.getvalue(), "appears twice")
    data = bytearray(file_of("shared")[0])
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= 1
    refused(bytes(data), "compressed or encrypted")


def test_links_folders_and_devices_are_refused() -> None:
    for rights in (0o120777, 0o040755, 0o060666):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for entry, held in members_of().items():
                info = zipfile.ZipInfo(entry)
                info.create_system, info.external_attr = 3, rights << 16
                archive.writestr(info, held)
        refused(stream.getvalue(), "not a plain file")


def test_a_header_that_lies_about_its_array_is_refused() -> None:
    name = "arrays/float64.npy"
    for old, new in (
        (b"(", b"(1"),
        (b",)", b"0)"),
        (b"'<f8'", b"'|O8'"),
        (b"False", b"True "),
        (b"NUMPY\x01", b"NUMPY\x02"),
    ):
        members = members_of("pandas")
        members[name] = members[name].replace(old, new, 1)
        content = json.loads(members["model.json"])
        refused(_rechecked(content, members), "is not one list of float64")


def _rechecked(content: dict[str, Any], members: dict[str, bytes]) -> bytes:
    import hashlib

    content["checksums"] = {
        name: hashlib.sha256(held).hexdigest()
        for name, held in members.items()
        if name.startswith("arrays/")
    }
    text = json.dumps(content).encode()
    digest = hashlib.sha256(text).hexdigest().encode()
    return zipped({**members, "model.json": text, "model.sha256": digest})


def test_a_wrong_checksum_is_refused() -> None:
    members = members_of()
    refused(zipped({**members, "model.sha256": b"0" * 64}), "model.json does not have the checksum")
    other = bytearray(members["arrays/float64.npy"])
    other[-1] ^= 1
    refused(zipped({**members, "arrays/float64.npy": bytes(other)}), "float64.npy does not have")


STRANGE_JSON: list[tuple[bytes, str]] = [
    (b'{"a": ' * 100_000 + b"1" + b"}" * 100_000, "is nested too deep"),
    (b"[" * 100_000, "is nested too deep"),
    (b'{"format": ' + b"9" * 10_000 + b"}", "holds a number of 10000 digits"),
    (b'{"format": 1, "format": 1}', "has a key twice"),
    (b'{"state": {"a": {"b": 1, "b": 2}}}', "has a key twice"),
    (b'{"format": NaN}', "holds NaN"),
    (b'{"format": -Infinity}', "holds -Infinity"),
    (b'"\xff\xfe"', "codec can't decode"),
    (b"", "Expecting value"),
    (b"null", "the arrays differ from those that model.json names"),
    (b"[]", "the arrays differ from those that model.json names"),
    (b"{}", "the arrays differ from those that model.json names"),
    (b'{"checksums": {}}', "is not a suffice model"),
    (b'{"name": "suffice model", "checksums": {}, "format": 1e999}', "has the format inf"),
    (b'{"name": "suffice model", "checksums": {}, "format": true}', "has the format True"),
    (b'{"name": "suffice model", "checksums": {}, "format": 0}', "has the format 0"),
    (b'{"name": "suffice model", "checksums": {}, "format": 1}', "is a None, which is not known"),
    (
        b'{"name": "suffice model", "checksums": {}, "format": 1, "estimator": "Perceptron"}',
        "does not describe a model (KeyError)",
    ),
]


@pytest.mark.parametrize(("text", "words"), STRANGE_JSON, ids=range(len(STRANGE_JSON)))
def test_strange_json_is_refused(text: bytes, words: str) -> None:
    refused(written(text, {}), words)


def test_a_file_of_a_newer_format_says_so() -> None:
    refused(
        changed("shared", lambda c, _: c.update(format=2)),
        "reads up to 1\nHint: pip install --upgrade",
    )
    refused(
        changed("shared", lambda c, _: c.update(estimator="Oracle")), "'Oracle', which is not known"
    )
    refused(changed("shared", lambda c, _: c["settings"].update(depth=3)), "does not describe")


# What cannot be a model


def first(tree: Any, kind: str) -> dict[str, Any]:
    """Return the first object of a kind in a tree."""
    if isinstance(tree, dict) and tree.get("is") == kind:
        return tree
    inside = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    for held in inside:
        if found := first(held, kind):
            return found
    return {}


def part(content: dict[str, Any], arrays: dict[str, Any], kind: str, name: str) -> Any:
    """Return a view of the array of a field, to be changed."""
    tree = first(content["state"], kind)
    place = tree.get("fields", tree.get("arrays"))[name]
    size = int(np.prod(place["shape"]))
    return arrays[place["of"]][place["from"] : place["from"] + size].reshape(place["shape"])


IMPOSSIBLE: dict[str, tuple[str, Any]] = {
    "NaN": ("shared", lambda c, a: part(c, a, "FullNormals", "means").fill(np.nan)),
    "a negative weight": ("shared", lambda c, a: part(c, a, "ByPattern", "0/weights").fill(-1.0)),
    "a scatter that is not symmetric": (
        "shared", lambda c, a: part(c, a, "ByPattern", "0/scatter").__setitem__((0, 1), 9.0),
    ),
    "a negative variance": (
        "shared", lambda c, a: part(c, a, "ByPattern", "0/scatter").__setitem__((0, 0), -1.0),
    ),
    "a correlation above one": (
        "shared", lambda c, a: part(c, a, "ByPattern", "0/scatter").__imul__(
            np.array([[1, 9, 1], [9, 1, 1], [1, 1, 1]])),
    ),
    "squares of two parts": (
        "pandas", lambda c, a: part(c, a, "ByPattern", "0/scatter_low").__setitem__((6, 2), -1e308),
    ),
    "squares of two parts, for each class": (
        "polars",
        lambda c, a: part(c, a, "ByPattern", "0/scatter_low").__setitem__((2, 5, 6), 1e160),
    ),
    "squares of two parts, by column": (
        "naive Bayes", lambda c, a: part(c, a, "ByClass", "0/0/scatter_low").fill(1e3),
    ),
    "a factor that is no triangle": (
        "shared", lambda c, a: part(c, a, "FullNormals", "factors").fill(1.0),
    ),
    "a whitening of something else": (
        "shared", lambda c, a: part(c, a, "FullNormals", "whitenings").__imul__(2.0),
    ),
    "a scale of zero": ("diagonal", lambda c, a: part(c, a, "DiagonalNormals", "scale").fill(0.0)),
    "priors above one": (
        "shared", lambda c, a: part(c, a, "GenerativeModel", "log_priors").fill(1.0),
    ),
    "weights that are not those of the statistics": (
        "shared", lambda c, a: part(c, a, "GenerativeModel", "weights").fill(99.0),
    ),
    "classes that are not those of the statistics": (
        "shared", lambda c, _: first(c["state"], "GenerativeModel")["fields"]["labels"].update(
            items=["a", "b", "x"]),
    ),
    "a class twice": (
        "shared", lambda c, _: first(c["state"], "GenerativeModel")["fields"]["labels"].update(
            items=["a", "a", "c"]),
    ),
    "labels of another type": ("shared", lambda c, _: c["state"].update(labels="<i8")),
    "labels of no type": ("shared", lambda c, _: c["state"].update(labels="|V3")),
    "labels of a structure": ("shared", lambda c, _: c["state"].update(labels="i4,i4")),
    "a column more": ("shared", lambda c, _: c["state"]["columns"]["kinds"].append("number")),
    "a column of no kind": (
        "pandas", lambda c, _: c["state"]["columns"]["kinds"].__setitem__(0, "money"),
    ),
    "a level twice": (
        "pandas", lambda c, _: c["state"]["columns"]["levels"]["1"].__setitem__(0, "red"),
    ),
    "two columns of one name": (
        "pandas", lambda c, _: c["state"]["columns"]["names"].__setitem__(0, "colour"),
    ),
    "a column in two families": (
        "naive Bayes",
        lambda c, _: first(c["state"]["model"], "Product")["fields"]["columns"].update(
            items=[{"is": "tuple", "items": [1]}] * 4),
    ),
    "another family": (
        "naive Bayes",
        lambda c, _: first(c["state"]["model"], "Product")["fields"]["families"]["items"].reverse(),
    ),
    "a θ of other columns": (
        "logistic, stream", lambda c, _: first(c["state"], "Stochastic")["fields"]["theta"].update(
            shape=[4, 3]),
    ),
    "an array that is used twice": (
        "shared", lambda c, _: first(c["state"], "FullNormals")["fields"].update(
            origin_low=first(c["state"], "FullNormals")["fields"]["origin"]),
    ),
    "numbers that nobody uses": ("shared", lambda _, a: a.update(float32=np.zeros(3, np.float32))),
    "a label that is not a number": (
        "fractions", lambda c, _: first(c["state"], "GenerativeModel")["fields"]["labels"].update(
            items=[1.0, {"is": "float", "value": "nan"}]),
    ),
    "deviations beyond all numbers": (
        "diagonal", lambda c, a: part(c, a, "DiagonalNormals", "deviations").fill(1e-300),
    ),
    "units beyond all numbers": (
        "diagonal", lambda c, a: part(c, a, "DiagonalNormals", "scale").fill(1e-320),
    ),
    "more events than cells": (
        "Bernoulli", lambda c, a: part(c, a, "ByClass", "0/0/sums").fill(1e6),
    ),
    "more cells than rows": (
        "naive Bayes", lambda c, a: part(c, a, "ByClass", "0/0/counts").fill(1e6),
    ),
    "more levels than rows": (
        "naive Bayes", lambda c, a: part(c, a, "ByClass", "0/1/held").fill(1e6),
    ),
    "columns of other rows": (
        "naive Bayes", lambda c, a: part(c, a, "ByClass", "0/0/weight").fill(1e6),
    ),
    "coefficients that are not those of the fit": (
        "logistic", lambda c, a: part(c, a, "LogisticFit", "theta").__imul__(2.0),
    ),
    "rows seen that are not those of the fit": (
        "logistic", lambda c, a: part(c, a, "DiagonalMoments", "mean").__setitem__(0, -1e308),
    ),
    "rows seen that vary otherwise than those of the fit": (
        "logistic", lambda c, a: part(c, a, "DiagonalMoments", "scatter").__imul__(4.0),
    ),
    "a choice of something else": ("auto", lambda c, _: c["state"].update(chosen="shared")),
    "no model at all": ("shared", lambda c, _: c["state"].update(model=None)),
    "the model of another estimator": ("shared", lambda c, _: c.update(estimator="Perceptron")),
    "no state": ("shared", lambda c, _: c.pop("state")),
}  # fmt: skip


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_what_cannot_be_a_model_is_refused(what: str) -> None:
    name, change = IMPOSSIBLE[what]
    refused(changed(name, change))


# Memory and time


def _columns(content: dict[str, Any], _: Any) -> None:
    content["state"]["columns"] = {"is": "PlainColumns", "fields": {"width": 10**15}}


def _range(content: dict[str, Any], _: Any) -> None:
    for tree in (content["state"]["model"], content["state"]["chosen"]):
        product = first(tree, "Product")["fields"]["columns"]
        product["items"] = [{"is": "range", "ends": [0, 10**17, 1]}] * len(product["items"])


def _shape(content: dict[str, Any], _: Any) -> None:
    first(content["state"], "FullNormals")["fields"]["origin"]["shape"] = [2**40, 2**40]


def _empty_shape(content: dict[str, Any], _: Any) -> None:
    first(content["state"], "FullNormals")["fields"]["origin"]["shape"] = [0, 2**62]


def _negative_range(content: dict[str, Any], _: Any) -> None:
    model = first(content["state"], "NaiveBayesModel")["fields"]
    model["blank"] = {"is": "range", "ends": [-(10**15), 0, 1]}


def _separated_columns(content: dict[str, Any], _: Any) -> None:
    separation = first(content["state"], "Separation")["fields"]
    separation["columns"] = {"is": "range", "ends": [-(10**15), 0, 1]}


def _empty_patterns(content: dict[str, Any], _: Any) -> None:
    first(content["state"], "ByPattern")["arrays"]["patterns"]["shape"] = [40_000_000, 0]


def _empty_columns(content: dict[str, Any], _: Any) -> None:
    first(content["state"], "FullNormals")["fields"]["factors"]["shape"] = [40_000_000, 0, 0]


def _long_word(content: dict[str, Any], _: Any) -> None:
    words = ["a"] * 4_000 + ["b" * 100_000]
    kinds = {"is": "words", "shape": [len(words)], "items": words}
    first(content["state"], "ByClass")["arrays"]["0/kinds"] = kinds


def _brackets(content: dict[str, Any], arrays: dict[str, Any]) -> None:
    text = np.frombuffer(b"[" + b"[]," * 9_000_000 + b"1]", dtype=np.uint8)
    place = first(content["state"], "ByPattern")["arrays"]["0/labels"]
    place.update({"from": len(arrays["uint8"]), "shape": [len(text)]})
    arrays["uint8"] = np.concatenate([arrays["uint8"], text])


def _tuples_of_one_hash(content: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Numbers with exponents, and tuples inside tuples: made to be slow in a dictionary."""
    labels = [{"is": "Decimal", "text": f"1E+{9 * j}"} for j in range(10_000)]
    text = np.frombuffer(json.dumps(labels).encode(), dtype=np.uint8)
    place = first(content["state"], "ByPattern")["arrays"]["0/labels"]
    place.update({"from": len(arrays["uint8"]), "shape": [len(text)]})
    arrays["uint8"] = np.concatenate([arrays["uint8"], text])


def _deep_label(content: dict[str, Any], _: Any) -> None:
    label: Any = 1
    for _depth in range(30):
        label = {"is": "tuple", "items": [label]}
    first(content["state"], "GenerativeModel")["fields"]["labels"]["items"][0] = label


def _labels(content: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Numbers whose hashes are all equal: a dictionary of them would take hours."""
    numbers = [1 + j * (2**61 - 1) for j in range(100_000)]
    text = np.frombuffer(json.dumps(numbers).encode(), dtype=np.uint8)
    place = first(content["state"], "ByPattern")["arrays"]["0/labels"]
    place.update({"from": len(arrays["uint8"]), "shape": [len(text)]})
    arrays["uint8"] = np.concatenate([arrays["uint8"], text])


def _many_members() -> bytes:
    return zipped({**members_of(), **{f"arrays/{j}.npy": b"" for j in range(60_000)}})


def _many_values() -> bytes:
    return written(b"[" + b"[]," * 9_000_000 + b"[]]", {})


WORST: dict[str, Callable[[], bytes]] = {
    "very many columns": lambda: changed("multinomial, sparse", _columns),
    "a range without an end": lambda: changed("multinomial, sparse", _range),
    "a shape that is too large": lambda: changed("shared", _shape),
    "a shape that is empty and too large": lambda: changed("shared", _empty_shape),
    "blank columns in a range without a beginning": lambda: changed(
        "multinomial, sparse", _negative_range
    ),
    "separated columns in a range without a beginning": lambda: changed(
        "logistic, separated", _separated_columns
    ),
    "forty million empty patterns": lambda: changed("shared", _empty_patterns),
    "forty million classes of no columns": lambda: changed("shared", _empty_columns),
    "a long word among many": lambda: changed("naive Bayes", _long_word),
    "brackets instead of labels": lambda: changed("shared", _brackets),
    "decimals with huge exponents": lambda: changed("shared", _tuples_of_one_hash),
    "a label of labels of labels": lambda: changed("shared", _deep_label),
    "labels of one hash": lambda: changed("shared", _labels),
    "very many members": _many_members,
    "very many values": _many_values,
    "a hundred megabytes of zeros, compressed": lambda: zipped(
        {**members_of(), "arrays/float64.npy": bytes(10**8)}, zipfile.ZIP_DEFLATED
    ),
}


@pytest.mark.parametrize("what", WORST)
def test_the_worst_files_cost_no_memory(what: str, tmp_path: Path) -> None:
    place = tmp_path / "model.suffice"
    place.write_bytes(WORST[what]())
    tracemalloc.start()
    try:
        with pytest.raises(BadFile):
            suffice.load(place)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 * 2**20 + 2 * place.stat().st_size


def test_reading_a_large_model_takes_little_more_than_its_size(tmp_path: Path) -> None:
    place = tmp_path / "model.suffice"
    rows = csr_array(([1.0] * 4, ([0, 1, 2, 3], [0, 1, 2, 3])), shape=(4, 300_000))
    suffice.MultinomialNaiveBayes().fit(rows, list("aabb")).save(place)
    tracemalloc.start()
    try:
        read_model(place)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * place.stat().st_size + 16 * 2**20
