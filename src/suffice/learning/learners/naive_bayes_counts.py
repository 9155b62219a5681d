"""How naive Bayes of counts learns: one family for all columns, dense or sparse."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from suffice.engines.uneven_blocks import read_sparse_rows
from suffice.errors import BadSetting
from suffice.learning.learners.naive_bayes import ColumnsLearner
from suffice.learning.unlabelled.record import IGNORE
from suffice.models.naive_bayes.families.bernoulli import Bernoulli
from suffice.models.naive_bayes.families.complement import Complement
from suffice.models.naive_bayes.families.multinomial import Multinomial
from suffice.models.naive_bayes.product import Product
from suffice.rows import read_table
from suffice.rows.sparse import is_sparse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.learning.labelled_batch import LabelledBatch
    from suffice.models.naive_bayes.families.protocol import ColumnFamily
    from suffice.rows import Label


@dataclass(frozen=True)
class CountsLearner(ColumnsLearner):
    """One family for all columns, dense or sparse; sparse rows are neither copied nor filled."""

    @abstractmethod
    def family(self) -> ColumnFamily:
        """Return the settings as a family, checked."""

    def asked_families(self) -> ColumnFamily:
        """Return the family."""
        return self.family()

    def check(self) -> None:
        """Refuse settings that have no meaning."""
        super().check()
        self.family()

    def opened(self, X: object) -> Any:
        """Read rows, dense or sparse."""
        return read_sparse_rows(X) if is_sparse(X) else read_table(X)

    def choose(self, batch: LabelledBatch) -> Self:
        """Decide that all columns are of the family."""
        return self.deciding_on(Product((self.family(),), (range(batch.rows.width),)))


@dataclass(frozen=True)
class BernoulliClassifierLearner(CountsLearner):
    """Learns which columns are there; the settings are those of BernoulliNaiveBayes."""

    threshold: float = 0.0
    smoothing: float | str = 1.0  # type: ignore[misc]
    temperature: float | str | None = None  # type: ignore[misc]
    priors: Mapping[Label, float] | None = None  # type: ignore[misc]
    calibration_rows: int | None = None  # type: ignore[misc]
    unlabelled: float | str = IGNORE  # type: ignore[misc]

    name: ClassVar[str] = "BernoulliNaiveBayes"

    def family(self) -> Bernoulli:
        """Return the settings as a family, checked."""
        return Bernoulli(self.threshold)


@dataclass(frozen=True)
class MultinomialClassifierLearner(CountsLearner):
    """Learns how often words come; the settings are those of MultinomialNaiveBayes."""

    boolean: bool = False
    smoothing: float | str = 1.0  # type: ignore[misc]
    temperature: float | str | None = None  # type: ignore[misc]
    priors: Mapping[Label, float] | None = None  # type: ignore[misc]
    calibration_rows: int | None = None  # type: ignore[misc]
    unlabelled: float | str = IGNORE  # type: ignore[misc]

    name: ClassVar[str] = "MultinomialNaiveBayes"

    def family(self) -> Multinomial:
        """Return the settings as a family, checked."""
        return Multinomial(_truth(self.boolean))


@dataclass(frozen=True)
class ComplementClassifierLearner(CountsLearner):
    """Learns how unlike the other classes a row is; settings as of ComplementNaiveBayes."""

    boolean: bool = False
    smoothing: float | str = 1.0  # type: ignore[misc]
    calibration_rows: int | None = None  # type: ignore[misc]
    unlabelled: float | str = IGNORE  # type: ignore[misc]

    name: ClassVar[str] = "ComplementNaiveBayes"
    without: ClassVar[frozenset[str]] = frozenset(
        (
            "log_joint",
            "log_density",
            "typicality",
            "sample",
            "with_priors",
            "estimate_priors",
            "priors_",
        )
    )  # there is no density, and nothing for priors to multiply

    def check(self) -> None:
        """Refuse settings that have no meaning; complements have no shares to count rows by."""
        super().check()
        if self.unlabelled != IGNORE:
            raise BadSetting(
                f"unlabelled={self.unlabelled!r} does not apply to ComplementNaiveBayes: its "
                "scores are not probabilities, which are needed to count it",
                hint="MultinomialNaiveBayes learns from rows without a label",
            )

    @property
    def has_fixed_priors(self) -> bool:
        """All alike: they are no part of the scores."""
        return True

    def family(self) -> Complement:
        """Return the settings as a family, checked."""
        return Complement(_truth(self.boolean))


def _truth(boolean: object) -> bool:
    """Return whether words count once, or refuse what is neither yes nor no."""
    if not isinstance(boolean, (bool, np.bool_)):
        raise BadSetting(
            f"boolean={boolean!r} is neither True nor False",
            hint="use True to count a word once per row, False to count it as often as it appears",
        )
    return bool(boolean)
