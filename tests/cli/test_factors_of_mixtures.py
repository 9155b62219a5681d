"""Mixtures and classes of few factors on the command line, and what reads their files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from tests.numerics.test_factor_mixtures import KINDS, X

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Run


@pytest.mark.slow
def test_commands_take_factors(tmp_path: Path, run: Callable[..., Run]) -> None:
    frame = pd.DataFrame(X.round(4), columns=list("abcdefgh"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    said = run(
        "cluster", tmp_path / "t.csv", "-k", "2", "--covariance", "per-class", "--factors", "2",
        "-o", tmp_path / "c.suffice",
    )  # fmt: skip
    assert said.code == 0, said.err
    assert "2 factors and a variance of each column, in every cluster its own (UUU-2)" in said.out
    frame["kind"] = np.where(KINDS == 0, "x", "y")
    frame.to_csv(tmp_path / "k.csv", index=False)
    said = run(
        "fit", tmp_path / "k.csv", "--target", "kind", "--model", "mda", "--components", "1",
        "--covariance", "per-class", "--factors", "2", "-o", tmp_path / "m.suffice",
    )  # fmt: skip
    assert said.code == 0, said.err
    for words in (
        ("inspect", tmp_path / "c.suffice"), ("inspect", tmp_path / "m.suffice"),
        ("predict", tmp_path / "m.suffice", tmp_path / "k.csv"), ("sample", tmp_path / "m.suffice"),
        ("outliers", tmp_path / "m.suffice", tmp_path / "k.csv"),
        ("sql", tmp_path / "c.suffice"),
        ("page", tmp_path / "m.suffice", "-o", tmp_path / "p.html"),
        ("explain", tmp_path / "m.suffice", tmp_path / "k.csv"),
        ("report", tmp_path / "t.csv", "--clusters", tmp_path / "c.suffice", "-o",
         tmp_path / "r.html"),
    ):  # fmt: skip
        said = run(*words)
        assert said.code == 0, (words[0], said.err)
    said = run(
        "cluster", tmp_path / "t.csv", "--model", "latent-classes", "--factors", "2",
        "-o", tmp_path / "n.suffice",
    )  # fmt: skip
    assert said.code != 0
    assert "about normal clusters, which latent-classes are not" in said.err
