"""Guards of the file itself: its members, its sizes, and which model it says that it is."""

from __future__ import annotations

import io
import struct
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import suffice
from suffice.errors import BadFile, BadSetting
from suffice.rows import read_table
from suffice.statistics import Moments
from suffice.storage import archive, stored_labels
from suffice.storage.archive import PackedArrays, StoredArrays, write_archive
from suffice.storage.model_file import (
    read_checkpoint,
    read_model,
    stored_posterior,
    write_checkpoint,
)
from suffice.storage.object_trees import grown, planted
from suffice.storage.stored_labels import check_texts
from suffice.storage.tree_checks import DEEPEST
from tests.numerics.test_model_files import changed, file_of, members_of, read, refused
from tests.reference.model_file_mutations import opened, written, zipped

if TYPE_CHECKING:
    from pathlib import Path


def with_sizes(data: bytes, name: str, size: int) -> bytes:
    """Return a zip that says of a member, twice, that it has another size."""
    found = bytearray(data)
    with zipfile.ZipFile(io.BytesIO(data)) as held:
        at = held.getinfo(name).header_offset
    struct.pack_into("<II", found, at + 18, size, size)
    directory = found.index(b"PK\x01\x02")
    while found[directory + 46 : directory + 46 + len(name)] != name.encode():
        directory = found.index(b"PK\x01\x02", directory + 4)
    struct.pack_into("<II", found, directory + 20, size, size)
    return bytes(found)


def test_members_that_are_larger_than_the_file_take_no_memory() -> None:
    data = file_of("shared")[0]
    same = len(members_of()["arrays/float64.npy"])
    assert with_sizes(data, "arrays/float64.npy", same) == data
    for size in (same + len(data), (1 << 32) - 2):
        refused(
            with_sizes(data, "arrays/float64.npy", size), "its members are larger than the file"
        )


def test_a_member_that_is_shorter_than_it_says_is_refused() -> None:
    members = members_of()
    with (
        zipfile.ZipFile(io.BytesIO(zipped(members))) as held,
        pytest.raises(archive._Damage, match="is cut short"),
    ):
        archive._read(held, "model.json", len(members["model.json"]) + 1)


def test_a_checksum_is_no_longer_than_it_may_be() -> None:
    refused(zipped({**members_of(), "model.sha256": b"0" * 65}), "model.sha256 is missing or too")


def test_arrays_that_nobody_names_are_refused() -> None:
    name = "arrays/float32.npy"
    more = zipped({**members_of(), name: members_of()["arrays/float64.npy"]})
    refused(more, "the arrays differ from those that model.json names")
    fewer = {entry: held for entry, held in members_of().items() if "float64" not in entry}
    refused(zipped(fewer), "the arrays differ from those that model.json names")


@pytest.mark.parametrize(
    "end", [b"", b"PK\x05\x06" + bytes(16), b"PK\x05\x06" + bytes(16) + b"\1\0"]
)
def test_a_file_that_does_not_end_like_one_is_refused(end: bytes) -> None:
    refused(file_of("shared")[0][:-22] + end, "its end is missing")


def test_a_small_file_does_not_count_its_members_like_a_large_one() -> None:
    data = file_of("shared")[0]
    refused(data[:-22] + b"PK\x06\x07" + bytes(16) + data[-22:], "or its directory is unusual")


def test_a_description_that_could_not_be_read_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "LARGEST_TEXT", 1000)
    place = tmp_path / "model"
    write_archive(place, {"few": "x" * 100}, PackedArrays())
    held = place.read_bytes()
    with pytest.raises(BadFile, match="too many for a model file"):
        write_archive(place, {"many": "x" * 1000}, PackedArrays())
    assert place.read_bytes() == held


# Which model it is


@pytest.mark.parametrize(
    ("name", "other"),
    [("shared", "Perceptron"), ("naive Bayes", "GaussianDiscriminant"),
     ("logistic", "MultinomialNaiveBayes"), ("texts", "MultivariateNormal"),
     ("perceptron", "TextClassifier")],
)  # fmt: skip
def test_a_file_holds_the_kind_of_model_that_its_estimator_has(name: str, other: str) -> None:
    refused(changed(name, lambda c, _: c.update(estimator=other)), f"is not that of a {other}")


def test_settings_have_words_for_names() -> None:
    strange = {"is": "dict", "pairs": [[1, 2]]}
    refused(changed("shared", lambda c, _: c.update(settings=strange)), "(TypeError)")
    refused(changed("shared", lambda c, _: c.update(settings=3)), "(TypeError)")


def test_a_law_is_not_asked_for_classes(tmp_path: Path) -> None:
    place = tmp_path / "law"
    suffice.MultivariateNormal([0.0], [[1.0]]).save(place)
    with pytest.raises(BadSetting, match="there is nothing to predict"):
        stored_posterior(read_model(place), read_table([[0.0]]))


def test_a_model_is_no_checkpoint_and_a_checkpoint_no_model(tmp_path: Path) -> None:
    place = tmp_path / "state"
    write_checkpoint(place, {"parts": 3})
    refused(place.read_bytes(), "is not a suffice model")
    place.write_bytes(file_of("shared")[0])
    with pytest.raises(BadFile, match="is not a suffice checkpoint of format 1"):
        read_checkpoint(place)


