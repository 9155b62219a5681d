"""What type checkers tell users of the package: wrong settings, before anything runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from suffice.estimators import setting_types
from suffice.learning.learners.text import BOTH, LANGUAGE
from suffice.models.gaussian.family import DIVISORS, SHRINK_TARGETS
from suffice.models.gaussian.forms import LETTERS, SPOKEN
from suffice.models.text.term_events import EVENTS
from tests.conftest import ROOT

RIGHT = """
import numpy as np
import suffice

X, y = np.zeros((4, 2)), ["a", "a", "b", "b"]
model = suffice.GaussianDiscriminant("per-class", pool=0.5, divisor="unbiased").fit(X, y)
suffice.GaussianDiscriminant("VEV", temperature="left-out")
suffice.LogisticRegression("auto", solver="auto", correction=None)
suffice.NaiveBayes(smoothing="held-out")
suffice.TextClassifier("multinomial")
suffice.GaussianMixture(3, criterion="icl")
"""
"""A program without a mistake: nothing may be said about it."""
MISTAKES = (
    "suffice.NoSuch",
    'suffice.GaussianDiscriminant("lda")',
    'suffice.GaussianDiscriminant(divisor="n-1")',
    'suffice.GaussianDiscriminant(shrink="much")',
    'suffice.GaussianDiscriminant(covariances="shared")',
    'suffice.LogisticRegression(penalty="l2")',
    'suffice.LogisticRegression(solver="lbfgs")',
    'suffice.NaiveBayes(smoothing="laplace")',
    'suffice.TextClassifier("bag")',
    'suffice.GaussianMixture(3, criterion="aic")',
)
"""One line each: what people would write who know another library, or mistype."""


@pytest.mark.slow
@pytest.mark.process
def test_mypy_finds_every_mistake_in_a_small_program(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api", reason="mypy is not installed")
    program = tmp_path / "program.py"
    program.write_text(RIGHT + "\n".join(MISTAKES) + "\n", encoding="utf-8")
    cache = ["--cache-dir", str(ROOT / ".mypy_cache")]
    said, _, _ = api.run([*cache, "--config-file", str(ROOT / "pyproject.toml"), str(program)])
    first = RIGHT.count("\n") + 1
    found = {int(line.split(":")[1]) for line in said.splitlines() if ": error:" in line}
    assert found == set(range(first, first + len(MISTAKES))), said


@pytest.mark.slow
@pytest.mark.process
def test_pyright_finds_them_too(tmp_path: Path) -> None:
    pyright = shutil.which("pyright", path=f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}")
    if pyright is None or shutil.which("node") is None:
        pytest.skip("pyright, which runs on Node.js, is not installed: pip install pyright")
    program = tmp_path / "program.py"
    program.write_text(RIGHT + "\n".join(MISTAKES) + "\n", encoding="utf-8")
    settings = {"extraPaths": [str(ROOT / "src")], "include": ["program.py"]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    ours = [pyright, "-p", str(tmp_path), "--pythonpath", sys.executable, "--outputjson"]
    said = subprocess.run(ours, capture_output=True, text=True, check=False, timeout=300).stdout
    found = {one["range"]["start"]["line"] + 1 for one in json.loads(said)["generalDiagnostics"]}
    first = RIGHT.count("\n") + 1
    assert found == set(range(first, first + len(MISTAKES))), said


@pytest.mark.parametrize(
    ("type_name", "known"),
    [
        ("Letters", LETTERS),
        ("SpokenForm", tuple(SPOKEN.values())),
        ("Divisor", DIVISORS),
        ("ShrinkTarget", SHRINK_TARGETS),
        ("Event", (*EVENTS, LANGUAGE, BOTH)),
    ],
)
def test_types_have_exactly_the_words_that_learners_take(
    type_name: str, known: tuple[str, ...]
) -> None:
    assert set(get_args(getattr(setting_types, type_name))) == set(known)
