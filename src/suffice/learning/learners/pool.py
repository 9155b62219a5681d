"""How a pool of models learns and answers: rows of any kind, of which a sample is kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from suffice.columns import Columns
from suffice.columns.given_kinds import of_kinds, refuse_infinite_cells
from suffice.errors import (
    Approximation,
    BadSetting,
    DifferentKinds,
    NotADensity,
    NotFinite,
    listed,
    meant,
    warn,
)
from suffice.learning.answers import comparison
from suffice.learning.labelled_batch import read_batch
from suffice.learning.learned import Learned
from suffice.learning.learner import Learner
from suffice.models.pool.learner import PoolFit, PoolLearner, row_hashes
from suffice.models.pool.members import MEMBERS
from suffice.models.pool.text_readings import READINGS
from suffice.places import Phrase, RowAt
from suffice.rows import BOOLEAN, CATEGORY, is_sparse, read_table
from suffice.statistics.row_sample import END, MOST, WithRows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from suffice.learning.labelled_batch import LabelledBatch
    from suffice.learning.results import Explanation
    from suffice.rows import FloatArray, Label, Table

AUTO = "auto"
"""All members; and all columns that look like texts."""
ALL_BLANK = "all blank"
"""What an explanation calls the part of a row of blanks: it belongs to no column."""


@dataclass(frozen=True)
class PoolClassifierLearner(Learner[WithRows, PoolFit]):
    """Learns a pool of models; the settings are those of Pool."""

    members: str | Sequence[str] = AUTO
    texts: str | Sequence[str | int] | Mapping[str | int, str] = AUTO

    name: ClassVar[str] = "Pool"
    later_settings: ClassVar[Mapping[str, object]] = {"texts": AUTO}
    without: ClassVar[frozenset[str]] = frozenset(
        ("log_joint", "log_density", "estimate_priors", "with_priors", "vouch")
    )  # there are posteriors, and no density

    @classmethod
    def lacking(cls, words: str) -> NotADensity:
        """Return why a pool has no such answer."""
        return NotADensity(
            f"a pool has no {words}: it has posteriors, but no density",
            hint="use NaiveBayes or GaussianDiscriminant, which have one",
        )

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of members; None for all."""
        if isinstance(self.members, str) and self.members == AUTO:
            return None
        return (self.members,) if isinstance(self.members, str) else tuple(self.members)

    def check(self) -> None:
        """Refuse names that are no members."""
        try:
            names = self.names
        except TypeError:
            raise BadSetting(
                f"members={self.members!r:.60} is not known",
                hint=f'use "auto", or a list of names: {listed(MEMBERS)}',
            ) from None
        for name in names or ():
            if name not in MEMBERS:
                raise BadSetting(
                    f"there is no member {name!r:.60}",
                    hint=f"{meant(name, MEMBERS)}the members are {listed(MEMBERS)}",
                )
        if names == ():
            raise BadSetting("a pool needs members", hint='name some, or members="auto"')
        self._check_texts()

    def _check_texts(self) -> None:
        """Refuse what names no columns."""
        given: Any = self.texts
        if isinstance(given, str) and given == AUTO:
            return
        whole = isinstance(given, (list, tuple, dict)) and all(
            isinstance(one, str) or (isinstance(one, Integral) and not isinstance(one, bool))
            for one in given
        )
        if not whole:
            raise BadSetting(
                f"texts={given!r:.60} is not known",
                hint='use "auto", or a list of columns that hold texts: ["message"]; [] for none',
            )
        for name, how in given.items() if isinstance(given, dict) else ():
            if how not in (AUTO, *READINGS):
                raise BadSetting(
                    f"texts reads {name!r:.60} by {how!r:.60}, which is not known",
                    hint='use "words", "bytes", or "auto", which chooses by rows that are left out',
                )

    def of_model(self, columns: Columns | None = None) -> PoolLearner:
        """Return the members as `suffice.models` has them, and which of the columns are texts."""
        if columns is None or (isinstance(self.texts, str) and self.texts == AUTO):
            return PoolLearner(self.names)
        places = {self._place(one, columns) for one in self.texts}  # each once, whoever names it
        readings: dict[int, str] = {}
        for one, how in self.texts.items() if isinstance(self.texts, dict) else ():
            place = self._place(one, columns)
            if readings.setdefault(place, how) != how:
                raise BadSetting(
                    f"texts reads {columns.names[place]!r:.60} by {readings[place]} and by {how}",
                    hint="name each column once",
                )
        asked = {place: how for place, how in readings.items() if how != AUTO}
        return PoolLearner(self.names, tuple(sorted(places)), asked or None)

    @staticmethod
    def _place(asked: str | int, columns: Columns) -> int:
        """Return the place of a column of texts, or refuse one that is not there or holds none."""
        names = columns.names
        if isinstance(asked, str) and asked not in names:
            raise BadSetting(
                f"texts names {asked!r:.60}, which is not a column",
                hint=f"{meant(asked, names)}the columns are {listed(names)}",
            )
        place = names.index(asked) if isinstance(asked, str) else int(asked)
        if not 0 <= place < len(names):
            raise BadSetting(
                f"texts names column {place}, of {len(names)} columns",
                hint="columns are counted from 0",
            )
        if columns.columns[place].kind != CATEGORY:
            raise BadSetting(
                f"texts names {names[place]!r:.60}, which contains no text",
                hint="leave it out of texts, or give its cells as text",
            )
        return place

    # Rows

    def opened(self, X: object) -> Table:
        """Read dense rows of any kind."""
        if is_sparse(X):
            raise BadSetting(
                "a pool reads dense rows, and these are sparse",
                hint="X.toarray(); for texts and counts MultinomialNaiveBayes or TextClassifier",
            )
        table: Table = read_table(X)
        if isinstance(X, np.ndarray) and X.dtype == np.bool_:
            return replace(table, kinds=(BOOLEAN,) * table.width)
        return table

    def read(
        self,
        X: object,
        y: object,
        weights: object = None,
        known: Learned[WithRows, PoolFit] | None = None,
    ) -> LabelledBatch:
        """Read labelled rows, in the order and kinds of the columns that are known."""
        return read_batch(X, y, weights, partial(self._matched, known), self.opened)

    def _matched(
        self, known: Learned[WithRows, PoolFit] | None, table: Table
    ) -> tuple[object, object]:
        columns = Columns.of_kinds(table) if known is None else known.columns
        if known is not None:
            table = columns.matched(known.as_learned(table), self.name)
        return columns, of_kinds(columns, table)

    # Statistics

    def summarize(self, batch: LabelledBatch) -> WithRows:
        """Return class weights and a sample of the rows."""
        try:
            refuse_infinite_cells(batch.rows, batch.columns.names)
        except NotFinite as error:
            raise error.filled(rows=batch.places) from None
        pool = self.of_model(batch.columns)  # columns of texts that are not there are refused now
        return pool.summarize(batch.rows, batch.codes, batch.labels, batch.weights)

    def keeping(self, *learned: Any) -> LearnedPool:
        """Return statistics, with what else there is to know of their rows, as what was learned."""
        return LearnedPool(self, *learned)

    def merged(
        self, left: Learned[WithRows, PoolFit], right: Learned[WithRows, PoolFit]
    ) -> tuple[object, WithRows]:
        """Return the columns, and the sum."""
        if left.columns != right.columns:
            raise DifferentKinds(
                f"the columns are not the same: {listed(left.columns.names)} and "
                f"{listed(right.columns.names)}, or not of the same kinds",
                hint="merge models of the same columns, in the same order",
            )
        return left.columns, left.statistics + right.statistics

    def forgetting(self, learned: Learned[WithRows, PoolFit]) -> Callable[[WithRows], WithRows]:
        """Return the function that takes statistics away."""
        return lambda gone: learned.statistics - gone

    def estimate(self, learned: Learned[WithRows, PoolFit]) -> PoolFit:
        """Judge every member by rows that it has not seen, and find their shares."""
        kinds = tuple(column.kind for column in learned.columns.columns)
        return self.of_model(learned.columns).fit(learned.statistics, kinds)


