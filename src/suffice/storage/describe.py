"""What a stored model holds, in words: for people who meet a file and want to know."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import listed
from suffice.places import counted
from suffice.storage.known_classes import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.models.gaussian.law.factored_covariance import Spread
    from suffice.models.gaussian.law.normal import Normal
    from suffice.models.gaussian.normal_fit import Evidence
    from suffice.models.pool.model import PoolModel
    from suffice.models.text.learner import TextRecord
    from suffice.rows import FloatArray, Label
    from suffice.storage.model_file import StoredModel
    from suffice.storage.pool_account import PoolAccount


MOST_COLUMNS = 60
"""Columns that are told one by one."""


@dataclass(frozen=True, slots=True)
class ClassAccount:
    """A class: how many rows it was learned from, and its prior; None where they are not known."""

    label: Label
    weight: float | None
    prior: float | None


@dataclass(frozen=True, slots=True)
class ColumnAccount:
    """A column: its kind, the family of its law, where it has one, and the levels it knows."""

    name: str
    kind: str
    family: str | None
    levels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class MixtureAccount:
    """What only a mixture has: how it was chosen, how well it fits, and what belongs to none."""

    form: str
    tried: int
    criterion: str
    log_likelihood: float
    parameters: int
    bic: float
    noise: float
    converged: bool
    penalised: bool
    waiting: int

    def to_dict(self) -> dict[str, object]:
        """Return the same as what JSON can hold."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return the same for people."""
        chosen = f", the best of {self.tried} by {self.criterion.upper()}" * (self.tried > 1)
        told = [f"The form of its clusters is {self.form}{chosen}."]
        if self.parameters and self.log_likelihood:
            told.append(
                f"Log-likelihood {self.log_likelihood:,.2f} with {self.parameters:,} parameters: "
                f"BIC {self.bic:,.2f}."
            )
        if self.noise > 0.0:
            told.append(f"Noise: {self.noise:.1%} of the rows belong to no cluster.")
        if not self.converged:
            told.append("EM was stopped before it had converged.")
        if self.penalised:
            told.append("A prior keeps its clusters from collapsing onto rows that are equal.")
        if self.waiting:
            waiting = counted(self.waiting, "row waits", "rows wait")
            told.append(f"{waiting} for the next step of EM.")
        return told


