"""What reading a model file and predicting from it costs in imports: NumPy, and no more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import suffice
from tests.reference.stored_files import FOLDER

SOURCE = Path(suffice.__file__).parents[1]
HEAVY = {"sklearn", "scipy", "numba", "pandas", "polars", "pyarrow", "narwhals", "matplotlib"}
PROGRAM = """
import sys
from suffice.storage.model_file import stored_posterior
from suffice.storage.model_file import read_model
from suffice.rows import read_table
stored = read_model(sys.argv[1])
found = stored_posterior(stored, read_table([[110.0, "red", 2, True]]))
assert abs(found.sum() - 1.0) < 1e-12
print(*sorted(sys.modules))
"""


@pytest.mark.parametrize("name", ["gda", "naive_bayes", "logistic"])
@pytest.mark.process
def test_one_row_is_predicted_with_numpy_alone(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, FOLDER / f"v1_{name}.suffice"],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not HEAVY & set(done.stdout.split())