@dataclass(frozen=True, eq=False)
class LearnedPool(Learned[WithRows, PoolFit]):
    """Members, and their shares in the answer."""

    learner: PoolClassifierLearner

    def warn(self) -> None:
        """Tell, after `fit`, which members are not in the pool."""
        if self.fit.left_out:
            warn(
                "left out of the pool, because there are too many rows, columns or classes for "
                f"the time, or too few to learn from: {listed(self.fit.left_out)}",
                Approximation,
            )

    def rows(self, X: object) -> Table:
        """Return rows in the order and kinds of the columns."""
        table = self.columns.matched(self.as_learned(self.learner.opened(X)), self.learner.name)
        found = of_kinds(self.columns, table)
        refuse_infinite_cells(found, self.columns.names)
        return found

    def asked(self, X: object, answer: Callable[[object], object]) -> Any:
        """Answer about rows, whose cells have been looked at."""
        return answer(self.rows(X))

    def explain(
        self, X: object, of: Label | None = None, against: Label | None = None
    ) -> Explanation:
        """Split the log odds of every row by column: what it changes when it is filled in."""
        from suffice.learning.results import Explanation
        from suffice.models.pool.explanation import explain_pool

        model, classes = self.model, self.classes
        pair = comparison(model.labels, of, against)
        rows, names = self.rows(X), self.columns.names
        found = explain_pool(model, rows, pair)
        words = {} if model.words is None else model.words.words(rows, found.of, found.against)
        return Explanation(
            classes[found.of],
            classes[found.against],
            found.baseline,
            found.contributions,
            None,
            (*names, ALL_BLANK),
            {names[j]: tuple(said) for j, said in words.items()} or None,
        )

    def judged(self, X: object, y: object) -> FloatArray:
        """Return p(y | x) of rows of the fit (n, k), by members that have not seen them."""
        if self.statistics.sample.limit < END:
            raise BadSetting(
                f"with more than {MOST:,} rows a pool evaluates a sample only",
                hint="log_loss_ and accuracy_ are judged by that sample",
            )
        batch = self.learner.read(X, y, None, self)
        fit = self.fit
        if getattr(fit, "judged", None) is None:  # from a file, which holds rows and shares
            fit = self.learner.estimate(self)
        assert fit.hashes is not None
        assert fit.judged is not None
        hashes = row_hashes(batch.rows, batch.codes, batch.labels)
        places = np.minimum(np.searchsorted(fit.hashes, hashes), len(fit.hashes) - 1)
        strange = np.flatnonzero(fit.hashes[places] != hashes)
        if len(strange):
            said = "{row} with its label was not in the fit: it was not judged"
            raise BadSetting(
                Phrase(said, row=RowAt(int(strange[0]))),
                hint="predict_proba answers about new rows",
            )
        found: FloatArray = fit.judged[places]
        return found

    def stored_state(self, *, statistics: bool = True) -> dict[str, object]:
        """Return decisions and rows: members learn again from these when the file is read."""
        if not statistics:
            raise BadSetting(
                "a pool predicts from the rows it stores: they cannot be left out",
                hint="save it with its statistics, or save one model: suffice fit --model best",
            )
        found = super().stored_state(statistics=statistics)
        return found | {"model": replace(found["model"], sample=None)}
