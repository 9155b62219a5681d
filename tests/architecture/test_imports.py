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


EACH_BY_ITSELF = """
import importlib, os, sys
for heavy in ("pyarrow", "scipy.optimize", "scipy.stats", "sklearn.utils.validation"):
    importlib.import_module(heavy)
for name in sys.argv[1:]:
    child = os.fork()
    if not child:
        exec(f"from suffice import {name}")
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print(name)
"""


@pytest.mark.slow
def test_every_public_name_is_found_on_first_use() -> None:
    # In a process of its own, which is a copy of one that has only loaded what others have made.
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", EACH_BY_ITSELF, *suffice.__all__],
        env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_drawing_is_what_imports_matplotlib() -> None:
    assert "matplotlib" not in loaded_after("from suffice import plots; plots.draw_regions")


@pytest.mark.parametrize(("model", "most"), [("gda", 123), ("naive-bayes", 141)])
def test_predicting_loads_the_model_of_the_file_and_no_other(
    model: str, most: int, tmp_path: Path
) -> None:
    # Starting is most of what a small prediction costs, and each module is a part of it. What is
    # left is 122 and 140 today: reading CSV and model files, statistics, and the model itself.
    table, file = tmp_path / "t.csv", tmp_path / "t.suffice"
    table.write_text("a,b,y\n1,2,u\n2,2.5,u\n1.5,1,u\n4,5,v\n5,4.5,v\n4.5,6,v\n", "utf-8")
    command = "from suffice.cli import main; assert main({}) == 0"
    fit = ["fit", str(table), "--target", "y", "--model", model, "-o", str(file)]
    loaded_after(command.format(fit))
    loaded = loaded_after(command.format(["predict", str(file), str(table)]))
    ours = sorted(name for name in loaded if name.partition(".")[0] == "suffice")
    assert len(ours) <= most, ours
    others = {"gda": "naive_bayes", "naive-bayes": "linear.logistic"}[model]
    assert not [name for name in ours if name.startswith(f"suffice.models.{others}")]
    assert not [name for name in ours if name.startswith("suffice.models.text")]


SMALL = {
    "fit t.csv -t y --model gda -o new": (221, {"scipy", "threadpoolctl"}),
    "learn gda t.csv -o new": (178, {"scipy"}),
    "merge gda gda -o new": (137, set()),
    "explain gda t.csv": (153, set()),
    "outliers gda t.csv": (170, {"scipy"}),
    "sample gda -n 5": (134, {"scipy"}),
    "fit t.csv -t y -o new": (279, {"threadpoolctl"}),
    "learn pool t.csv -o new": (176, {"threadpoolctl"}),
    "explain pool t.csv": (176, {"threadpoolctl"}),
    "predict pool t.csv": (140, {"threadpoolctl"}),
}
"""How many modules of ours a command loads at most, one more than today, and which libraries beside
NumPy and click: on a small table that is most of what a command costs."""
LIBRARIES = {"scipy", "sklearn", "pandas", "pyarrow", "numba", "matplotlib", "polars", "narwhals",
             "threadpoolctl", "pydantic", "starlette"}  # fmt: skip


@pytest.fixture(scope="module")
def small_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with small tables of measurements, a discriminant and a pool."""
    folder = tmp_path_factory.mktemp("small")
    rows = [
        f"{5 + (i * 7 % 10) / 10},{(i % 3) + (i * 5 % 8) / 10},{'uvw'[i % 3]}" for i in range(90)
    ]
    (folder / "t.csv").write_text("\n".join(["a,b,y", *rows, ""]), "utf-8")
    # The squares of a board, which no single model tells apart: `fit` takes a pool.
    places = [(i * 7 % 90 / 15, i * 41 % 89 / 15) for i in range(90)]
    board = [f"{a:.2f},{b:.2f},{'uvw'[(int(a / 2) + int(b / 2)) % 3]}" for a, b in places]
    (folder / "board.csv").write_text("\n".join(["a,b,y", *board, ""]), "utf-8")
    lines = [
        ["fit", "t.csv", "-t", "y", "--model", "gda", "-o", "gda"],
        ["fit", "board.csv", "-t", "y", "-o", "pool"],
    ]
    command = f"import os; os.chdir({str(folder)!r})\nfrom suffice.cli import main\n"
    loaded_after(command + f"assert [main(line) for line in {lines!r}] == [0, 0]")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("line", SMALL)
def test_a_command_on_a_small_table_loads_what_it_needs(line: str, small_files: Path) -> None:
    most, libraries = SMALL[line]
    words = [*line.split(), *(["--force"] if " -o " in line else [])]
    command = f"import os; os.chdir({str(small_files)!r})\nfrom suffice.cli import main\n"
    loaded = loaded_after(command + f"assert main({words!r}) == 0")
    roots = [name.partition(".")[0] for name in loaded]
    assert set(roots) & LIBRARIES <= libraries
    assert roots.count("suffice") <= most


COMMANDS = """
from suffice.cli import main
for model in ("gda", "naive-bayes"):
    for line in (
        f"fit t.csv -t y --model {model} -o a", "learn a t.csv -o b", "merge a b -o c",
        "forget c t.csv -o d", "explain a t.csv --row 2", "outliers a t.csv", "sample a -n 3",
    ):
        assert main([*line.split(), *(["--force"] if " -o " in line else [])]) == 0, line
    heavy = {"sklearn", "scipy.stats", "numba", "pandas"} & sys.modules.keys()
    assert not heavy, (model, heavy)
for model in ("logistic --penalty 1", "best", "auto"):
    lines = [f"fit many.csv -t y --model {model} -o a", "learn a t.csv -o b", "predict a t.csv"]
    for line in (*lines, "explain a t.csv --row 2"):
        assert main([*line.split(), *(["--force"] if " -o " in line else [])]) == 0, line
    heavy = {"sklearn", "scipy.stats", "numba", "pandas", "pyarrow"} & sys.modules.keys()
    assert not heavy, (model, heavy)
"""


@pytest.mark.slow
def test_commands_on_small_tables_do_without_scikit_learn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(
        "size,colour,y\n1,red,u\n2,blue,u\n1.5,red,u\n4,red,v\n5,blue,v\n4.5,blue,v\n", "utf-8"
    )
    rows = [f"{i % 7 + i % 2},{('red', 'blue')[i % 3 > 0]},{'uv'[i % 2]}" for i in range(24)]
    (tmp_path / "many.csv").write_text("\n".join(["size,colour,y", *rows, ""]), "utf-8")
    loaded_after(COMMANDS.replace(" -W error", ""))


def test_the_layers_hold(root: Path) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=root, env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
