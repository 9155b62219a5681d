"""Who takes part: each has a name, and gives probabilities of raw rows.

Settings are fixed here. Peers have their own defaults where nothing else is said; nothing is tuned
to these tables. Ours get raw columns, with text and blanks.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.small_tables.peer_models import (
    ClassShares,
    CrossValidatedLogistic,
    OwnCategories,
    Prepared,
)
from benchmarks.small_tables.preparation import categories_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

CATBOOST_ROUNDS = 300
"""Rounds of CatBoost: its default of 1,000 is slower and no better on so few rows."""
TREES = 300
"""Trees of a forest: three times scikit-learn's default, for smoother probabilities."""
SMALL_TREES = {
    "learning_rate": 0.05, "max_iter": 60, "max_leaf_nodes": 4, "min_samples_leaf": 3,
    "max_features": 0.5, "l2_regularization": 1.0,
}  # fmt: skip
"""Gradient boosting for few rows: leaves of 3 rows, where the default of 20 leaves 50 rows hardly a
split; few small trees. The best of six settings on draws of ten tables that no cell is made of."""


@dataclass(frozen=True, slots=True)
class Contender:
    """Somebody who takes part.

    name      the name in files and options
    label     the name in tables
    package   what has to be installed for it
    make      returns an unfitted classifier
    stored    whether its cells are kept with the project
    """

    name: str
    label: str
    package: str
    make: Callable[[], Any]
    stored: bool = True

    @property
    def made_by(self) -> str:
        """What is measured: the package and its version, or the sources of ours."""
        if self.package == "suffice":
            return f"suffice {digest()}"
        return f"{self.package} {version(self.package)}"

    @property
    def there(self) -> bool:
        """Whether it can run here; the old `auto` runs where there is no pool, as in 39e27dd."""
        if self.name in ("pool", "old-auto"):
            import suffice

            return hasattr(suffice, "Pool") == (self.name == "pool")
        try:
            return bool(version(self.package))
        except PackageNotFoundError:
            return False


@cache
def digest() -> str:
    """Return a name of the sources of suffice, equal for equal sources only."""
    import suffice

    folder = Path(suffice.__file__).parent
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        found.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:12]


def _catboost() -> Any:
    from catboost import CatBoostClassifier

    common = {
        "iterations": CATBOOST_ROUNDS,
        "thread_count": 1,
        "random_seed": 0,
        "verbose": False,
        "allow_writing_files": False,
    }
    return common, CatBoostClassifier


def _catboost_own() -> Any:
    common, kind = _catboost()
    return OwnCategories(lambda X: kind(cat_features=categories_of(X), **common))


def _catboost_one_hot() -> Any:
    common, kind = _catboost()
    return Prepared(kind(**common))


def _forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return Prepared(RandomForestClassifier(TREES, n_jobs=1, random_state=0))


def _extra_trees() -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return Prepared(ExtraTreesClassifier(TREES, n_jobs=1, random_state=0))


def _lightgbm() -> Any:
    from lightgbm import LGBMClassifier

    return Prepared(LGBMClassifier(n_jobs=1, verbose=-1, random_state=0))


def _hist() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return Prepared(HistGradientBoostingClassifier(random_state=0))


def _hist_small() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return Prepared(HistGradientBoostingClassifier(random_state=0, **SMALL_TREES))


def _ebm() -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    def made(X: pd.DataFrame) -> Any:
        text = set(categories_of(X))
        kinds = ["nominal" if name in text else "continuous" for name in X]
        return ExplainableBoostingClassifier(feature_types=kinds, n_jobs=1, random_state=0)

    return OwnCategories(made)


def _pool() -> Any:
    import suffice

    return suffice.Pool()


def _auto() -> Any:
    from benchmarks.small_tables.our_models import Chosen

    return Chosen()


def _discriminant() -> Any:
    from suffice import GaussianDiscriminant

    return GaussianDiscriminant("auto")


def _naive_bayes() -> Any:
    from suffice import NaiveBayes

    return NaiveBayes("select", temperature="held-out")


def _logistic() -> Any:
    from benchmarks.small_tables.our_models import Filled
    from suffice import LogisticRegression

    return Filled(LogisticRegression(penalty=1))


CONTENDERS = {
    one.name: one
    for one in (
        Contender("pool", "suffice.Pool", "suffice", _pool, stored=False),
        Contender("catboost", "CatBoost, 300 rounds", "catboost", _catboost_own),
        Contender("catboost-one-hot", "CatBoost, one-hot", "catboost", _catboost_one_hot),
        Contender("forest", "random forest", "scikit-learn", _forest),
        Contender("extra-trees", "extra trees", "scikit-learn", _extra_trees),
        Contender("lightgbm", "LightGBM", "lightgbm", _lightgbm),
        Contender("hist", "HistGradientBoosting", "scikit-learn", _hist),
        Contender("hist-small", "HistGradientBoosting, small trees", "scikit-learn", _hist_small),
        Contender(
            "logistic-cv", "logistic, C by cross-validation", "scikit-learn",
            lambda: Prepared(CrossValidatedLogistic()),
        ),
        Contender("ebm", "EBM", "interpret-core", _ebm),
        Contender("old-auto", "`auto` before the pool", "suffice", _auto),
        Contender("gda", 'GaussianDiscriminant("auto")', "suffice", _discriminant, stored=False),
        Contender(
            "naive-bayes", 'NaiveBayes("select", temperature)', "suffice", _naive_bayes,
            stored=False,
        ),
        Contender("logistic", "LogisticRegression(penalty=1)", "suffice", _logistic, stored=False),
        Contender("prior", "class shares", "scikit-learn", ClassShares),
    )
}  # fmt: skip
PEERS = tuple(name for name, one in CONTENDERS.items() if one.package != "suffice")
OURS = tuple(name for name, one in CONTENDERS.items() if not one.stored)
