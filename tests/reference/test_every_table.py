"""Every covariance form on the tables as they are: a part of the rows, and not the widest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.reference import data_sets
from tests.reference.every_table import FORMS, complaint

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 120
WIDE = {"mnist_5k", "phoneme_esl", "mfeat_factors", "promoters", "horse_colic"}
"""These are for the evidence, at full length."""


@pytest.mark.parametrize("form", FORMS)
def test_every_form_answers_finitely_on_every_table(form: str, shared: Path) -> None:
    names = [name for name in data_sets.names() if name not in WIDE]
    assert len(names) > 40
    # Choosing costs 45 fits; every third table will do here.
    chosen = names[::3] if form == "auto" else names
    complaints = [complaint(data_sets.load(name).taken(ROWS), form) for name in chosen]
    assert [text for text in complaints if text] == []
