"""Runs of the command line: in this process, or in one of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

import suffice
from suffice.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = Path(suffice.__file__).parents[1]


class Run(NamedTuple):
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[str]:
        return self.out.splitlines()


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """Return `run(*arguments)`: the command in this process."""

    def called(*arguments: object) -> Run:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Run(code, said.out, said.err)

    return called


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """Return the environment of processes that run the commands."""
    return {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONWARNINGS": "default"}


@pytest.fixture
def shell(environment: dict[str, str]) -> Callable[..., Run]:
    """Return `shell(line, stdin)`: a line of a shell in which `suffice` is the command."""

    def called(line: str, stdin: bytes = b"") -> Run:
        command = f'suffice() {{ "{sys.executable}" -m suffice.cli "$@"; }}; {line}'
        done = subprocess.run(
            ["bash", "-c", command], input=stdin, env=environment, capture_output=True, check=False
        )
        return Run(done.returncode, done.stdout.decode(), done.stderr.decode())

    return called


FLOWERS = """size,colour,petals,scented,kind
1.5,red,5,true,rose
1.7,red,5,true,rose
1.4,white,5,true,rose
1.6,,6,false,rose
,red,5,true,rose
0.3,white,12,false,daisy
0.4,white,13,false,daisy
0.2,yellow,15,false,daisy
0.35,white,11,true,daisy
0.25,,14,false,daisy
"""


@pytest.fixture
def flowers(tmp_path: Path) -> Path:
    """Return a small table with numbers, blanks, words, counts and truths."""
    path = tmp_path / "flowers.csv"
    path.write_text(FLOWERS)
    return path


@pytest.fixture
def measurements(tmp_path: Path) -> Path:
    """Return a table of numbers, three classes of normal rows."""
    rng = np.random.default_rng(0)
    path = tmp_path / "measurements.csv"
    lines = ["a,b,c,class"]
    for label, centre in (("x", 0.0), ("y", 2.0), ("z", 5.0)):
        lines += [
            ",".join([*(f"{v:.6f}" for v in rng.normal(centre, 1.0, 3)), label]) for _ in range(40)
        ]
    path.write_text("\n".join(lines) + "\n")
    return path


MODELS = ("gda", "qda", "naive-bayes", "logistic")


@pytest.fixture
def fitted(run: Callable[..., Run], tmp_path: Path) -> Callable[..., Path]:
    """Return `fitted(table, target, model)`: the file of a model."""

    def made(table: Path, target: str, model: str, *more: object) -> Path:
        path = tmp_path / f"{table.stem}-{model}.suffice"
        done = run("fit", table, "--target", target, "--model", model, "-o", path, *more)
        assert done.code == 0, done.err
        return path

    return made
