"""Coverage and size of prediction sets on the tables beside the project, split by split."""

from __future__ import annotations

import json
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.small_tables.tables import names, table
from suffice import (
    BernoulliNaiveBayes,
    ComplementNaiveBayes,
    GaussianDiscriminant,
    LogisticRegression,
    MixtureDiscriminant,
    MultinomialNaiveBayes,
    NaiveBayes,
    Pool,
)
from suffice.estimators.conformal import sets as by_rank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FEWEST = 100
"""Rows of a table: with fewer a split says little."""
OF_CLASS = 20
"""Training rows from which on a class is looked at by itself: with fewer than 9 it is in every set
at 90 %, and such sets would only raise the mean."""
TOLD = 10
"""Splits from which on their spread is a standard error."""
TRIED = (2, 12)
"""Rows that are asked about to see how long a fit takes, and how long each row."""
SLACK = 3.0
"""How much more than its seconds a cell may take before splits are left out."""
COVERAGE = 0.9
"""What is asked of sets."""
MODELS: dict[str, Callable[[], Any]] = {
    "gda": GaussianDiscriminant,
    "qda, pool .5": lambda: GaussianDiscriminant("per-class", pool=0.5),
    "logistic, penalty 1": lambda: LogisticRegression(1.0),
    "naive Bayes": NaiveBayes,
    "diagonal": lambda: GaussianDiscriminant("diagonal"),
    "shared-diagonal": lambda: GaussianDiscriminant("shared-diagonal"),
    "spherical": lambda: GaussianDiscriminant("spherical"),
    "factors": lambda: GaussianDiscriminant(factors=2),
    "predictive": lambda: GaussianDiscriminant(predictive=1.0),
    "Poisson": lambda: NaiveBayes("poisson"),
    "multinomial": MultinomialNaiveBayes,
    "Bernoulli": BernoulliNaiveBayes,
    "complement": ComplementNaiveBayes,
    "mixtures": lambda: MixtureDiscriminant(components=2, random_state=0),
    "pool": Pool,
}
"""Estimators with fixed settings; a pool weighs its members by the rows."""
BY_FOLDS = ("mixtures", "pool")
"""Estimators that are refitted for every fold: their sets are made in one way only."""
WAYS: dict[str, dict[str, Any]] = {
    "all": {},
    "class": {"within": "class"},
    "random": {"randomized": True},
}
"""How sets are made: at least the coverage, in every class, and exactly."""


@dataclass(frozen=True)
class Plan:
    """How many splits, rows to learn from, rows to ask about, and seconds of CPU a cell."""

    splits: int
    rows: int
    asked: int
    seconds: float


