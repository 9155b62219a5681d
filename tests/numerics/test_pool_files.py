"""Files of pools: a lie about members, shares or rows is refused in words, never answered."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice
from suffice.errors import Approximation, BadFile
from suffice.models.pool.model import RECIPE
from suffice.storage.model_file import read_model, write_model
from tests.reference.model_file_mutations import opened, written
from tests.reference.model_file_trials import DAMAGES, READ, REFUSED, tried

if TYPE_CHECKING:
    from collections.abc import Callable

MEMBERS = ("naive Bayes", "GDA", "logistic", "forest")


def table(size: int = 30) -> tuple[pd.DataFrame, list[str]]:
    """Return rows of a number, a category and a truth, with blanks."""
    rng = np.random.default_rng(5)
    codes = np.arange(size) % 2
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=size) + codes,
            "colour": np.array(["red", "blue", None], dtype=object)[rng.integers(3, size=size)],
            "member": rng.random(size) < 0.3 + 0.4 * codes,
        }
    )
    frame.loc[::7, "size"] = np.nan
    return frame, [("no", "yes")[code] for code in codes]


@cache
def saved() -> tuple[bytes, pd.DataFrame, list[str]]:
    """Return the file of a pool, and its rows."""
    frame, labels = table()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "pool.suffice"
        suffice.Pool(MEMBERS).fit(frame, labels).save(place)
        return place.read_bytes(), frame, labels


class Opened:
    """What a file says, open to lies."""

    def __init__(self) -> None:
        self.content, self.arrays = opened(saved()[0])

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of the model."""
        found: dict[str, Any] = self.content["state"]["model"]["fields"]
        return found

    def array(self, held: Any) -> Any:
        """Return the part of the arrays that a tree points to; it can be written to."""
        size = int(np.prod(held["shape"]))
        return self.arrays[held["of"]][held["from"] : held["from"] + size]

    def sample(self, name: str) -> Any:
        """Return an array of the sampled rows."""
        return self.array(self.content["state"]["statistics"]["arrays"][f"sample/{name}"])

    def rewrite_rows(self, change: Callable[[list[Any]], None]) -> None:
        """Change the text of the sampled rows, which keeps its length: blanks fill it up."""
        part = self.sample("rows")
        rows = json.loads(part.tobytes())
        change(rows)
        text = json.dumps(rows, separators=(",", ":")).encode()
        assert len(text) <= len(part)
        part[:] = np.frombuffer(text.ljust(len(part)), dtype=np.uint8)

    def read(self, place: Path) -> Any:
        """Return the model that the file is now."""
        place.write_bytes(written(self.content, self.arrays))
        return suffice.load(place)


def _set(name: str, value: Any) -> Callable[[Opened], None]:
    def lie(file: Opened) -> None:
        file.fields[name] = value

    return lie


def _shares(change: Callable[[Any], None], name: str = "shares") -> Callable[[Opened], None]:
    def lie(file: Opened) -> None:
        held = file.fields[name]
        change(file.array(held["items"][1] if name == "grids" else held))

    return lie


def _swapped(part: Any) -> None:
    part[0] += 0.5


def _negative(part: Any) -> None:
    part[0], part[1] = part[0] + part[1] + 1.0, -1.0


def _nan(part: Any) -> None:
    part[0] = np.nan


def _rows(change: Callable[[list[Any]], None]) -> Callable[[Opened], None]:
    return lambda file: file.rewrite_rows(change)


def _text_for_a_number(rows: list[Any]) -> None:
    rows[0][0][0] = "x"


def _infinite(rows: list[Any]) -> None:
    rows[0][0][0] = float("inf")


def _two_for_a_truth(rows: list[Any]) -> None:
    rows[0][0][2] = 2


def _fewer_cells(rows: list[Any]) -> None:
    del rows[0][0][2]


def _unknown_label(rows: list[Any]) -> None:
    rows[0][1] = "oh"


def _one_class_gone(rows: list[Any]) -> None:
    for row in rows:
        row[1] = "no"


def _weight(value: float) -> Callable[[Opened], None]:
    def lie(file: Opened) -> None:
        file.sample("weights")[0] = value

    return lie


def _members(*names: str) -> Callable[[Opened], None]:
    return _set("members", {"is": "tuple", "items": list(names)})


def _asked(file: Opened) -> None:
    file.content["settings"]["members"] = {"is": "list", "items": ["forest"]}


def _class_weight(file: Opened) -> None:
    file.array(file.fields["weights"])[0] += 1.0


