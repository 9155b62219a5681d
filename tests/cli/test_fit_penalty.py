"""`suffice fit --model logistic --penalty auto`: the words that let chosen from the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import suffice

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("penalty", ["auto", "average"])
def test_the_command_takes_the_words(
    penalty: str, measurements: Path, tmp_path: Path, run: Any
) -> None:
    place = tmp_path / "model.suffice"
    given = ("fit", measurements, "--target", "class", "--model", "logistic", "--penalty")
    assert run(*given, penalty, "-o", place).code == 0
    assert suffice.load(place).penalty == penalty
    assert suffice.load(place).path_.rows > 0
    assert run("predict", place, measurements).code == 0
    assert run("inspect", place).code == 0
    refused = run(*given, "most")
    assert refused.code == 2
    assert "must be a number, auto or average" in refused.err


def test_an_average_has_no_form_in_sql(measurements: Path, tmp_path: Path, run: Any) -> None:
    place = tmp_path / "model.suffice"
    given = ("fit", measurements, "--target", "class", "--model", "logistic", "--penalty")
    assert run(*given, "average", "-o", place).code == 0
    done = run("sql", place)
    assert done.code != 0
    assert "cannot be written as SQL" in done.err