@dataclass(frozen=True, slots=True)
class Account:
    """What a stored model holds; `pool` and `mixture` are what only these have."""

    estimator: str
    rows: float | None
    classes: tuple[ClassAccount, ...]
    columns: tuple[ColumnAccount, ...]
    settings: tuple[tuple[str, Any], ...]
    assumptions: tuple[str, ...]
    can_learn: bool
    can_forget: bool
    pool: PoolAccount | None = None
    mixture: MixtureAccount | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the same as what JSON can hold."""
        return {
            "estimator": self.estimator,
            "rows": self.rows,
            "classes": [
                {"label": c.label, "weight": c.weight, "prior": c.prior} for c in self.classes
            ],
            "columns": [
                {"name": c.name, "kind": c.kind, "family": c.family, "levels": list(c.levels)}
                for c in self.columns
            ],
            "settings": {name: _plain(value) for name, value in self.settings},
            "assumptions": list(self.assumptions),
            "can_learn": self.can_learn,
            "can_forget": self.can_forget,
            **({} if self.pool is None else {"pool": self.pool.to_dict()}),
            **({} if self.mixture is None else {"mixture": self.mixture.to_dict()}),
        }

    def __str__(self) -> str:
        known = "" if self.rows is None else f", learned from {_rows(self.rows)}"
        lines = [f"{self.estimator}{known}"]
        if self.classes:
            words = ("class", "classes") if self.mixture is None else ("cluster", "clusters")
            lines += ["", counted(len(self.classes), *words)]
        for c in self.classes:
            parts = [] if c.weight is None else [_rows(c.weight)]
            word = "prior" if self.mixture is None else "share"
            parts += [] if c.prior is None else [f"{word} {c.prior:.4g}"]
            lines.append(f"  {shown(c.label)}" + (": " if parts else "") + ", ".join(parts))
        from suffice.printing.level_order import level_order  # who predicts does without

        lines += ["", counted(len(self.columns), "column", "columns")]
        for column in self.columns[:MOST_COLUMNS]:
            told = column.kind if column.family is None else f"{column.kind}, {column.family}"
            ordered = level_order(column.levels)
            levels = ["blank" if level is None else shown(level) for level in ordered]
            lines.append(
                f"  {shown(column.name)}: {told}" + (f" ({listed(levels)})" if levels else "")
            )
        if len(self.columns) > MOST_COLUMNS:
            lines.append(f"  and {len(self.columns) - MOST_COLUMNS:,} more; --json has them all")
        lines += [] if self.pool is None else ["", *self.pool.lines()]
        lines += [] if self.mixture is None else ["", *self.mixture.lines()]
        lines += ["", "It assumes that", *(f"  {one}" for one in self.assumptions)]
        given = [f"  {name}={value!r}" for name, value in self.settings if _is_given(value)]
        lines += ["", "Settings", *given] if given else []
        return "\n".join([*lines, "", _abilities(self.can_learn, self.can_forget)])


def _is_given(value: object) -> bool:
    """Whether a setting is worth a line: what is off, or left to the model, is not."""
    return value is not None and value is not False


def _assumed(stored: StoredModel) -> list[str]:
    from suffice.storage.assumptions import assumptions  # only `inspect` asks

    return assumptions(stored)


def describe(stored: StoredModel) -> Account:
    """Return what a stored model holds; `str` of it is for reading.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from suffice import GaussianDiscriminant
    >>> from suffice.storage.model_file import read_model
    >>> place = Path(tempfile.mkdtemp()) / "model.suffice"
    >>> GaussianDiscriminant().fit([[1.0], [2.0], [5.0], [6.0]], list("aabb")).save(place)
    >>> describe(read_model(place)).classes[0]
    ClassAccount(label='a', weight=2.0, prior=0.5)
    """
    state, model = stored.state, stored.state["model"]
    if name_of(model) == "Normal":
        return _law_account(stored)
    linear = name_of(model) in ("AveragedForm", "LinearForm")
    weights, priors, rows = _weights(state, model)
    held = state.get("stream") or state.get("seen") or state.get("found")
    streams = held is not None and name_of(held) != "LogisticFit"
    streams = streams and stored.settings.get("correction") is None
    streams = streams and stored.settings.get("intercept") is not False
    penalty = stored.settings.get("penalty", 0.0)
    streams = streams and not (penalty and stored.settings.get("l1_ratio", 0.0))
    return Account(
        stored.estimator,
        rows,
        tuple(
            ClassAccount(label, weight, prior)
            for label, weight, prior in zip(model.labels, weights, priors, strict=True)
        ),
        _columns(state, model),
        tuple(stored.settings.items()),
        tuple(_assumed(stored)),
        streams if linear else state["statistics"] is not None,
        not linear and state["statistics"] is not None and "latent" not in state,
        _pool(model, state) if name_of(model) == "PoolModel" else None,
        _mixture(stored) if "mixture" in state else None,
    )


def _mixture(stored: StoredModel) -> MixtureAccount:
    """Return what only a mixture has."""
    record, stream = stored.state["mixture"], stored.state.get("stream")
    cost = record.parameters * float(np.log(max(record.weight, 1.0)))
    return MixtureAccount(
        record.form,
        len(record.forms),
        str(stored.settings.get("criterion", "bic")),
        record.log_likelihood,
        record.parameters,
        cost - 2.0 * record.log_likelihood,
        record.noise,
        record.converged,
        record.penalised,
        0 if stream is None else len(stream.weights),
    )


def _pool(model: PoolModel, state: Mapping[str, object]) -> PoolAccount:
    """Return what only a pool has."""
    from suffice.storage.pool_account import PoolAccount  # other models do without

    return PoolAccount.of(model, state)


def _law_account(stored: StoredModel) -> Account:
    """Return what a normal law of its own holds."""
    law: Normal = stored.state["model"]
    evidence: Evidence | None = stored.state["evidence"]
    spread: Spread = stored.state["spread"]
    rows = None if evidence is None or not evidence.weight > 0.0 else evidence.weight
    assumptions = ["rows are normal"]
    if spread.rank < len(law.mean):
        assumptions.append(f"they vary in {spread.rank} of {len(law.mean)} directions")
    return Account(
        stored.estimator,
        rows,
        (),
        _columns(stored.state, law),
        (),
        tuple(assumptions),
        False,
        False,
    )


def _weights(state: Mapping[str, Any], model: Any) -> tuple[list[Any], list[Any], float | None]:
    """Return the weights and priors of the classes, and how many rows there were."""
    none = [None] * len(model.labels)
    if hasattr(model, "log_priors"):
        scores = not all(law.is_density for law in getattr(model, "laws", ()))
        priors = none if scores else np.exp(model.log_priors).tolist()
        return model.weights.tolist(), priors, float(model.weights.sum())
    seen = state.get("seen")
    for name in ("stream", "found"):
        part = state.get(name)
        part = getattr(part, "online", part)
        seen = getattr(part, "seen", None) or seen
    if seen is not None:
        return seen.weights.tolist(), none, float(seen.weights.sum())
    found = state.get("found")
    return none, none, None if found is None else found.weight


def _columns(state: Mapping[str, Any], model: Any) -> tuple[ColumnAccount, ...]:
    held = state["columns"]
    columns = held.columns if name_of(held) == "Design" else held
    families: dict[str, str] = {}
    levels: dict[str, tuple[Any, ...]] = {}
    if name_of(model) == "NaiveBayesModel":
        families = model.product.described(columns.names)
        for law, places in zip(model.laws, model.product.columns, strict=True):
            inner = getattr(law, "inner", law)
            if inner.cells_are_levels:
                shown = zip(places, inner.levels, strict=True)
                levels |= {columns.names[j]: known for j, known in shown}
    found = []
    texts = name_of(model) == "TextRecord"
    for name, column in zip(columns.names, columns.columns, strict=True):
        worded = texts or families.get(name) in ("words", "bytes")
        kind = "text" if worded else getattr(column, "kind", "number")
        known = levels.get(name, getattr(column, "levels", ()))
        found.append(ColumnAccount(name, kind, families.get(name), tuple(known)))
    return tuple(found)


def _abilities(can_learn: bool, can_forget: bool) -> str:
    if can_forget:
        return "It has its statistics: it can learn more, forget, and be merged."
    if can_learn:
        return "It can learn more rows, one after the other."
    return "It has no statistics: it can predict, but not learn."


def shown(name: object) -> str:
    r"""Return a name as it is; quoted, if it holds what a terminal would obey or break at.

    >>> shown("age"), shown("a\nb")
    ('age', "'a\\nb'")
    """
    text = str(name)
    return text if text.isprintable() and text.strip() == text != "" else repr(name)


def _rows(weight: float) -> str:
    """Return how many rows a weight is; what is not a whole number is called a weight."""
    if weight != round(weight):
        return f"rows of weight {_number(weight)}"
    return f"{_number(weight)} {'row' if weight == 1.0 else 'rows'}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.6g}"


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(held) for key, held in value.items()}
    plain = value is None or isinstance(value, (bool, int, float, str))
    return value if plain else repr(value)


def document_lengths(model: TextRecord) -> tuple[tuple[str, ...], FloatArray]:
    """Return how many terms and bytes a document of each class has, as names and means (k, p)."""
    given = {"terms of a document": model.term_counts, "bytes of a document": model.ngram_counts}
    held = {name: counts for name, counts in given.items() if counts is not None}
    sums = [
        [counts.groups[label].counts.sum() for counts in held.values()] for label in model.labels
    ]
    return tuple(held), np.array(sums) / model.weights[:, np.newaxis]