LIES: dict[str, tuple[Callable[[Opened], None], str]] = {
    "shares of more than 1": (_shares(_swapped), "do not add up to 1"),
    "a negative share": (_shares(_negative), "which no weight is"),
    "a share that is not a number": (_shares(_nan), "which no weight is"),
    "a grid of more than 1": (_shares(_swapped, "grids"), "do not add up to 1"),
    "an infinite log-loss": (_set("log_loss", {"is": "float", "value": "inf"}), "not a weight"),
    "judged log-losses that are none": (_shares(_nan, "log_losses"), "which no weight is"),
    "an accuracy of 2": (_set("accuracy", 2.0), "is right in 2 of all rows"),
    "an unknown member": (_members("GDA", "x", "logistic", "forest", "class shares"), "each once"),
    "a member twice": (_members("GDA", "GDA", "logistic", "forest", "class shares"), "each once"),
    "no class shares": (
        _members("naive Bayes", "GDA", "logistic", "forest", "kernel logistic"),
        "each once",
    ),
    "members that nobody asked for": (_asked, "the settings ask for"),
    "another recipe": (_set("recipe", RECIPE + 1), "fit it again"),
    "an unknown kind": (
        _set("kinds", {"is": "tuple", "items": ["number", "category", "x"]}),
        "of an unknown kind",
    ),
    "other kinds than the columns": (
        _set("kinds", {"is": "tuple", "items": ["number", "category", "number"]}),
        "are not those of the model",
    ),
    "other class weights": (_class_weight, "the model"),
    "text for a number": (_rows(_text_for_a_number), "a row with other columns"),
    "an infinite number": (_rows(_infinite), "a row with other columns"),
    "a truth of 2": (_rows(_two_for_a_truth), "a row with other columns"),
    "fewer cells": (_rows(_fewer_cells), "a row with other columns"),
    "a label that is none": (_rows(_unknown_label), "not belong to this model"),
    "no row of a class": (_rows(_one_class_gone), "statistics.sample"),
    "a row of weight 0": (_weight(0.0), "not belong to this model"),
    "a row of weight NaN": (_weight(float("nan")), "not belong to this model"),
    "more rows than were learned": (_weight(99.0), "more rows than were learned"),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_refused_in_words(lie: str, tmp_path: Path) -> None:
    change, expected = LIES[lie]
    file = Opened()
    change(file)
    with pytest.raises(BadFile) as refusal:
        file.read(tmp_path / "pool.suffice")
    assert expected in str(refusal.value)
    assert "Hint: " in str(refusal.value)


def _written_anew(place: Path, **parts: Any) -> None:
    """Write the file with other parts of its state, as a program that means no harm might."""
    place.write_bytes(saved()[0])
    stored = read_model(place)
    model = replace(stored.state["model"], sample=None)
    state = {**stored.state, "model": model, **parts}
    write_model(place, replace(stored, state=state))


def test_a_grid_of_other_settings_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "pool.suffice"
    _written_anew(place)
    model = suffice.load(place).model_
    grids = (model.grids[0], model.grids[2], *model.grids[2:])
    _written_anew(place, model=replace(model, sample=None, grids=grids))
    with pytest.raises(BadFile, match="of 'GDA' are not those that these rows allow"):
        suffice.load(place)


def test_a_member_that_these_rows_do_not_allow_is_refused(tmp_path: Path) -> None:
    frame, labels = table(3)
    place = tmp_path / "pool.suffice"
    with pytest.warns(Approximation, match="left out of the pool.*forest"):
        small = suffice.Pool(MEMBERS).fit(frame, labels)
    assert small.left_out_ == ("forest",)
    small.save(place)
    stored = read_model(place)
    model = stored.state["model"]
    grown = replace(
        model,
        sample=None,
        members=("naive Bayes", "GDA", "forest", "class shares"),
        grids=(*model.grids[:2], np.ones(1), model.grids[3]),
    )
    write_model(place, replace(stored, state={**stored.state, "model": grown}))
    with pytest.raises(BadFile, match="of 'forest' are not those"):
        suffice.load(place)


def test_a_pool_without_its_rows_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "pool.suffice"
    _written_anew(place, statistics=None)
    with pytest.raises(BadFile, match="statistics are NoneType"):
        suffice.load(place)


def test_the_machinery_of_these_tests_writes_files_that_are_read(tmp_path: Path) -> None:
    data, frame, _ = saved()
    (tmp_path / "saved").write_bytes(data)
    file = Opened()
    file.rewrite_rows(lambda _: None)
    assert np.array_equal(
        file.read(tmp_path / "pool").predict_proba(frame),
        suffice.load(tmp_path / "saved").predict_proba(frame),
    )


@pytest.mark.parametrize("what", DAMAGES)
@given(st.integers(0, 2**32 - 1))
def test_a_damaged_pool_is_refused_or_answers(what: str, seed: int) -> None:
    data, frame, labels = saved()
    damaged = DAMAGES[what](data, np.random.default_rng(seed))
    with tempfile.TemporaryDirectory() as folder:
        verdict = tried(Path(folder) / "pool.suffice", damaged, frame, labels)
        assert verdict in (READ, REFUSED)


def test_numbers_of_any_size_in_a_file_are_answered_from(tmp_path: Path) -> None:
    _, frame, labels = saved()
    for huge in (1.7e308, -1.7e308, 5e-324, 1e160):
        file = Opened()

        def change(rows: list[Any], huge: float = huge) -> None:
            rows[0][0][0] = huge

        file.rewrite_rows(change)
        place = tmp_path / "pool.suffice"
        damaged = written(file.content, file.arrays)
        assert tried(place, damaged, frame, labels, learn=huge == 1e160) == READ
