"""Files that were written by earlier versions are still read, and say what they said."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import pytest

import suffice
from suffice.errors import SufficeWarning
from suffice.storage.model_file import FORMAT, MODEL_OF, read_model
from tests.reference.stored_files import FOLDER, answers, models

if TYPE_CHECKING:
    from pathlib import Path

FILES = sorted(FOLDER.glob("*.suffice"))


@pytest.fixture(scope="module")
def learned() -> dict[str, Any]:
    """Return the rows that every model was learned from, by its name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        return {name: frame for name, (_, frame) in models().items()}


@pytest.mark.parametrize("place", FILES, ids=[place.stem for place in FILES])
def test_a_stored_file_says_what_it_said(place: Path, learned: dict[str, Any]) -> None:
    frame = learned[place.stem.partition("_")[2]]
    expected = json.loads(place.with_suffix(".json").read_text("utf-8"))
    found = answers(suffice.load(place), frame)
    assert found.pop("classes", None) == expected.pop("classes", None)
    assert found.keys() == expected.keys()
    for key, held in found.items():
        # After more rows a pool decides again, by the rules of the version that learns them.
        anew = key == "after learning" and place.stem.endswith("_pool")
        for ours, theirs in zip(held, expected[key], strict=True):
            assert ours == pytest.approx(theirs, rel=1e-9, abs=0.01 if anew else 1e-12), key


def test_there_are_files_of_every_format_and_every_estimator(learned: dict[str, Any]) -> None:
    names = {place.stem for place in FILES}
    assert names == {f"v{n}_{name}" for n in range(1, FORMAT + 1) for name in learned}
    for n in range(1, FORMAT + 1):
        kinds = {read_model(FOLDER / f"v{n}_{name}.suffice").estimator for name in learned}
        assert kinds == set(MODEL_OF)
