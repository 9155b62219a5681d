"""How far one walks to read what happens: the files of ours that a call goes through.

    python -m benchmarks.walks            how many, beside the most that tests allow
    python -m benchmarks.walks --files    which ones

A file counts if one of its functions is called; what is only imported does not.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import suffice
from suffice.cli import main as command_line

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = Path(suffice.__file__).parent
ROWS = 60
"""Rows of the walks: few, so that loops have no part in them."""
MOST = {"GaussianDiscriminant().fit": 32, "suffice fit --model gda": 109, "one Newton step": 6}
"""Files that each walk may go through: those of today. Who shortens a walk lowers its figure."""


def walked(work: Callable[[], object]) -> tuple[str, ...]:
    """Return the files of ours whose functions are called, once everything is imported."""
    work()
    found: set[str] = set()

    def look(frame: Any, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>":
            found.add(code.co_filename)

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    ours = (Path(name) for name in found)
    return tuple(sorted(p.relative_to(SOURCE).as_posix() for p in ours if p.is_relative_to(SOURCE)))


def walks() -> dict[str, tuple[str, ...]]:
    """Return the files of each walk."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 3))
    y = (X[:, 0] + rng.normal(size=ROWS) > 0.0).astype(np.intp)
    with tempfile.TemporaryDirectory() as folder:
        table, model = Path(folder) / "t.csv", Path(folder) / "t.suffice"
        rows = (
            "".join(f"{cell:.3f}," for cell in row) + f"c{label}\n"
            for row, label in zip(X, y, strict=True)
        )
        table.write_text("a,b,c,y\n" + "".join(rows), "utf-8")
        line = f"fit {table} -t y --model gda -o {model} --force".split()

        def fit() -> None:
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                assert command_line(line) == 0

        return {
            "GaussianDiscriminant().fit": walked(lambda: suffice.GaussianDiscriminant().fit(X, y)),
            "suffice fit --model gda": walked(fit),
            "one Newton step": walked(_newton_step(X, y)),
        }


def _newton_step(X: Any, y: Any) -> Callable[[], object]:
    """Return a step of logistic regression: loss, gradient and Hessian at θ, and the next θ."""
    from suffice.models.linear.logistic.loss import LogisticLoss
    from suffice.models.linear.logistic.newton import Factor
    from suffice.models.linear.logistic.objective import Objective

    loss = LogisticLoss(X, y, 2, None, X.mean(axis=0), 1.0 / X.std(axis=0))
    objective = Objective(loss, 1.0)

    def step() -> object:
        start = np.zeros(X.shape[1] + 1)
        at = objective.evaluate(start, hessian=True)
        return start - Factor(at.hessian).solve(at.gradient)

    return step


def main() -> None:
    """Print how long the walks are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", action="store_true", help="name the files")
    asked = parser.parse_args()
    for name, files in walks().items():
        print(f"{name}: {len(files)} files (at most {MOST[name]})")
        if asked.files:
            print(*(f"  {file}" for file in files), sep="\n")


if __name__ == "__main__":
    main()
