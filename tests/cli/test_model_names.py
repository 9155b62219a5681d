"""A model has one name, and answers to its usual others wherever somebody names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import suffice
from suffice.errors import BadSetting
from suffice.evaluation.candidates import candidates, usual_candidates
from suffice.evaluation.labelled_rows import LabelledRows
from suffice.printing.model_names import COMPARED, OTHER_NAMES, usual_name
from suffice.training.model_choice import MODELS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Run


@pytest.fixture(scope="module")
def rows() -> LabelledRows:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    return LabelledRows.read(rng.normal(size=(60, 2)) + y[:, None], y)


def test_the_help_lists_the_models_that_are_compared(
    rows: LabelledRows, run: Callable[..., Run]
) -> None:
    assert tuple(one.key for one in usual_candidates(rows)) == COMPARED
    said = "".join(run("compare", "--help").out.split())  # lines may end at a hyphen
    assert all(name in said for name in COMPARED)


@pytest.mark.parametrize(("given", "name"), [*OTHER_NAMES.items(), ("LDA", "gda"), ("QDA", "qda")])
def test_usual_names_are_those_of_models_everywhere(
    given: str, name: str, rows: LabelledRows
) -> None:
    assert usual_name(given) == name
    assert name in MODELS
    if name not in COMPARED:  # it is fitted by name, and compared as an estimator that is given
        with pytest.raises(BadSetting, match="no candidate"):
            candidates([given], rows)
        return
    (found,) = candidates([given], rows)
    assert found.key == name


def test_fit_and_train_take_usual_names(tmp_path: Path, run: Callable[..., Run]) -> None:
    table = tmp_path / "table.csv"
    lines = [f"{i % 2 + i / 50:.2f},{'ab'[i % 2]}" for i in range(40)]
    table.write_text("x,y\n" + "\n".join(lines) + "\n")
    made = []
    for name in ("gda", "LDA", "linear_discriminant"):
        place = tmp_path / f"{name}.suffice"
        assert run("fit", table, "--target", "y", "--model", name, "-o", place).code == 0
        made.append(place.read_bytes())
    assert made[0] == made[1] == made[2]
    assert suffice.train(table, target="y", model="nb").saved.name == "NaiveBayes"


def test_a_name_of_nobody_is_refused_with_those_there_are(rows: LabelledRows) -> None:
    with pytest.raises(BadSetting, match=r"no candidate 'lde'\nHint: .*gda"):
        candidates(["lde"], rows)
