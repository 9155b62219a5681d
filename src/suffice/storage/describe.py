"""What a stored model holds, in words: for people who meet a file and want to know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import listed
from suffice.storage.known_classes import name_of

if TYPE_CHECKING:
    from suffice.rows import FloatArray, Label
    from suffice.storage.model_file import StoredModel


FORMS = {
    "shared": "all classes share one covariance",
    "per-class": "each class has its own covariance",
    "diagonal": "columns are independent, with variances of each class",
    "shared-diagonal": "columns are independent, with variances that all classes share",
    "spherical": "each class has one variance for all columns",
}

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
class Account:
    """What a stored model holds."""

    estimator: str
    rows: float | None
    classes: tuple[ClassAccount, ...]
    columns: tuple[ColumnAccount, ...]
    settings: tuple[tuple[str, Any], ...]
    assumptions: tuple[str, ...]
    can_learn: bool
    can_forget: bool

    def to_dict(self) -> dict[str, Any]:
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
        }

    def __str__(self) -> str:
        known = "" if self.rows is None else f", learned from {_rows(self.rows)}"
        lines = [f"{self.estimator}{known}"]
        if self.classes:
            lines += ["", _counted(len(self.classes), "class", "classes")]
        for c in self.classes:
            parts = [] if c.weight is None else [_rows(c.weight)]
            parts += [] if c.prior is None else [f"prior {c.prior:.4g}"]
            lines.append(f"  {shown(c.label)}" + (": " if parts else "") + ", ".join(parts))
        lines += ["", _counted(len(self.columns), "column", "columns")]
        for column in self.columns[:MOST_COLUMNS]:
            told = column.kind if column.family is None else f"{column.kind}, {column.family}"
            levels = ["blank" if level is None else shown(level) for level in column.levels]
            lines.append(
                f"  {shown(column.name)}: {told}" + (f" ({listed(levels)})" if levels else "")
            )
        if len(self.columns) > MOST_COLUMNS:
            lines.append(f"  and {len(self.columns) - MOST_COLUMNS:,} more; --json has them all")
        lines += ["", "It assumes that", *(f"  {one}" for one in self.assumptions)]
        given = [f"  {name}={value!r}" for name, value in self.settings if _is_given(value)]
        lines += ["", "Settings", *given] if given else []
        return "\n".join([*lines, "", _abilities(self.can_learn, self.can_forget)])


def _is_given(value: Any) -> bool:
    """Whether a setting is worth a line: what is off, or left to the model, is not."""
    return value is not None and value is not False


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
    linear = name_of(model) == "LinearForm"
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
        tuple(_assumptions(stored)),
        streams if linear else state["statistics"] is not None,
        not linear and state["statistics"] is not None,
    )


def _law_account(stored: StoredModel) -> Account:
    """Return what a normal law of its own holds."""
    law, evidence, spread = (stored.state[name] for name in ("model", "evidence", "spread"))
    fitted = evidence is not None and evidence.weight > 0.0
    assumptions = ["rows are normal"]
    if spread.rank < len(law.mean):
        assumptions.append(f"they vary in {spread.rank} of {len(law.mean)} directions")
    return Account(
        stored.estimator,
        evidence.weight if fitted else None,
        (),
        _columns(stored.state, law),
        (),
        tuple(assumptions),
        False,
        False,
    )


def _weights(state: Any, model: Any) -> tuple[list[Any], list[Any], float | None]:
    """Return the weights and priors of the classes, and how many rows there were."""
    none = [None] * len(model.labels)
    if hasattr(model, "log_priors"):
        scores = any(name_of(law) == "ComplementForm" for law in getattr(model, "laws", ()))
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


def _columns(state: Any, model: Any) -> tuple[ColumnAccount, ...]:
    held = state["columns"]
    columns = held.columns if name_of(held) == "Design" else held
    families: dict[str, str] = {}
    levels: dict[str, tuple[Any, ...]] = {}
    if name_of(model) == "NaiveBayesModel":
        families = model.product.described(columns.names)
        for law, places in zip(model.laws, model.product.columns, strict=True):
            inner = getattr(law, "inner", law)
            if name_of(inner) == "CategoricalColumns":
                shown = zip(places, inner.levels, strict=True)
                levels |= {columns.names[j]: known for j, known in shown}
    found = []
    texts = name_of(model) == "TextRecord"
    for name, column in zip(columns.names, columns.columns, strict=True):
        kind = "text" if texts else getattr(column, "kind", "number")
        known = levels.get(name, getattr(column, "levels", ()))
        found.append(ColumnAccount(name, kind, families.get(name), tuple(known)))
    return tuple(found)


def _assumptions(stored: StoredModel) -> list[str]:
    model, settings = stored.state["model"], stored.settings
    given = ["classes come in the shares that were given, not in those of the rows"]
    given = given if settings.get("priors") is not None else []
    if name_of(model) == "GenerativeModel":
        return _of_covariances(stored) + given
    if name_of(model) == "TextRecord":
        return text_assumptions(model) + given
    if name_of(model) == "NaiveBayesModel":
        found = _of_columns(model)
        if model.temperature != 1.0:
            found.append(f"but say partly the same: evidence counts {model.temperature:.3g} times")
        return found + given
    if stored.estimator == "Perceptron":
        return ["a plane parts the classes, or nearly so; its scores are no probabilities"]
    found = ["the log odds of the classes are linear in the columns"]
    fit: Any = stored.state.get("found")
    if fit is not None and fit.penalty > 0.0:
        zero = " or zero" if fit.l1_ratio > 0.0 else ""
        found.append(f"coefficients are small{zero}: a penalty of {fit.penalty:g}")
    if fit is not None and fit.correction is not None:
        found.append("coefficients are held back by Jeffreys' prior: Firth's correction")
    if fit is not None and fit.separation is not None:
        found.append("but a plane parts its classes: there is no maximum of the likelihood")
    if fit is not None and fit.undecided is not None:
        found.append("whether a plane parts its classes is not known: there are no standard errors")
    return found


def _of_covariances(stored: StoredModel) -> list[str]:
    """Return what is assumed about the covariances of normal classes."""
    settings, chosen = stored.settings, stored.state.get("chosen")
    form = str(settings.get("covariance", "shared"))
    pool, shrink = settings.get("pool"), settings.get("shrink")
    if chosen is not None:
        pool, shrink = chosen.pool, chosen.shrink
        form = "shared" if pool == 1.0 else "per-class"
    found = ["the rows of each class are normal", FORMS.get(form, form)]
    if pool and form == "per-class":
        found.append(f"pooled with that of all classes, by {pool:g}")
    if shrink:
        found.append(f"covariances between columns are shrunk, by {shrink:g}")
    return found if chosen is None else [*found, "which was chosen by leave-one-out"]


def _of_columns(model: Any) -> list[str]:
    """Return what is assumed about the columns of naive Bayes."""
    kinds = {name_of(law) for law in model.laws}
    if kinds == {"ComplementForm"}:
        return [
            "the counts of a row are draws, one by one, with the shares of a class",
            "a row is compared with the rows of all other classes: scores are no probabilities",
        ]
    if kinds == {"MultinomialCounts"}:
        return ["the counts of a row are draws, one by one, with the shares of its class"]
    found = ["the columns are independent within each class"]
    if "MultinomialCounts" in kinds:
        found.append("but those that are multinomial are the counts of one list of draws")
    return found


def _abilities(can_learn: bool, can_forget: bool) -> str:
    if can_forget:
        return "It holds its statistics: it can learn more, forget, and be merged."
    if can_learn:
        return "It can learn more rows, one after the other."
    return "It holds no statistics: it answers, and learns nothing more."


def shown(name: object) -> str:
    r"""Return a name as it is; quoted, if it holds what a terminal would obey or break at.

    >>> shown("age"), shown("a\nb")
    ('age', "'a\\nb'")
    """
    text = str(name)
    return text if text.isprintable() and text.strip() == text != "" else repr(name)


def _counted(size: int, one: str, many: str) -> str:
    return f"{size:,} {one if size == 1 else many}"


def _rows(weight: float) -> str:
    """Return how many rows a weight is; what is no whole number is called a weight."""
    if weight != round(weight):
        return f"rows of weight {_number(weight)}"
    return f"{_number(weight)} {'row' if weight == 1.0 else 'rows'}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.6g}"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(held) for key, held in value.items()}
    plain = value is None or isinstance(value, (bool, int, float, str))
    return value if plain else repr(value)


EVENTS = {
    "bernoulli": "each term is in a document or not, independently of the others",
    "boolean": "the different terms of a document are drawn one by one",
    "complement": "a document is compared with those of all other classes",
    "multinomial": "the terms of a document are drawn one by one",
}


def text_assumptions(model: Any) -> list[str]:
    """Return what is assumed about documents."""
    found = []
    if model.terms is not None:
        kinds = sum(group.width for group in model.term_counts.groups.values())
        found += [
            f"{EVENTS[model.terms.event]} ({kinds:,} counts)",
            f"a term of a class has been seen {model.smoothing:.3g} times more than it was",
        ]
    if model.language is not None:
        counts = model.ngram_counts.groups.values()
        found.append(
            f"a byte of a text depends on the {model.language.order - 1} before it "
            f"({sum(group.width for group in counts):,} counts)"
        )
    if model.factors is not None:
        told = ", ".join(f"{factor:.3g}" for factor in model.factors)
        found.append(f"but a text of n terms or bytes says what {told} times √n would say alone")
    return found


def document_lengths(model: Any) -> tuple[tuple[str, ...], FloatArray]:
    """Return how many terms and bytes a document of each class has, as names and means (k, p)."""
    given = {"terms of a document": model.term_counts, "bytes of a document": model.ngram_counts}
    held = {name: counts for name, counts in given.items() if counts is not None}
    sums = [
        [counts.groups[label].counts.sum() for counts in held.values()] for label in model.labels
    ]
    return tuple(held), np.array(sums) / model.weights[:, np.newaxis]
