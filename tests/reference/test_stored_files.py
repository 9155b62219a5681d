"""Files that were written by earlier versions are still read, and say what they said."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import suffice
from suffice.files.stored_models import FORMAT
from tests.reference.stored_files import FOLDER, answers, blank, models, rows

if TYPE_CHECKING:
    from pathlib import Path

FILES = sorted(FOLDER.glob("*.suffice"))


@pytest.mark.parametrize("place", FILES, ids=[place.stem for place in FILES])
def test_a_stored_file_says_what_it_said(place: Path) -> None:
    frame, _ = rows()
    if place.stem.endswith("naive_bayes"):
        frame = blank(frame)
    expected = json.loads(place.with_suffix(".json").read_text("utf-8"))
    found = answers(suffice.load(place), frame)
    assert found["classes"] == expected["classes"]
    for key in ("probabilities", "after learning"):
        for ours, theirs in zip(found[key], expected[key], strict=True):
            assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-12), key


def test_there_are_files_of_every_format() -> None:
    names = {place.stem for place in FILES}
    assert names == {f"v{n}_{name}" for n in range(1, FORMAT + 1) for name in models()}
