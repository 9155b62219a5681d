"""What two stored models differ in: settings, classes, columns, and what moved how far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import DifferentKinds
from suffice.storage.describe import shown
from suffice.storage.estimates import COEFFICIENT, LAW_MEAN, PROBABILITY, RATE, estimates_of
from suffice.storage.known_classes import name_of

if TYPE_CHECKING:
    from suffice.rows import FloatArray, Label
    from suffice.storage.estimates import Estimates
    from suffice.storage.model_file import StoredModel

SHOWN = 20
"""Moves that are listed in words."""
SHARE = "share of the rows"
"""The kind of a move of the priors, which belong to no column."""
MEMBER_SHARE, EXPONENT = "share in the sum", "exponent in the product"
"""How a member of a pool is put together with the others."""
LOG_LOSS, PRODUCT = "judged log-loss", "part of the product"
"""What is known of the members of a pool; together they are called TOGETHER."""
TOGETHER = "all members together"
"""What the pool itself is called in a difference."""

SAME_ERRORS, SAME = 1e-6, 1e-9
"""Standard errors, or parts of itself, that an estimate may move by and is still the same."""


@dataclass(frozen=True, slots=True)
class Move:
    """One estimate before and after, and the difference in its standard errors.

    `errors` is None where no standard error is known, and infinite where there was no variance.
    `against` is the class that a coefficient compares with. `label` is None for a law of all rows.
    """

    label: Label
    place: str
    kind: str
    before: float
    after: float
    errors: float | None
    against: Label | None = None

    @property
    def is_rounding(self) -> bool:
        """Whether it moved by nothing but the rounding of sums, if at all."""
        if self.before == self.after:
            return True
        if self.errors is not None and np.isfinite(self.errors):
            return abs(self.errors) < SAME_ERRORS
        return abs(self.after - self.before) <= SAME * max(abs(self.before), abs(self.after))

    def __str__(self) -> str:
        if self.kind == SHARE:
            what = f"share of class {self.label!r} among the rows"
        elif self.kind in (MEMBER_SHARE, EXPONENT, LOG_LOSS, PRODUCT):
            what = f"{self.kind} of {self.place}"
        elif self.kind == LAW_MEAN:
            what = f"mean of {shown(self.place)}"
        elif self.kind == COEFFICIENT:
            what = f"coefficient of {shown(self.place)}, {self.label!r} against {self.against!r}"
        else:
            what = f"{self.kind} of {shown(self.place)} in class {self.label!r}"
        if self.errors is None:
            told = ""
        elif np.isinf(self.errors):
            told = ", where there was no variance"
        else:
            told = f", {self.errors:+.1f} standard errors"
        return f"{what}: {self.before:.6g} became {self.after:.6g}{told}"


@dataclass(frozen=True, slots=True)
class Differences:
    """What two models differ in; `before` and `after` are what only one of them has.

    moves  every estimate that both have, the largest differences first
    """

    settings: tuple[tuple[str, Any, Any], ...]
    classes: tuple[tuple[Label, ...], tuple[Label, ...]]
    columns: tuple[tuple[str, ...], tuple[str, ...]]
    moves: tuple[Move, ...]

    def to_dict(self) -> dict[str, object]:
        """Return the same as what JSON can hold."""
        return {
            "settings": [
                {"name": n, "before": _plain(a), "after": _plain(b)} for n, a, b in self.settings
            ],
            "classes": dict(zip(("before", "after"), map(list, self.classes), strict=True)),
            "columns": dict(zip(("before", "after"), map(list, self.columns), strict=True)),
            "moves": [
                {
                    "class": move.label,
                    "against": move.against,
                    "what": move.place,
                    "kind": move.kind,
                    "before": _plain(move.before),
                    "after": _plain(move.after),
                    "standard_errors": _plain(move.errors),
                }
                for move in self.moves
            ],
        }

    def __str__(self) -> str:
        lines = [f"{name}: {a!r} became {b!r}" for name, a, b in self.settings]
        for what, (before, after) in (("class", self.classes), ("column", self.columns)):
            lines += [f"{what} {name!r} is only in the first" for name in before]
            lines += [f"{what} {name!r} is only in the second" for name in after]
        moved = [move for move in self.moves if not move.is_rounding]
        lines += map(str, moved[:SHOWN])
        if len(moved) > SHOWN:
            lines.append(f"and {len(moved) - SHOWN:,} more that moved less")
        same = len(self.moves) - len(moved)
        if same:
            lines.append(f"{same:,} estimate{' is' if same == 1 else 's are'} the same")
        return "\n".join(lines) or "no difference"


def differences(first: StoredModel, second: StoredModel) -> Differences:
    """Return what two stored models differ in.

    Standard errors are those of a difference between models of different rows. If the second has
    learned from the rows of the first as well, they are larger than they need be.
    """
    kinds = [name_of(stored.state["model"]) for stored in (first, second)]
    for alone in ("AveragedForm", "LinearForm", "Normal", "PoolModel", "TextRecord"):
        if (kinds[0] == alone) != (kinds[1] == alone):
            raise DifferentKinds(
                f"a {first.estimator} and a {second.estimator} have no estimates in common",
                hint="compare two models of classes, of coefficients, of texts, two pools, or two "
                "normal laws",
            )
    return Differences(
        _settings(first, second),
        _apart(_labels(first), _labels(second)),
        _apart(_names(first), _names(second)),
        _moves(first, second),
    )


def _settings(first: StoredModel, second: StoredModel) -> tuple[tuple[str, Any, Any], ...]:
    ours = {"estimator": first.estimator, **first.settings}
    theirs = {"estimator": second.estimator, **second.settings}
    pairs = ((name, ours.get(name), theirs.get(name)) for name in {**ours, **theirs})
    return tuple((name, a, b) for name, a, b in pairs if a != b)


def _names(stored: StoredModel) -> tuple[str, ...]:
    columns = stored.state["columns"]
    used = columns.columns if name_of(columns) == "Design" else columns
    found: tuple[str, ...] = used.names
    return found


def _labels(stored: StoredModel) -> tuple[Any, ...]:
    found: tuple[object, ...] = getattr(stored.state["model"], "labels", ())
    return found


def _apart(ours: tuple[object, ...], theirs: tuple[object, ...]) -> tuple[Any, Any]:
    left, right = set(ours), set(theirs)
    return (
        tuple(name for name in ours if name not in right),
        tuple(name for name in theirs if name not in left),
    )


def _moves(first: StoredModel, second: StoredModel) -> tuple[Move, ...]:
    known = set(_labels(second))
    both = [label for label in _labels(first) if label in known]
    if not both and name_of(first.state["model"]) != "Normal":
        return ()
    if name_of(first.state["model"]) == "PoolModel":
        return (*_shares(first, second), *_members(first, second))
    reference = both[0] if both else None
    a, b = estimates_of(first, reference), estimates_of(second, reference)
    labels = [label for label in a.labels if label in set(b.labels)]
    at = {key: j for j, key in enumerate(zip(b.places, b.kinds, strict=True))}
    keys = list(zip(a.places, a.kinds, strict=True))
    common = [j for j, key in enumerate(keys) if key in at]
    if not labels or not common:
        return tuple(_shares(first, second))
    ours = _taken(a, labels, common)
    theirs = _taken(b, labels, [at[keys[j]] for j in common])
    kinds = np.array([a.kinds[j] for j in common])
    errors = _errors(ours, theirs, kinds)
    linear = name_of(first.state["model"]) == "LinearForm"
    moves = [
        Move(
            label,
            a.places[j],
            a.kinds[j],
            float(ours[0][c, i]),
            float(theirs[0][c, i]),
            None if np.isnan(errors[c, i]) else float(errors[c, i]),
            reference if linear else None,
        )
        for c, label in enumerate(labels)
        for i, j in enumerate(common)
    ]
    moves += _shares(first, second)
    return tuple(sorted(moves, key=lambda move: -abs(move.errors or 0.0)))


def _taken(held: Estimates, labels: list[Label], places: list[int]) -> tuple[Any, Any, Any]:
    rows = [held.labels.index(label) for label in labels]
    here = np.ix_(rows, places)
    return held.values[here], held.counts[here], held.variances[here]


def _errors(ours: tuple[Any, Any, Any], theirs: tuple[Any, Any, Any], kinds: Any) -> FloatArray:
    """Return differences in standard errors; NaN where none is known.

    Means have variances of their own in either model (Welch). Probabilities and rates have the
    one of both together, so that a level seen in neither, or in all rows, has an error too.
    """
    (values, counts, variances), (other_values, other_counts, other_variances) = ours, theirs
    with np.errstate(all="ignore"):
        both = (values * counts + other_values * other_counts) / (counts + other_counts)
        pooled = np.where(kinds == PROBABILITY, both * (1.0 - both), both)
        together = np.isin(kinds, (PROBABILITY, RATE))
        # Of a single row no variance is known: that of the other model stands in.
        first = np.where(np.isnan(variances), other_variances, variances)
        second = np.where(np.isnan(other_variances), variances, other_variances)
        if (kinds == COEFFICIENT).any():
            first, second = variances, other_variances
        first, second = np.where(together, pooled, first), np.where(together, pooled, second)
        spread = np.sqrt(first / counts + second / other_counts)
        moved = other_values - values
        found: FloatArray = np.where(moved == 0.0, 0.0, moved / spread)
    return np.where(np.isnan(spread), np.nan, found)


def _shares(first: StoredModel, second: StoredModel) -> list[Move]:
    """Return how the shares of the classes among the rows have moved."""
    models = [stored.state["model"] for stored in (first, second)]
    if any(not hasattr(model, "log_priors") for model in models):
        return []
    totals = [float(model.weights.sum()) for model in models]
    moves = []
    for c, label in enumerate(models[0].labels):
        if label not in models[1].labels or min(totals) <= 0.0:
            continue
        held = [
            float(models[0].weights[c]),
            float(models[1].weights[models[1].labels.index(label)]),
        ]
        before, after = (w / total for w, total in zip(held, totals, strict=True))
        both = sum(held) / sum(totals)
        spread = np.sqrt(both * (1.0 - both) * sum(1.0 / total for total in totals))
        moved = after - before
        errors = 0.0 if moved == 0.0 else float(moved / spread)
        moves.append(Move(label, "the class", SHARE, before, after, errors))
    return moves


def _members(first: StoredModel, second: StoredModel) -> list[Move]:
    """Return how the members of pools have moved; they have no standard errors."""
    held = []
    for model in (first.state["model"], second.state["model"]):
        known = {MEMBER_SHARE: model.shares, EXPONENT: model.all_exponents}
        known[LOG_LOSS] = model.log_losses
        held.append(
            {
                (name, kind): value
                for kind, values in known.items()
                for name, value in zip(model.members, values.tolist(), strict=True)
            }
            | {(TOGETHER, LOG_LOSS): model.log_loss, (TOGETHER, PRODUCT): model.product}
        )
    before, after = held
    return [
        Move(None, place, kind, value, after[place, kind], None)
        for (place, kind), value in before.items()
        if (place, kind) in after
    ]


def _plain(value: object) -> object:
    """Return what JSON can hold: infinite numbers and objects become text."""
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)