def measure_sets(
    chosen: list[str] | None, plan: Plan, models: list[str] | None = None, store: Path | None = None
) -> None:
    """Print coverage at 90 %, its standard error clustered by splits, and the mean size of sets.

    With `store`, sums over splits are kept in a file; splits that it has are not run again.
    """
    known = json.loads(store.read_text()) if store is not None and store.exists() else {}
    print("| model | table | splits | asked | all | se | size | class | random | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in chosen or names():
        if len(table(name)[1]) < FEWEST:
            continue
        for called in models or MODELS:
            cell = known.setdefault(f"{called}/{name}/{plan.rows}", {"splits": 0, "sums": {}})
            start = time.process_time()
            asked = _affordable(called, name, plan) if not cell["splits"] else cell["asked"]
            cell["asked"] = asked
            while asked and cell["splits"] < plan.splits:
                _split(cell, called, name, plan.rows, asked)
                if time.process_time() - start > SLACK * plan.seconds:
                    break
            if store is not None:
                store.write_text(json.dumps(known, indent=0) + "\n")
            print(_line(name, called, cell, time.process_time() - start), flush=True)
    for called in models or MODELS:
        print(_summary(known, called), flush=True)


def _affordable(called: str, name: str, plan: Plan) -> int:
    """Return how many rows a split can ask about within the time; 0 where the model refuses."""
    trial: dict[str, Any] = {"splits": 0, "sums": {}}
    spent = []
    for some in (TRIED[0], *TRIED):  # the first compiles
        start = time.process_time()
        _split(trial, called, name, plan.rows, some)
        spent.append(time.process_time() - start)
        if not trial["sums"]:
            return 0
        if spent[-1] > plan.seconds:
            return TRIED[0]
    each = max((spent[2] - spent[1]) / (TRIED[1] - TRIED[0]), 1e-6)
    fixed = max(spent[1] - TRIED[0] * each, 0.0)
    # Where a fit is what takes long, rows are asked about for as long as it takes.
    room = max(plan.seconds / plan.splits - fixed, fixed)
    return int(np.clip(room / each, TRIED[0], plan.asked))


class _Remembered:
    """Unions whose scores are kept: sets are made of the same rows in several ways."""

    def __init__(self, unions: Any) -> None:
        self.unions, self.codes = unions, unions.codes
        self.known: dict[tuple[int, int], Any] = {}

    def __len__(self) -> int:
        return len(self.unions)

    def pairs(self, c: int, start: int) -> Any:
        if (c, start) not in self.known:
            self.known[c, start] = self.unions.pairs(c, start)
        return self.known[c, start]


@contextmanager
def _scores_once() -> Iterator[None]:
    """Make the scores of one model's rows once, whatever is asked of them."""
    made: list[Any] = []
    unions_of = by_rank.unions_of

    def remembered(*asked: Any) -> Any:
        if not made:
            unions = unions_of(*asked)
            made.append(None if unions is None else _Remembered(unions))
        return made[0]

    by_rank.unions_of = remembered
    try:
        yield
    finally:
        by_rank.unions_of = unions_of


def _split(cell: dict[str, Any], called: str, name: str, rows: int, asked: int) -> None:
    """Learn from some rows, ask about others in every way, and add up what sets held."""
    X, y = table(name)
    seed = cell["splits"]
    cell["splits"] += 1
    order = np.random.default_rng(seed).permutation(len(y))
    first = min(rows, len(y) // 2)
    train, test = order[:first], order[first : first + asked]
    labels = y[test]
    with warnings.catch_warnings(), _scores_once():
        warnings.simplefilter("ignore")
        try:
            fitted = MODELS[called]().fit(X.iloc[train], y[train])
            for way, settings in WAYS.items():
                if called in BY_FOLDS and way != "all":
                    continue
                found = fitted.prediction_set(
                    X.iloc[test], COVERAGE, rows=(X.iloc[train], y[train]), **settings
                )
                # A class never seen is in no set.
                held = found.holds(labels) & np.isin(labels, fitted.classes_)
                if way == "random":  # without the likeliest class, which is always in the set
                    places = {label: c for c, label in enumerate(fitted.classes_.tolist())}
                    held = np.array([
                        label in places and row[places[label]] > 1.0 - COVERAGE
                        for label, row in zip(labels, found.p_values, strict=True)
                    ])  # fmt: skip
                if way == "all":
                    _add(cell, "size", found.sizes.sum(), len(test))
                if way == "class":
                    for label, count in zip(*np.unique(y[train], return_counts=True), strict=True):
                        if count >= OF_CLASS and (labels == label).any():
                            _add(cell, f"={label}", held[labels == label].sum(),
                                 (labels == label).sum())  # fmt: skip
                else:
                    _add(cell, way, held.sum(), len(test))
        except ValueError as refused:
            cell["refused"] = str(refused)[:200]


def _add(cell: dict[str, Any], what: str, held: Any, of: Any) -> None:
    """Add a split to the sums from which a ratio and its error by splits follow."""
    sums = cell["sums"].setdefault(what, [0] * 6)
    a, b = int(held), int(of)
    for j, value in enumerate((1, a, b, a * a, a * b, b * b)):
        sums[j] += value


def _ratio(sums: list[int]) -> tuple[float, float]:
    """Return held / asked, and its standard error: splits are drawn independently, rows are not."""
    n, a, b, aa, ab, bb = sums
    share = a / b
    rest = max(0.0, aa - 2.0 * share * ab + share * share * bb)
    return share, float(np.sqrt(rest * n / max(1, n - 1)) / b)


def _line(name: str, called: str, cell: dict[str, Any], spent: float) -> str:
    if not cell["sums"]:
        return f"| {called} | {name} | 0 | refused: {cell.get('refused', '')} | | | | | | |"
    share, error = _ratio(cell["sums"]["all"])
    of_class = [_ratio(sums)[0] for what, sums in cell["sums"].items() if what.startswith("=")]
    least = f"{min(of_class):.3f}" if of_class else ""
    random = f"{_ratio(cell['sums']['random'])[0]:.3f}" if "random" in cell["sums"] else ""
    return (
        f"| {called} | {name} | {cell['splits']} | {cell['asked']} | {share:.3f} | {error:.3f} "
        f"| {_ratio(cell['sums']['size'])[0]:.2f} | {least} | {random} | {spent:.1f} |"
    )


def _summary(known: dict[str, Any], called: str) -> str:
    """Return the coverage of a model over all tables, and the tables that fall short.

    Short is below the stated coverage by more than three standard errors, corrected for how many
    tables (or classes of tables) there are; at random, away from it on either side.
    """
    from scipy import stats

    cells = {
        key.split("/")[1]: cell["sums"]
        for key, cell in known.items()
        if key.split("/")[0] == called and cell["sums"]
    }
    if not cells:
        return f"{called}: refused everywhere"
    parts = []
    for way in ("all", "class", "random"):
        some = {
            f"{name}{what if way == 'class' else ''}": _ratio(sums[what])
            for name, sums in cells.items()
            for what in sums
            if (what == way if way != "class" else what.startswith("=")) and sums[what][0] >= TOLD
        }
        if not some:
            continue
        most = stats.norm.isf(stats.norm.sf(3.0) / len(some))
        far = {
            name: round(share, 3)
            for name, (share, error) in some.items()
            if (abs(share - COVERAGE) if way == "random" else COVERAGE - share)
            > most * max(error, 1e-3)
        }
        shares = [share for share, _ in some.values()]
        parts.append(
            f"{way}: {len(some)} cells, mean {np.mean(shares):.3f} ({min(shares):.3f} to "
            f"{max(shares):.3f}), off: {far or 'none'}"
        )
    sets = sum(sums["all"][2] for sums in cells.values())
    size = np.mean([_ratio(sums["size"])[0] for sums in cells.values()])
    return f"{called}: {len(cells)} tables, {sets:,} sets, {size:.2f} classes a set; " + "; ".join(
        parts
    )
