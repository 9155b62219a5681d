"""Two trees of this project against each other: whether a change makes anything slower.

    git worktree add ../before COMMIT
    python -m benchmarks.commits ../before . --rounds 15

Each round runs every case with either tree, in a process for each that take turns, so that what
else the machine does falls on both alike. CPU time of the case alone counts, after a run that
loads and compiles. The answer is the ratio new / old, with the 95 % interval of its geometric mean.
`make bench-check` does this with a few cases and a commit (`benchmarks/check.py`).
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.verdicts import Verdict

LEAST = 0.3
"""Seconds of CPU that one measurement takes at least: a case is repeated until then."""
CORE = (
    "gda fit 1e6x10",
    "gda fit 200x5",
    "gda predict 1e6x10",
    "naive Bayes fit 5e5x10",
    "multinomial fit, sparse",
    "logistic 2e5x20",
    "gda from CSV 3e5x10",
    "gda single rows learned",
)
"""The cases that `make bench-check` looks at: each way that rows come in, and each kind of sum."""
BATCHES = 1_500
"""Small batches of one run: the first run has so many that what they use is compiled by then."""


def table(rows: int, width: int, classes: int = 3) -> tuple[Any, Any]:
    """Return normal rows and the codes of their classes."""
    import numpy as np

    rng = np.random.default_rng(1)
    codes = rng.integers(classes, size=rows)
    return rng.standard_normal((rows, width)) + codes[:, None] * 0.3, codes


def cases(folder: Path) -> dict[str, Callable[[], Callable[[], Any]]]:
    """Return the cases by name; each makes its data and returns what is timed."""
    return {**cases_of_arrays(), **cases_of_counts_and_files(folder)}


def cases_of_arrays() -> dict[str, Callable[[], Callable[[], Any]]]:
    """Return the cases of dense rows."""
    import suffice

    def fit(model: Callable[[], Any], *shape: int) -> Callable[[], Any]:
        X, y = table(*shape)
        return lambda: model().fit(X, y).priors_

    def asked(model: Any, method: str, *shape: int) -> Callable[[], Any]:
        X, y = table(*shape)
        answer = getattr(model.fit(X, y), method)
        if method == "leave_one_out":
            return lambda: answer(X, y)
        return lambda: answer(X)

    def single(forget: bool, make: Callable[[], Any]) -> Callable[[], Any]:
        X, y = table(2_000, 10)

        def run() -> Any:
            model = make().fit(X[:500], y[:500])
            for i in range(500, 2_000):
                model.partial_fit(X[i : i + 1], y[i : i + 1])
                if forget:
                    model.forget(X[i - 500 : i - 499], y[i - 500 : i - 499])
            return model.priors_

        return run

    def batches(forget: bool, make: Callable[[], Any]) -> Callable[[], Any]:
        X, y = table(500 + 10 * BATCHES, 10)

        def run() -> Any:
            for i in range(500, len(X), 10):
                if i % 500 == 0:  # anew: there were versions whose windows wore out
                    fitted = make().fit(X[i - 500 : i], y[i - 500 : i])
                fitted.partial_fit(X[i : i + 10], y[i : i + 10])
                if forget:
                    fitted.forget(X[i - 500 : i - 490], y[i - 500 : i - 490])
            return fitted.priors_

        return run

    def logistic(rows: int, width: int, classes: int) -> Callable[[], Any]:
        X, y = table(rows, width, classes)
        return lambda: suffice.LogisticRegression().fit(X, y).coef_

    gda, naive = suffice.GaussianDiscriminant, suffice.NaiveBayes
    small = {
        f"{name} {what} {done}": lambda run=run, make=make, forget=forget: run(forget, make)
        for name, make in {
            "gda": gda,
            "qda": lambda: gda("per-class"),
            "diagonal": lambda: gda("diagonal"),
            "naive Bayes": lambda: naive("gaussian"),
        }.items()
        for what, run in (("batches of 10", batches), ("single rows", single))
        for done, forget in (("learned", False), ("learned and forgotten", True))
    }
    return small | {
        "gda fit 1e6x10": lambda: fit(gda, 1_000_000, 10),
        "gda fit 1e5x100": lambda: fit(gda, 100_000, 100),
        "gda fit 1e4x500": lambda: fit(gda, 10_000, 500),
        "gda fit 200x5": lambda: fit(gda, 200, 5),
        "qda fit 200x5": lambda: fit(lambda: gda("per-class"), 200, 5),
        "naive Bayes fit 200x5": lambda: fit(lambda: naive("gaussian"), 200, 5),
        "gda fit 5e3x10": lambda: fit(gda, 5_000, 10),
        "qda fit 1e6x10": lambda: fit(lambda: gda("per-class"), 1_000_000, 10),
        "diagonal fit 1e6x10": lambda: fit(lambda: gda("diagonal"), 1_000_000, 10),
        "naive Bayes fit 5e5x10": lambda: fit(lambda: naive("gaussian"), 500_000, 10),
        "gda predict 1e6x10": lambda: asked(gda(), "predict", 1_000_000, 10),
        "qda predict_proba 2e5x20": lambda: asked(gda("per-class"), "predict_proba", 200_000, 20),
        "gda leave_one_out 1e5x20": lambda: asked(gda(), "leave_one_out", 100_000, 20),
        "logistic 2e5x20": lambda: logistic(200_000, 20, 2),
        "softmax 5e4x20, 5 classes": lambda: logistic(50_000, 20, 5),
    }


def cases_of_counts_and_files(folder: Path) -> dict[str, Callable[[], Callable[[], Any]]]:
    """Return the cases of sparse rows, documents, tables in files and model files."""
    import numpy as np

    import suffice

    def counts(method: str) -> Callable[[], Any]:
        from scipy.sparse import random as random_sparse

        rng = np.random.default_rng(2)
        X = random_sparse(20_000, 5_000, 0.01, "csr", random_state=3)
        X.data = rng.integers(1, 5, size=X.nnz).astype(float)
        y = rng.integers(4, size=20_000)
        if method == "fit":
            return lambda: suffice.MultinomialNaiveBayes().fit(X, y).priors_
        model = suffice.MultinomialNaiveBayes().fit(X, y)
        return lambda: model.predict(X)

    def texts() -> Callable[[], Any]:
        rng = np.random.default_rng(4)
        words = np.array([f"word{i}" for i in range(5_000)])
        documents = [" ".join(words[rng.integers(5_000, size=100)]) for _ in range(5_000)]
        return lambda: suffice.TextVectorizer(weighting="tf-idf").fit_transform(documents)

    def from_file(kind: str, texts: int = 0, group: int | None = None) -> Callable[[], Any]:
        import pyarrow as pa
        import pyarrow.csv
        import pyarrow.parquet

        path = folder / f"rows{texts}-{group}.{kind}"
        if not path.exists():
            X, y = table(300_000, 10)
            words = np.array([f"level{i}" for i in range(12)])
            names: dict[str, Any] = {f"x{j}": X[:, j].round(4) for j in range(10 - texts)}
            for j in range(texts):
                names[f"t{j}"] = words[np.abs(X[:, j] * 2.0).astype(int) % 12]
            held = pa.table({**names, "class": pa.array([f"c{code}" for code in y])})
            if kind == "csv":
                pyarrow.csv.write_csv(held, path)
            elif kind == "arrow":
                with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, held.schema) as out:
                    out.write_table(held, max_chunksize=group)
            else:
                pyarrow.parquet.write_table(held, path, row_group_size=group)
        return lambda: suffice.GaussianDiscriminant().fit(str(path), target="class").priors_

    def stored(width: int) -> Callable[[], Any]:
        X, y = table(3_000, width)
        path = folder / f"model{os.getpid()}.suffice"
        suffice.GaussianDiscriminant().fit(X, y).save(path)
        return lambda: suffice.load(path).priors_

    return {
        "multinomial fit, sparse": lambda: counts("fit"),
        "multinomial predict, sparse": lambda: counts("predict"),
        "vectorizing 5e3 documents": texts,
        "gda from CSV 3e5x10": lambda: from_file("csv"),
        "gda from Parquet 3e5x10": lambda: from_file("parquet"),
        "gda from Arrow 3e5x10": lambda: from_file("arrow"),
        "gda from CSV with texts 3e5x10": lambda: from_file("csv", texts=3),
        "gda from Parquet with texts 3e5x10": lambda: from_file("parquet", texts=3),
        "gda from Arrow with texts 3e5x10": lambda: from_file("arrow", texts=3),
        "gda from Parquet of 300 row groups": lambda: from_file("parquet", group=1_000),
        "gda from Arrow of 300 batches": lambda: from_file("arrow", group=1_000),
        "gda load, 100 columns": lambda: stored(100),
    }


def measured(name: str, folder: Path) -> float:
    """Return the CPU seconds of a case in this process, once it has been loaded and compiled."""
    run = cases(folder)[name]()
    run()
    repeats, start = 0, time.process_time()
    while time.process_time() - start < LEAST:
        run()
        repeats += 1
    return (time.process_time() - start) / repeats


def answered(names: list[str], folder: Path) -> dict[str, float | str]:
    """Return the seconds of each case, or what went wrong with it."""
    import warnings

    warnings.simplefilter("ignore")
    found: dict[str, float | str] = {}
    for name in names:
        try:
            found[name] = measured(name, folder)
        except Exception as error:  # noqa: BLE001  whatever it is, the other process is told
            found[name] = f"{type(error).__name__}: {error}"
    return found


def in_tree(tree: Path, names: list[str], folder: Path) -> dict[str, float | str]:
    """Return what a process with the package of a tree answers; its benchmarks are ours."""
    here = str(Path(__file__).resolve())
    environment = {**os.environ, "PYTHONPATH": str(tree.resolve() / "src")}
    command = [sys.executable, here, "--folder", str(folder), "--cases", *names]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return dict(json.loads(found.stdout.splitlines()[-1]))


def compared(
    old: Path, new: Path, names: list[str], folder: Path, steps: Sequence[int]
) -> tuple[dict[str, Verdict], dict[str, str], dict[str, str]]:
    """Compare two trees: return verdicts, and what the old and what the new one cannot do.

    What the old tree cannot do is new, and not slower.
    """
    # A tree's own process has no `benchmarks` to import.
    from benchmarks.verdicts import settled

    # The first round compiles, and is not counted.
    lacking, broken = ({name: said for name, said in in_tree(tree, names, folder).items()
                        if isinstance(said, str)} for tree in (old, new))  # fmt: skip
    turns = itertools.cycle(((old, new), (new, old)))

    def ratios(asked: list[str]) -> dict[str, float]:
        times = {tree: in_tree(tree, asked, folder) for tree in next(turns)}
        return {name: float(times[new][name]) / float(times[old][name]) for name in asked}

    able = [name for name in names if name not in {**lacking, **broken}]
    return settled(able, ratios, steps=steps), lacking, broken


def main() -> None:
    """Compare two trees, case by case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", nargs="?", type=Path)
    parser.add_argument("new", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="cases with this in their names")
    parser.add_argument("--cases", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.cases is not None:
        print(json.dumps(answered(given.cases, given.folder)))
        return
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        names = [name for name in cases(folder) if given.only in name]
        found, lacking, broken = compared(given.old, given.new, names, folder, [given.rounds])
    for name in names:
        print(f"{name:40} {found.get(name) or lacking.get(name) or broken[name]}")


if __name__ == "__main__":
    main()
