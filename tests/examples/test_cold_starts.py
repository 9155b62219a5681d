"""A first process on a machine: it answers, and says nothing about caches, processors or compilers.

Whoever runs the tests may be allowed to write everywhere: folders that cannot be written to are
those below a file, and read-only ones stop ordinary users only.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import suffice
from suffice.kernels import compilation

pytestmark = [pytest.mark.process, pytest.mark.slow]
SOURCE = Path(suffice.__file__).parents[1]
FITTED = """
import multiprocessing, os, sys
import numpy as np
from suffice import GaussianDiscriminant, LogisticRegression, NaiveBayes

def fitted(_=None):
    rng = np.random.default_rng(0)
    codes = np.arange(60_000) % 2
    rows = rng.normal(size=(60_000, 20)) + 0.2 * codes[:, None]
    models = [GaussianDiscriminant(), GaussianDiscriminant("per-class"), NaiveBayes("gaussian")]
    models += [LogisticRegression(1.0)]
    return [model.fit(rows, codes).predict_proba(rows[:50])[:, 1] for model in models]

if __name__ == "__main__":
    here = np.array(fitted())
    if len(sys.argv) > 2:
        with multiprocessing.get_context("fork").Pool(1) as pool:
            assert np.array_equal(np.array(pool.apply(fitted)), here)
    np.save(sys.argv[1], here)
    print("numba" in sys.modules)
"""
"""Fits of more than a million cells: where compiled loops would be used if they were there."""
UNKNOWN = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
"""What a processor is for numba that it has no name for."""


def answers(folder: Path, settings: dict[str, str], *more: str) -> tuple[np.ndarray, bool]:
    """Return what a fresh process answers, and whether it has loaded the compiler."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), **settings}
    if "SUFFICE_COMPILE" not in settings:
        environment.pop("SUFFICE_COMPILE", None)
    place = folder / "answers.npy"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FITTED, str(place), *more],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return np.load(place), done.stdout.strip() == "True"


def settings_of(case: str, folder: Path) -> dict[str, str]:
    """Return the variables of a machine on which nothing was compiled."""
    if case == "empty":
        return {"NUMBA_CACHE_DIR": str(folder / "empty")}
    if case == "unwritable":
        (folder / "file").write_bytes(b"")
        return {"NUMBA_CACHE_DIR": str(folder / "file" / "below")}
    if case == "read-only":
        place = folder / "read-only"
        place.mkdir(mode=0o555)
        return {"NUMBA_CACHE_DIR": str(place), "HOME": "/nonexistent", "XDG_CACHE_HOME": ""}
    return {"NUMBA_CACHE_DIR": str(folder / "empty"), **UNKNOWN}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """What NumPy alone answers."""
    found, loaded = answers(tmp_path_factory.mktemp("plain"), {"SUFFICE_COMPILE": "never"})
    assert not loaded
    return found


@pytest.mark.parametrize("case", ["empty", "unwritable", "read-only", "unknown processor"])
def test_a_first_process_answers_at_once_and_says_nothing(
    case: str, plain: np.ndarray, tmp_path: Path
) -> None:
    found, loaded = answers(tmp_path, settings_of(case, tmp_path))
    np.testing.assert_array_equal(found, plain)
    assert not loaded


def test_a_forked_worker_answers_as_its_parent_does(plain: np.ndarray, tmp_path: Path) -> None:
    found, _ = answers(tmp_path, settings_of("read-only", tmp_path), "forked")
    np.testing.assert_array_equal(found, plain)


@pytest.mark.skipif(not compilation.numba_is_here(), reason="numba is not installed")
@pytest.mark.parametrize("case", ["unwritable", "unknown processor"])
def test_a_process_that_compiles_answers_the_same_and_says_nothing(
    case: str, plain: np.ndarray, tmp_path: Path
) -> None:
    settings = {**settings_of(case, tmp_path), "SUFFICE_COMPILE": "always"}
    found, loaded = answers(tmp_path, settings, *(["forked"] if case == "unwritable" else []))
    np.testing.assert_allclose(found, plain, rtol=1e-9)
    assert loaded
