"""Labels hidden: whether the clusters that are found are the classes that there are.

python -m benchmarks.hidden_classes             all tables
python -m benchmarks.hidden_classes iris wine   these

Each line has the adjusted Rand index of `GaussianMixture()` with nothing set, of scikit-learn's
mixture with number (1 to 9) and covariance chosen by BIC, and of k-means that is told how many
classes there are; and the seconds of CPU of the first two. Rows: the first 1,000 of an order drawn;
columns: numbers only, blanks at their mean for those who cannot have them.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture as Peer
from sklearn.preprocessing import StandardScaler

from benchmarks.small_tables.tables import table
from suffice import GaussianMixture

if TYPE_CHECKING:
    from collections.abc import Callable

TABLES = (
    "balance_scale", "banana", "boston_median", "bupa", "crabs", "iris", "mfeat_morph",
    "mixture_esl", "penguins", "pima", "pima_ripley", "saheart", "segment", "shuttle",
    "synth_ripley", "twonorm", "vowel_esl", "waveform_esl", "wdbc", "wine",
)  # fmt: skip
"""Tables of which most columns are numbers, of at most thirty of them."""
MOST_ROWS = 1000
"""Rows of a table. A choice, for the sake of time."""
NUMBERS = range(1, 10)
"""Numbers of components that are tried."""


def rows_of(name: str) -> tuple[Any, Any]:
    """Return columns of numbers that vary, and labels."""
    frame, labels = table(name)
    chosen = np.random.default_rng(0).permutation(len(frame))[:MOST_ROWS]
    rows = frame.select_dtypes("number").to_numpy(dtype=np.float64)[chosen]
    varies = np.nanmin(rows, axis=0) < np.nanmax(rows, axis=0)
    there = ~np.isnan(rows).all(axis=1)
    return rows[there][:, varies], labels[chosen][there]


def ours(rows: Any, _: int) -> tuple[Any, str]:
    """Cluster with nothing set."""
    model = GaussianMixture().fit(rows)
    return model.predict(rows), f"{model.components_} {model.covariance_form_}"


def theirs(rows: Any, _: int) -> tuple[Any, str]:
    """Choose number and covariance by BIC, as scikit-learn's example does."""
    kinds = ("spherical", "tied", "diag", "full")
    fits = [
        Peer(k, covariance_type=kind, random_state=0).fit(rows) for k in NUMBERS for kind in kinds
    ]
    best = min(fits, key=lambda fit: fit.bic(rows))
    return best.predict(rows), f"{best.n_components} {best.covariance_type}"


def told(rows: Any, classes: int) -> tuple[Any, str]:
    """Cluster by k-means, which is told the number."""
    z = StandardScaler().fit_transform(rows)
    return KMeans(classes, n_init=10, random_state=0).fit_predict(z), str(classes)


def timed(work: Callable[[Any, int], tuple[Any, str]], rows: Any, classes: int) -> tuple[Any, ...]:
    """Return what was found, in words, and the seconds of CPU."""
    start = time.process_time()
    codes, said = work(rows, classes)
    return codes, said, time.process_time() - start


def main(names: list[str]) -> None:
    """Print a line for every table."""
    warnings.simplefilter("ignore")
    print("| table | rows × columns | classes | ours | | s | sklearn, BIC | | s | k-means, told |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in names or TABLES:
        rows, labels = rows_of(name)
        filled = np.where(np.isnan(rows), np.nanmean(rows, axis=0), rows)
        classes = len(set(labels))
        line = [name, f"{rows.shape[0]} × {rows.shape[1]}", str(classes)]
        for work, given in ((ours, rows), (theirs, filled), (told, filled)):
            codes, said, seconds = timed(work, given, classes)
            score = f"{adjusted_rand_score(labels, codes):.2f}"
            line += [score, said, f"{seconds:.1f}"] if work is not told else [score]
        print(f"| {' | '.join(line)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
