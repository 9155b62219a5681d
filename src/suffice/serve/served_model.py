"""One model as a server has it: what it answers, and the model that takes its place."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.errors import BadSetting, NoPValue, NotADensity
from suffice.learning.learned import Learned
from suffice.learning.left_out import StatisticsLeftOut
from suffice.learning.stored import LEARNERS, learned_of
from suffice.learning.table_recipe import TableNotes, filled_table
from suffice.rows.cells import CATEGORY, NUMBER
from suffice.serve.records import RowReader
from suffice.storage.describe import describe
from suffice.storage.model_file import model_bytes, read_model_bytes, stored_rows
from suffice.training.decimals import decimals_in
from suffice.training.opened_files import LAW
from suffice.training.saved_models import MIXTURE, MIXTURES, Saved

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray, Table
    from suffice.storage.describe import Account
    from suffice.storage.model_file import StoredModel

LINES = ("LogisticRegression", "Perceptron")
"""Estimators that are not sums of rows: what they would learn depends on the order."""
PERCEPTRON = "Perceptron"
"""The estimator that has classes, and no probabilities."""


class Predicted(NamedTuple):
    """Answers about rows: places among the classes, and p(y | x) where the model has it."""

    codes: IntArray
    posterior: FloatArray | None


@dataclass(slots=True, eq=False)
class ServedModel:
    """A model, its name, and what is made of it for answering; replaced as a whole, never changed.

    name    by which it is asked for
    stored  what its file holds; of one that has learned since, of its first state
    first   the model with the notes about its table
    later   what learns rows beside it that nobody has looked at yet, if there are any
    """

    name: str
    stored: StoredModel
    first: Saved
    reader: RowReader = None  # type: ignore[assignment]  # made below unless it is known
    later: Callable[[], Learned] | None = None
    classes: list[Any] = field(init=False)
    _account: Account | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.later is None:
            self.classes = self._labels()
        if self.reader is None:
            self.reader = _reader_of(self)

    @classmethod
    def of_bytes(cls, name: str, data: bytes, place: str) -> ServedModel:
        """Read a model file; what cannot be asked for classes is refused."""
        stored = read_model_bytes(data, place)
        if stored.estimator == LAW:
            raise BadSetting(
                f"{place} is a {LAW}, a distribution of rows without classes",
                hint="in Python, suffice.load reads it; models with classes can be served",
            )
        notes = TableNotes.from_state(stored.state) or TableNotes()
        sums = stored.estimator in LEARNERS and stored.estimator not in LINES
        model = learned_of(place, stored) if sums else None
        return cls(name, stored, Saved(model, notes, decimals_in(stored.state)))

    def becoming(self, learned: Learned, tables: Sequence[Table] | None = None) -> ServedModel:
        """Return the same model after it has learned tables; without them, after it has forgotten.

        What reads rows knows the categories of the tables then; they are not looked up again.
        """
        saved = Saved(learned, self.notes, self.first.decimals)
        if tables is None:
            return ServedModel(self.name, self.stored, saved)
        reader = self.reader
        for table in tables:
            reader = reader.knowing(table)
        return ServedModel(self.name, self.stored, saved, reader)

    def becoming_later(self, learned: Callable[[], Learned]) -> ServedModel:
        """Return the same model after it has learned rows of known classes and categories.

        They are learned when somebody looks: what many requests have brought costs as one batch.
        """
        found = ServedModel(self.name, self.stored, self.first, self.reader, learned)
        found.classes = self.classes
        return found

    # What it is

    @property
    def saved(self) -> Saved:
        """The model with the notes about its table."""
        later = self.later
        if later is not None:
            self.first = Saved(later(), self.first.notes, self.first.decimals)
            self.later = None  # whoever asks at the same moment finds the same
        return self.first

    @property
    def learned(self) -> Learned:
        """What was learned, of models that are sums."""
        model: Learned = self.saved.model
        return model

    @property
    def adds_up(self) -> bool:
        """Whether it is made of sums."""
        return isinstance(self.first.model, Learned)

    @property
    def is_ready(self) -> bool:
        """Whether it answers without learning or estimating anything first."""
        return not self.adds_up or (self.later is None and self.learned.is_estimated)

    @property
    def notes(self) -> TableNotes:
        """How its table is read."""
        return self.first.notes

    @property
    def target(self) -> str | None:
        """The column of labels, if the file says so."""
        return self.first.notes.target

    @property
    def columns(self) -> Any:
        """The columns of the table, before anything was filled or coded."""
        if self.notes.filled is not None:
            return self.notes.filled.columns
        if self.adds_up:
            return self.learned.columns
        held = self.stored.state["columns"]
        return getattr(held, "columns", held) if hasattr(held, "kept") else held

    def why_it_cannot_learn(self) -> str | None:
        """Return why it learns nothing; None if it can."""
        name = self.stored.estimator
        if name in MIXTURES:
            return f"{self.name} is a {name}: it finds its own classes, so rows have no labels"
        if not self.adds_up:
            return (
                f"{self.name} is a {name}, which is not built from sums: the result would depend "
                f"on "
                "the order of requests, and nothing could be forgotten"
            )
        if not self.learned.learner.adds_up:
            return (
                f"{self.name} is a {name}: what it learns depends on the order of rows, and "
                "nothing could be forgotten"
            )
        if isinstance(self.learned.statistics, StatisticsLeftOut):
            return f"{self.name} was saved without its statistics: it can predict, but not learn"
        return None

    def account(self) -> Account:
        """Return what `suffice inspect` says."""
        if self._account is None:
            self._account = describe(self.file())
        return self._account

    def described(self) -> dict[str, object]:
        """Return the same as plain values."""
        notes = self.notes
        return {
            "name": self.name,
            **self.account().to_dict(),
            "target": notes.target,
            "filled": list(() if notes.filled is None else notes.filled.names),
            "dropped": list(notes.dropped),
        }

    def file(self, *, statistics: bool = True) -> StoredModel:
        """Return what a file would hold of it now."""
        if not self.adds_up and statistics:
            return self.stored
        return self._whole().stored(statistics=statistics)

    def file_bytes(self, *, statistics: bool = True) -> bytes:
        """Return the model file of now."""
        return model_bytes(self.file(statistics=statistics))

    def _whole(self) -> Saved:
        """Return the model with all that it can be asked: linear ones as estimators."""
        if self.saved.model is None:
            from suffice.estimators.saving import restored

            # A server need not have the library of the frames that it was fitted to.
            stored = replace(self.stored, state={**self.stored.state, "frame": None})
            self.saved.model = _Held(restored(self.name, stored))
        model = self.saved.model
        if isinstance(model, _Held):
            return Saved(model.estimator, self.notes, self.saved.decimals)
        return self.saved

    def _labels(self) -> list[Any]:
        if self.adds_up:
            return list(self.learned.labels)
        model = self.stored.state["model"]
        found = list(model.labels)
        return [*found, -1] if self._has_noise else found

    @property
    def _has_noise(self) -> bool:
        """Whether a mixture has a component that is not a class: its rows are -1."""
        if self.stored.estimator != MIXTURE:
            return False
        noise: float = self.stored.state["mixture"].noise
        return noise > 0.0

    # Answers

    def predict(self, table: Table) -> Predicted:
        """Return classes and probabilities."""
        if self.adds_up:
            posterior = self.learned.posterior(self.filled(table))
            return Predicted(posterior.argmax(axis=1), posterior)
        if self._has_noise:
            return self._noisy(table)
        model, rows = self.stored.state["model"], stored_rows(self.stored, self.filled(table))
        if self.stored.estimator == PERCEPTRON:
            return Predicted(model.codes(rows), None)
        posterior = model.posterior(rows)
        return Predicted(posterior.argmax(axis=1), posterior)

    def _noisy(self, table: Table) -> Predicted:
        estimator = self._whole().model
        found = np.asarray(estimator.predict(table))
        places = {label: code for code, label in enumerate(self.classes)}
        codes = np.array([places[label] for label in found.tolist()], dtype=np.intp)
        posterior = np.asarray(estimator.predict_proba(table))
        return Predicted(codes, posterior if posterior.shape[1] == len(self.classes) else None)

    def filled(self, table: Table) -> Any:
        """Return a table as the model takes it: without blanks, where it cannot do with them."""
        filled = self.notes.filled
        return table if filled is None else filled_table(filled, table)

    def _asked(self, what: str, words: str) -> Callable[..., Any]:
        """Return a method of the model, or refuse what it does not have."""
        whole = self._whole()
        if not whole.offers(what):
            raise NotADensity(
                f"{self.name} is a {whole.name}: it cannot {words}",
                hint="gda, qda and naive-bayes can: suffice fit --model",
            )
        found: Callable[..., Any] = getattr(_without_frames(whole.model), what)
        return found

    def typicality(self, table: Table) -> FloatArray:
        """Return, per class, the p-value of each row."""
        asked = self._asked("typicality", "say how typical a row is")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoPValue)
            found = np.asarray(asked(self.filled(table)), dtype=np.float64)
        return found[:, np.newaxis] if found.ndim == 1 else found

    def explain(self, table: Table, of: object, against: object) -> list[dict[str, Any]]:
        """Return, for each row, what each column adds to the log odds of two classes."""
        asked = self._asked("explain", "be explained by columns")
        rows = self.filled(table)
        pair = {
            name: label for name, label in (("of", of), ("against", against)) if label is not None
        }
        if self.saved.name == "TextClassifier":
            return [
                _explained(asked(rows.rows(slice(i, i + 1)), **pair), 0) for i in range(rows.size)
            ]
        found = asked(rows, **pair)
        return [_explained(found, i) for i in range(rows.size)]

    def sample(
        self, size: int, label: Any, seed: int
    ) -> tuple[list[str], list[list[Any]], list[Any]]:
        """Return names, columns of cells and labels of rows that the model makes up."""
        from suffice.training.decimals import rounded

        asked = self._asked("sample", "generate rows")
        rng = np.random.default_rng(seed)
        if self.stored.estimator in MIXTURES:
            if label is not None:
                raise BadSetting("a mixture draws from all its components", hint="leave class out")
            X, y = asked(size, rng)
        else:
            X, y = asked(size, label, rng)
        names = list(self.columns.names)
        if (
            self.saved.model is not None
            and self.stored.estimator == "TextClassifier"
            and not (self.columns.named and len(names) == 1)
        ):
            names = ["text"]
        decimals, spellings = self.saved.decimals, self.notes.spellings
        columns = []
        for name, cells in zip(names, _cells(X, len(names)), strict=True):
            drawn: list[Any] = rounded(cells, decimals.get(name))
            if name in spellings:
                drawn = [spellings[name].written(cell, decimals.get(name)) for cell in drawn]
            columns.append([_plain(cell) for cell in drawn])
        return names, columns, [_plain(label) for label in np.asarray(y).tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """The estimator of a model that is not a sum."""

    estimator: Any


def _without_frames(model: Any) -> Any:
    """Return a model that gives arrays back: a server need not have the library of its frames."""
    if getattr(model, "frame", None) is None:
        return model
    bare = replace(model, frame=None)
    return bare.knowing(model.fit) if isinstance(model, Learned) else bare


def _plain(cell: object) -> Any:
    """Return a cell as JSON has it; NaN is blank."""
    cell = cell.item() if isinstance(cell, np.generic) else cell
    return None if isinstance(cell, float) and not np.isfinite(cell) else cell


def _explained(found: Any, row: int) -> dict[str, Any]:
    return {
        "of": _plain(found.of[row]),
        "against": _plain(found.against[row]),
        "log_odds": _plain(found.log_odds[row]),
        "baseline": _plain(found.baseline[row]),
        "contributions": {
            name: _plain(value)
            for name, value in zip(found.columns, found.contributions[row].tolist(), strict=True)
        },
    }


def _cells(rows: Any, width: int) -> list[list[object]]:
    """Return the columns of drawn rows: a frame of any library, or an array."""
    if isinstance(rows, list):  # of texts
        return [rows]
    if hasattr(rows, "toarray"):
        rows = rows.toarray()
    if hasattr(rows, "shape") and hasattr(rows, "dtype"):
        return [rows[:, j].tolist() for j in range(width)]
    import narwhals as nw

    frame = nw.from_native(rows, eager_only=True)
    return [series.to_list() for series in frame.iter_columns()]


def _reader_of(model: ServedModel) -> RowReader:
    """Return what reads rows for a model."""
    columns = model.columns
    held = tuple(columns.columns)
    kinds = tuple(getattr(column, "kind", NUMBER) for column in held)
    text = model.stored.estimator == "TextClassifier"
    levels: list[frozenset[Any] | None] = [None] * len(held)
    if CATEGORY in kinds and not text:
        known: dict[str, Any] = {}
        if model.adds_up:
            known = {column.name: column.levels for column in model.account().columns}
        for j, (name, column) in enumerate(zip(columns.names, held, strict=True)):
            own = getattr(column, "levels", ()) or known.get(name, ())
            levels[j] = frozenset(own) if own else None
    notes = model.notes
    silent = {*notes.dropped, *((notes.target,) if notes.target else ())}
    return RowReader(
        tuple(columns.names), kinds, bool(columns.named), tuple(levels), frozenset(silent),
        notes.spellings,
    )  # fmt: skip


def known_labels(model: ServedModel) -> Sequence[object]:
    """Return the classes as JSON has them."""
    return [_plain(label) for label in model.classes]


def told_codes(labels: Sequence[object], codes: NDArray[np.generic]) -> list[object]:
    """Return the label of each code."""
    return [labels[code] for code in codes.tolist()]