def test_a_model_is_looked_through_before_anything_is_made_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a tree that is refused, no part has become an object."""
    from suffice.storage import model_file

    made: list[Any] = []
    whole = model_file.grown
    monkeypatch.setattr(model_file, "grown", lambda *a: made.append(a) or whole(*a))
    assert not isinstance(read(file_of("shared")[0]), BadFile)
    assert made
    long = {"is": "range", "ends": [0, 10**9, 1]}
    for part in ("settings", "state"):
        made.clear()
        refused(changed("shared", lambda c, _, at=part: c[at].update(more=long)), "a range of")
        assert not made


def test_the_helpers_of_these_tests_do_not_damage_what_they_do_not_mean() -> None:
    content, arrays = opened(file_of("shared")[0])
    assert content["estimator"] == "GaussianDiscriminant"
    assert isinstance(arrays["float64"], np.ndarray)


# Trees and what they become


def grown_of(tree: Any) -> Any:
    return grown(tree, StoredArrays({}))


UNKNOWN: dict[str, Any] = {
    "a number of more than 64 bits": 1 << 64,
    "a list": [1],
    "a kind that is no word": {"is": 3},
    "a kind that is not known": {"is": "os.system", "command": "true"},
    "words that are numbers": {"is": "words", "shape": [1], "items": [1]},
    "a key twice": {"is": "dict", "pairs": [[1, 2], [1.0, 3]]},
    "levels of a column that is not there": {
        "is": "Columns", "names": None, "kinds": ["category"], "levels": {"7": ["a"]},
    },
    "levels that no cell can be": {
        "is": "Columns", "names": None, "kinds": ["category"],
        "levels": {"0": [{"is": "date", "text": "2026-01-01"}]},
    },
}  # fmt: skip


@pytest.mark.parametrize("what", UNKNOWN)
def test_nothing_is_made_of_a_tree_that_is_not_known(what: str) -> None:
    with pytest.raises(BadFile, match="is not part of a model"):
        grown_of(UNKNOWN[what])


def test_nothing_is_made_of_a_tree_that_is_too_deep() -> None:
    deep: Any = 1
    for _ in range(DEEPEST + 1):
        deep = {"is": "tuple", "items": [deep]}
    assert grown_of(deep)
    with pytest.raises(BadFile, match="is not part of a model"):
        grown_of({"is": "tuple", "items": [deep]})


@pytest.mark.parametrize("fields", [{"bins": 3, "edges": None, "colour": "red"}, {"edges": None}])
def test_an_object_of_other_fields_may_be_of_a_newer_version(fields: dict[str, Any]) -> None:
    with pytest.raises(BadFile, match="pip install --upgrade"):
        grown_of({"is": "Separation", "fields": fields})


@pytest.mark.parametrize(
    ("value", "words"),
    [(object(), "cannot be stored"),
     (np.array(["x" * 65]), "an array of text that contains")],
)  # fmt: skip
def test_what_could_not_be_read_again_is_not_written(value: Any, words: str) -> None:
    with pytest.raises(BadFile, match=words):
        planted(value, PackedArrays())


@pytest.mark.parametrize(
    "text",
    [
        b'{"a": 1}',
        b"not JSON",
        b"[" * 100_000,
        b'["\xc3\xa4"]',
        b"[" + b"9" * 100 + b"]",
        b"[NaN]",
        b"[[1]]",
    ],
)
def test_texts_of_statistics_are_lists_of_labels(text: bytes) -> None:
    good = np.frombuffer(b'["a", 1, null]', dtype=np.uint8)
    check_texts({"0/labels": good, "0/sums": np.zeros(3)})
    with pytest.raises(BadFile, match="are not labels"):
        check_texts({"0/labels": np.frombuffer(text, dtype=np.uint8)})


@pytest.mark.parametrize(
    "array", [[91, 93], np.zeros(2), np.zeros((1, 2), dtype=np.uint8)], ids=["list", "f8", "2-d"]
)
def test_texts_of_statistics_are_bytes(array: Any) -> None:
    with pytest.raises(BadFile, match="are not labels"):
        check_texts({"levels": array})


def test_texts_of_statistics_have_no_more_values_than_labels_can_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stored_labels, "MOST_PARTS", 3)
    check_texts({"labels": np.frombuffer(b"[1, 2, 3]", dtype=np.uint8)})
    with pytest.raises(BadFile, match="are not labels"):
        check_texts({"labels": np.frombuffer(b"[1, 2, 3, 4]", dtype=np.uint8)})


def test_statistics_in_lists_of_a_checkpoint_have_their_form(tmp_path: Path) -> None:
    place = tmp_path / "state"
    write_checkpoint(place, {"parts": [Moments.of([[1.0, 2.0], [3.0, 5.0]])]})
    content, arrays = opened(place.read_bytes())
    arrays["float64"][-4:] = np.nan
    place.write_bytes(written(content, arrays))
    with pytest.raises(BadFile, match=r"state\.parts\[0\]"):
        read_checkpoint(place)


def test_numbers_of_a_checkpoint_belong_to_somebody(tmp_path: Path) -> None:
    place = tmp_path / "state"
    write_checkpoint(place, {"numbers": np.arange(3.0)})
    content, arrays = opened(place.read_bytes())
    arrays["float64"] = np.arange(5.0)
    place.write_bytes(written(content, arrays))
    with pytest.raises(BadFile, match="2 numbers of float64 belong to no array"):
        read_checkpoint(place)
