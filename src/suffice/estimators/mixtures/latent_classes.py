"""LatentClasses: naive Bayes whose classes are hidden, by scikit-learn's conventions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin

from suffice.errors import BadSetting, DidNotConverge, DifferentKinds, warn
from suffice.estimators.fitting_notes import NotFitted
from suffice.estimators.mixtures.latent_answers import LatentAnswers
from suffice.estimators.mixtures.settings import CRITERIA, numbers_to_try, seed_of, tolerance, whole
from suffice.learning.collect import is_elsewhere
from suffice.learning.frames import frame_library
from suffice.learning.learners.latent_classes import LatentClassesLearner, read_source
from suffice.learning.stored import saving
from suffice.learning.table_recipe import STATE, TableNotes
from suffice.models.latent.cells import joined
from suffice.models.latent.fitting import LatentSettings, fit_latent
from suffice.models.latent.record import LatentRecord
from suffice.models.latent.stream import next_statistics
from suffice.models.mixture.starts import different_rows, read_start
from suffice.storage.model_file import StoredModel, write_model

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.estimators.setting_types import Criterion
    from suffice.learning.learners.latent_classes import ReadRows
    from suffice.learning.learners.naive_bayes_answers import LearnedColumns
    from suffice.rows import FloatArray, IntArray


class LatentClasses(LatentAnswers, DensityMixin, BaseEstimator):
    """Rows of several classes that nobody has named: p(row) = Σ_c π_c ∏_j p(x_j | c).

    Columns may be numbers, counts, truths and categories; blanks are left out, exactly, and a
    weight of 2 is two rows. With smoothing, log-likelihood and log prior together never fall;
    without, the log-likelihood does not.

    Parameters
    ----------
    components : int, sequence of int, or "auto", default "auto"
        How many: a number, several to choose from, or "auto": 1, 2, … 9, until three in a row are
        worse than the best.
    families : str or dict, default "auto"
        As in NaiveBayes: "auto" looks at the columns; a name is for all; {column: family} names
        some, by name or position.
    smoothing : float, default 1.0
        A prior, α ≥ 0: as if each level had been seen α times more in every class; 0 is maximum
        likelihood.
    start : array-like, optional
        A class for each row (n,), or responsibilities (n, k), to begin with; None: some are drawn,
        and some by k-means.
    criterion : {"bic", "icl"}, default "bic"
        What the number is chosen by: "bic" or "icl".
    starts : int, default 12
        From how many places EM begins; the best go on. Where numbers are compared, fewer are made
        (a budget of work is shared by them, four of each at least), and all for the one chosen.
    tol : float, default 1e-08
        EM ends when less than that is still to be gained, a row (Aitken).
    max_iter : int, default 2000
        Steps of EM, at most.
    random_state : int or Generator, optional
        Seed of the starts; the same rows give the same classes anyway.

    See Also
    --------
    GaussianMixture : For columns of numbers that vary together.
    NaiveBayes : The same where classes are known.

    Examples
    --------
    >>> rows = [["red", 1.1, True], ["red", 0.9, True], ["blue", 5.2, False],
    ...         ["blue", 4.8, False], ["red", None, True], ["blue", 5.1, None]]
    >>> model = LatentClasses(2).fit(rows)
    >>> model.families_
    {'x0': 'categorical', 'x1': 'gaussian', 'x2': 'bernoulli'}
    >>> model.predict([["red", None, None], ["blue", 5.0, False]])
    array([1, 0])
    """

    _learned: LearnedColumns | None = None
    _record: LatentRecord | None = None
    _notes: TableNotes | None = None
    """How the table is read that it was learned from, where a command knows; `fit` forgets it."""

    def __init__(
        self,
        components: object = "auto",
        families: object = "auto",
        *,
        smoothing: float = 1.0,
        start: object = None,
        criterion: Criterion = "bic",
        starts: int = 12,
        tol: float = 1e-8,
        max_iter: int = 2000,
        random_state: object = None,
    ) -> None:
        self.components = components
        self.families = families
        self.smoothing = smoothing
        self.start = start
        self.criterion = criterion
        self.starts = starts
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    # Learning

    def _learner(self) -> LatentClassesLearner:
        return LatentClassesLearner(families=self.families, smoothing=self.smoothing)

    def fit(self, X: object, y: object = None, sample_weight: object = None) -> Self:  # noqa: ARG002
        """Learn the classes; `y` is not looked at.

        Parameters
        ----------
        X : array-like, frame or source of shape (n, d)
            Cells of every kind; blanks are legal. A row without any cell counts for nothing. A
            path, a glob, a stream, a table of a database or of a cluster is gone through once a
            step of EM, unless it fits in memory.
        y : ignored
        sample_weight : array-like of shape (n,) or str, optional
            How often each row counts; BIC counts their sum. Of a source, the column of weights.

        """
        learner = self._learner()
        elsewhere = None
        if is_elsewhere(X, None) and frame_library(X) is None:
            read, elsewhere = read_source(learner, X, sample_weight)
        else:
            read = learner.read_rows(X, sample_weight)
        start = None
        if self.start is not None:
            if elsewhere is not None:
                raise BadSetting(
                    "start needs one entry for each row, and these rows are not in memory",
                    hint="leave start out, or read the rows into memory",
                )
            start = self._read_start(read)
        settings = self._settings(read, start)
        hidden = read.learner.of_model()
        rows = read.rows if elsewhere is None else elsewhere
        found = fit_latent(rows, read.rows, hidden, settings, start)
        learned = read.learner.of_classes(read.columns, found.statistics, read.frame)
        self._notes = None
        self._become(learned.knowing(found.fit), LatentRecord.of(found))
        learned.knowing(found.fit).warn()
        if not found.converged:
            steps = len(found.history)
            warn(
                f"EM stopped after {steps} step{'s' * (steps != 1)} before it had converged",
                DidNotConverge,
            )
        return self

    def _read_start(self, read: ReadRows) -> FloatArray:
        given = self.components
        number = int(given) if isinstance(given, int | np.integer) else None
        return read.shares(read_start(self.start, read.given, number))

    def _settings(self, read: ReadRows, start: FloatArray | None) -> LatentSettings:
        components = numbers_to_try(self.components, read.size)
        distinct = len(read.rows)
        if start is not None:
            components = (start.shape[1],)
        elif components[0] > distinct:
            raise BadSetting(
                f"components={components[0]}, and {different_rows(distinct)}",
                hint="use no more components than there are different rows",
            )
        if self.criterion not in CRITERIA:
            raise BadSetting(
                f"criterion={self.criterion!r} is not known", hint='choose "bic" or "icl"'
            )
        return LatentSettings(
            tuple(k for k in components if start is not None or k <= distinct),
            self.criterion,
            tolerance(self.tol),
            whole("max_iter", self.max_iter, 1),
            whole("starts", self.starts, 1),
            0 if self.random_state is None else seed_of(self.random_state),
            isinstance(self.components, str),
        )

    def partial_fit(self, X: object, y: object = None, sample_weight: object = None) -> Self:  # noqa: ARG002
        """Learn from one more batch, by stepwise EM; the first batch is fitted whole.

        Batches are not kept: each is judged by the classes of its moment, and old ones fade. A
        first batch of a thousand rows or so gives classes that later ones can refine; how many
        there are, and the families of columns, are decided by it.
        """
        if self._learned is None or self._record is None:
            self.fit(X, None, sample_weight)
            assert self._record is not None
            self._record = replace(self._record, batches=1)
            return self
        learned = self._learned
        learner: Any = learned.learner
        read = learner.read_rows(X, sample_weight, learned)
        batches = max(1, self._record.batches)
        hidden = learner.of_model()
        statistics = next_statistics(hidden, learned.statistics, read.rows, batches)
        kept = learner.of_classes(learned.columns, statistics, learned.frame)
        record = replace(self._record.of_stream(), batches=batches + 1)
        record = replace(record, parameters=hidden.parameters(kept.fit))
        self._become(kept.with_notes(learned.notes), record)
        return self

    def __add__(self, other: LatentClasses) -> Self:
        """Return the mixture of both, by their weights: the classes of one and of the other.

        That is not what a fit to the rows of both would find: classes that are alike stay apart.
        """
        if not isinstance(other, LatentClasses):
            return NotImplemented
        (ours, record), (theirs, also) = self._require(), other._require()
        first, second = ours.learner.chosen.product, theirs.learner.chosen.product
        names = ours.columns.names
        if names != theirs.columns.names:
            raise DifferentKinds(
                "the columns are not the same", hint="add models of the same columns, in order"
            )
        if first != second:
            raise DifferentKinds(
                f"the families differ: {first.differences(second, names)}",
                hint="name the families of these columns in both",
            )
        learner: Any = ours.learner
        statistics = joined(ours.statistics, theirs.statistics)
        learned = learner.of_classes(ours.columns, statistics, ours.frame)
        parameters = learner.of_model().parameters(learned.fit)
        both = replace(
            record.of_stream(), weight=record.weight + also.weight, parameters=parameters
        )
        found = type(self)(**self.get_params(deep=False))
        found.set_params(components=len(statistics.labels), start=None)
        return found._become(learned, both)

    def _become(self, learned: LearnedColumns, record: LatentRecord) -> Self:
        self._learned, self._record = learned, record
        columns = learned.columns
        self.n_features_in_ = len(columns.columns)
        if columns.named:
            self.feature_names_in_ = np.array(columns.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def _part_of(self, learned: LearnedColumns) -> Self:
        record = self._require()[1]
        found = type(self)(**self.get_params(deep=False))
        found.set_params(components=len(learned.labels), families="auto", start=None)
        return found._become(learned, replace(record.of_stream(), parameters=0))

    def fit_predict(self, X: object, y: object = None, **kwargs: object) -> IntArray:
        """Learn, and return the class of each row."""
        return self.fit(X, y, **kwargs).predict(X)

    def _require(self) -> tuple[LearnedColumns, LatentRecord]:
        if self._learned is None or self._record is None:
            raise NotFitted.of(self)
        return self._learned, self._record

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is anything to ask it."""
        return self._learned is not None

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing cells and categories are legal."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    # On disk

    def save(self, path: str | Path, *, statistics: bool = True) -> None:
        """Write the classes to a file, whole or not at all; `suffice.load` reads it.

        Without its statistics it answers, and learns nothing more.

        >>> import tempfile, suffice
        >>> place = tempfile.mkdtemp() + "/classes.suffice"
        >>> LatentClasses(2).fit([["a", 1]] * 30 + [["b", 0]] * 20).save(place)
        >>> suffice.load(place).predict([["b", None]])
        array([1])
        """
        with saving(path):
            write_model(path, self.stored(statistics=statistics))

    def stored(self, *, statistics: bool = True) -> StoredModel:
        """Return what a file holds of it; without statistics, what is needed to answer."""
        learned, record = self._require()
        settings = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name not in ("start", "random_state")
        }
        settings["components"] = self._stored_components()
        settings["families"] = learned.learner.chosen.asked
        if isinstance(self.random_state, int):  # a stream of numbers is nothing to keep
            settings["random_state"] = self.random_state
        # Shares that are given do not follow from statistics: without, the model stands alone.
        whole_model = statistics and learned.learner.priors is None
        state = learned.stored_state(statistics=whole_model)
        state["latent"] = record
        about: dict[str, object] = {
            "model": type(self).__name__,
            "columns": list(learned.columns.names[:1000]),
        }
        if self._notes is not None:
            state[STATE] = self._notes.to_dict()
        return StoredModel(type(self).__name__, settings, state, about)

    def _stored_components(self) -> object:
        given = self.components
        return given if isinstance(given, str | int) else self.components_

    def take_notes(self, notes: TableNotes | None) -> None:
        """Know how the table is read that it was learned from."""
        self._notes = notes
        if self._learned is not None:
            self._learned = self._learned.with_notes(notes)

    @classmethod
    def of_stored(cls, stored: StoredModel) -> Self:
        """Return the classes that a file holds, checked."""
        model = cls(**stored.settings)
        learned: Any = model._learner().restored(stored.state)
        if stored.fit is not None:
            learned = learned.knowing(stored.fit)
        record = stored.state["latent"]
        if not isinstance(record, LatentRecord):
            raise BadSetting("the file has no latent classes", hint="it is damaged: write it again")
        model._become(learned, record)
        model.take_notes(TableNotes.from_state(stored.state))
        return model

    # What was learned

    @property
    def schema(self) -> Any:
        """The columns that it knows: their names and kinds."""
        return self._require()[0].columns

    @property
    def components_(self) -> int:
        """How many classes there are."""
        return len(self._require()[0].labels)

    @property
    def families_(self) -> dict[str, str]:
        """The family of every column, by name."""
        learned = self._require()[0]
        found: dict[str, str] = learned.learner.chosen.product.described(learned.columns.names)
        return found

    @property
    def weights_(self) -> FloatArray:
        """The share of each class, largest first (k,)."""
        found: FloatArray = np.exp(self._require()[0].model.log_priors)
        return found

    @property
    def parameters_(self) -> dict[str, dict[int, dict[object, float]]]:
        """What was learned of every column: for each class its parameters, by name or level."""
        learned = self._require()[0]
        model, names = learned.model, learned.columns.names
        found: dict[int, dict[int, dict[object, float]]] = {}
        for law, group in zip(model.laws, model.product.columns, strict=True):
            for at, j in enumerate(group):
                found[j] = {c: law.described(at, c) for c in range(len(model.labels))}
        return {names[j]: found[j] for j in sorted(found)}

    @property
    def trials_(self) -> list[dict[str, Any]]:
        """What was tried: components, log-likelihood, parameters and criterion, best first."""
        return [trial._asdict() for trial in self._require()[1].trials]
