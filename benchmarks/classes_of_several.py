"""Classes that are mixtures, and covariances of factors: against R's values, and on made tables.

python -m benchmarks.classes_of_several                 everything; minutes
python -m benchmarks.classes_of_several mclust          MclustDA of R's mclust, by R's own measure
python -m benchmarks.classes_of_several waveforms       Breiman's waveforms, 300 rows, 40 draws
python -m benchmarks.classes_of_several vowel           vowels of Hastie, Tibshirani and Friedman
python -m benchmarks.classes_of_several genes           2,000 columns, 60 rows
python -m benchmarks.classes_of_several likelihood      scikit-learn's FactorAnalysis

The first and the third read the reference data beside the project.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice import GaussianDiscriminant, MixtureDiscriminant

if TYPE_CHECKING:
    from collections.abc import Callable

DRAWS = 40
"""Draws of the waveforms, as in Hastie and Tibshirani (1996)."""
GENES = (
    "independent",
    "batch",
    "five factors",
    "pathways",
    "blocks",
    "heavy tails",
    "three classes",
)
"""Kinds of made tables of 2,000 columns and 60 rows."""
SHRINKS = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
"""Shrinkages that factors are compared with."""


def mclust() -> None:
    """Compare with MclustDA: BIC of p(x), as R has it, and training errors."""
    from tests.reference.mclust import TABLES, mclust_reference, mclust_table

    print("table      R's BIC      ours  R's error   ours  components and forms  seconds of CPU")
    for name in TABLES:
        known = mclust_reference()[name].get("MclustDA")
        if known is None:
            continue
        rows, labels = mclust_table(name)
        start = time.process_time()
        model = MixtureDiscriminant().fit(rows, labels)
        took = time.process_time() - start
        bic = 2.0 * model.log_density(rows).sum() - model.n_parameters_ * np.log(len(rows))
        told = ", ".join(
            f"{number} {form}"
            for number, form in zip(
                model.components_.values(), model.covariance_forms_.values(), strict=True
            )
        )
        error = 1.0 - model.score(rows, labels)
        print(f"{name:9} {known['bic']:9.2f} {bic:9.2f} {known['training_error']:10.4f} "
              f"{error:6.4f}  {told}  {took:.1f}", flush=True)  # fmt: skip


def waves(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return Breiman's waveforms: each class is a random mixture of two of three triangles."""
    places = np.arange(1, 22)
    triangles = [np.maximum(6 - abs(places - top), 0) for top in (11, 15, 7)]
    y = rng.integers(0, 3, n)
    u = rng.random((n, 1))
    pairs = np.array([(0, 1), (0, 2), (1, 2)])
    shapes = np.array(triangles)
    X = u * shapes[pairs[y, 0]] + (1 - u) * shapes[pairs[y, 1]]
    return X + rng.normal(size=X.shape), y


def waveforms() -> None:
    """Print errors on training rows and on 500 new ones; R's mda of three subclasses has .177."""
    models: dict[str, Callable[[], Any]] = {
        "GaussianDiscriminant()": GaussianDiscriminant,
        'GaussianDiscriminant("per-class")': lambda: GaussianDiscriminant("per-class"),
        'GaussianDiscriminant("per-class", factors="auto")': lambda: GaussianDiscriminant(
            "per-class", factors="auto"
        ),
        'MixtureDiscriminant(3, "EEE", shared=True)': lambda: MixtureDiscriminant(
            3, "EEE", shared=True
        ),
        'MixtureDiscriminant(3, "EEI", shared=True)': lambda: MixtureDiscriminant(
            3, "EEI", shared=True
        ),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in models}
    for draw in range(DRAWS):
        rng = np.random.default_rng(draw)
        X, y = waves(300, rng)
        new, truth = waves(500, rng)
        for name, made in models.items():
            model = made().fit(X, y)
            found[name].append((1.0 - model.score(X, y), 1.0 - model.score(new, truth)))
    for name, errors in found.items():
        train, test = np.mean(errors, axis=0)
        spread = np.std([error for _, error in errors]) / np.sqrt(DRAWS)
        print(f"{name:52} {train:.3f} {test:.3f} ± {spread:.3f}")


def vowel() -> None:
    """Print errors on the test speakers; R's mda of three subclasses has .42 to .46."""
    import pandas as pd

    from tests.reference.data_sets import FOLDER

    frame = pd.read_csv(FOLDER / "data" / "tab" / "vowel_esl.csv.gz")
    train = (frame.pop("split") == "train").to_numpy()
    y = frame.pop("target").to_numpy()
    X = frame.to_numpy(dtype=np.float64)
    settings: dict[str, Any] = {
        "GaussianDiscriminant()": GaussianDiscriminant(),
        'GaussianDiscriminant("per-class")': GaussianDiscriminant("per-class"),
    }
    for form in ("EEE", "VEE", "EEI"):
        settings[f'MixtureDiscriminant(3, "{form}", shared=True)'] = MixtureDiscriminant(
            3, form, shared=True
        )
    for name, model in settings.items():
        model.fit(X[train], y[train])
        ours = 1.0 - model.score(X[train], y[train]), 1.0 - model.score(X[~train], y[~train])
        print(f"{name:52} {ours[0]:.3f} {ours[1]:.3f}")


