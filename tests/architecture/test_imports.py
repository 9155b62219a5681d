"""What importing costs, and who may import whom."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import suffice

SOURCE = Path(suffice.__file__).parents[1]

pytestmark = pytest.mark.process


def loaded_after(statement: str) -> set[str]:
    """Return the top-level and dotted names of every module that `statement` brings in."""
    program = f"import sys\n{statement}\nprint(*sorted(sys.modules), sep='\\n')"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_importing_suffice_loads_the_standard_library_only() -> None:
    before = loaded_after("")
    new = {name.partition(".")[0] for name in loaded_after("import suffice") - before}
    assert new - set(sys.stdlib_module_names) == {"suffice"}


def test_the_functional_core_needs_no_scikit_learn_no_frames_and_no_compiler() -> None:
    loaded = loaded_after("from suffice import statistics, families, models")
    heavy = {"sklearn", "pandas", "polars", "pyarrow", "numba", "matplotlib", "scipy.stats"}
    assert not heavy & loaded


@pytest.mark.parametrize("name", suffice.__all__)
def test_every_public_name_is_found_on_first_use(name: str) -> None:
    loaded_after(f"from suffice import {name}")


def test_drawing_is_what_imports_matplotlib() -> None:
    assert "matplotlib" not in loaded_after("from suffice import plots; plots.draw_regions")


def test_the_layers_hold(root: Path) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=root, env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