def gene_rows(kind: str, seed: int, n: int, width: int = 2000) -> tuple[Any, Any]:
    """Return rows of one of `GENES`: a hundred columns differ between classes.

    batch           two causes that move every column
    five factors    five of them
    pathways        twenty, each of which moves a hundred columns
    blocks          a hundred, each of which moves twenty
    heavy tails     five factors, all of it Student's t with 4 degrees of freedom
    """
    rng, fixed = np.random.default_rng([seed, n]), np.random.default_rng(seed)
    size = 3 if kind == "three classes" else 2
    y = np.arange(n) % size
    means = np.zeros((size, width))
    means[:, fixed.permutation(width)[:100]] = 0.6 * fixed.normal(size=(size, 100))
    if kind == "independent":
        return means[y] + rng.normal(size=(n, width)), y
    if kind in ("pathways", "blocks"):
        count = 20 if kind == "pathways" else 100
        each = width // count
        loadings = np.zeros((count, width))
        for j in range(count):
            loadings[j, j * each : (j + 1) * each] = fixed.uniform(0.7, 1.3, each)
    else:
        loadings = fixed.normal(size=(2 if kind == "batch" else 5, width))
        loadings *= 1.0 if kind == "batch" else 0.7
    noise = fixed.uniform(0.5, 1.5, width)
    causes, own = rng.normal(size=(n, len(loadings))), rng.normal(size=(n, width))
    if kind == "heavy tails":
        causes = rng.standard_t(4, size=causes.shape) / np.sqrt(2.0)
        own = rng.standard_t(4, size=own.shape) / np.sqrt(2.0)
    return means[y] + causes @ loadings + own * noise, y


def genes() -> None:
    """Print log-loss and error on 1,000 new rows of factors, and of the best of six shrinkages."""
    print("table           factors: log-loss  error  how many  seconds   shrink: log-loss  error")
    better = 0
    for kind in GENES:
        found = []
        for seed in range(2):
            X, y = gene_rows(kind, seed, 60)
            new, truth = gene_rows(kind, seed, 1000)
            start = time.process_time()
            model = GaussianDiscriminant(factors="auto").fit(X, y)
            took = time.process_time() - start
            shrunk = [judged(GaussianDiscriminant(shrink=s).fit(X, y), new, truth) for s in SHRINKS]
            many = model.loadings_.shape[1]
            found.append((*judged(model, new, truth), many, took, *min(shrunk)))
        loss, error, many, took, other, wrong = np.mean(found, axis=0)
        better += loss < other
        print(f"{kind:15} {loss:17.3f} {error:6.3f} {many:9.1f} {took:8.2f} {other:18.3f} "
              f"{wrong:6.3f}", flush=True)  # fmt: skip
    print(f"factors are better in log-loss on {better} of {len(GENES)}")


def judged(model: Any, rows: Any, truth: Any) -> tuple[float, float]:
    """Return log-loss and error."""
    logs = model.predict_log_proba(rows)
    return float(-logs[np.arange(len(truth)), truth].mean()), 1.0 - model.score(rows, truth)


def likelihood() -> None:
    """Compare the log-likelihood of factors with scikit-learn's."""
    from sklearn.datasets import load_breast_cancer, load_digits, load_wine
    from sklearn.decomposition import FactorAnalysis

    print("table, factors       ours               scikit-learn's     seconds of CPU, both")
    for name, load, count in (
        ("wine", load_wine, 3), ("digits", load_digits, 6), ("breast cancer", load_breast_cancer, 1)
    ):  # fmt: skip
        X = load().data
        X = X[:, X.std(axis=0) > 0.0]
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        start = time.process_time()
        model = GaussianDiscriminant(factors=count).fit(X, np.zeros(len(X), dtype=int))
        middle = time.process_time()
        theirs = FactorAnalysis(count, tol=1e-10, max_iter=20_000, svd_method="lapack").fit(X)
        end = time.process_time()
        print(f"{name + ', ' + str(count):17} {model.log_density(X).sum():18.7f} "
              f"{theirs.score(X) * len(X):18.7f}  {middle - start:.3f} {end - middle:.3f}"
              )  # fmt: skip


PARTS: dict[str, Callable[[], None]] = {
    "likelihood": likelihood,
    "genes": genes,
    "waveforms": waveforms,
    "vowel": vowel,
    "mclust": mclust,
}
"""What is printed, by its name on the command line."""


def main(asked: list[str]) -> None:
    """Print the parts that are asked for, or all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in asked or list(PARTS):
            print(f"\n{name}")
            PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
