"""Which model to fit: a named one, or the best of those compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from suffice.errors import BadLabels, BadSetting, listed, meant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.evaluation.candidates import Candidate
    from suffice.evaluation.comparison import Comparison
    from suffice.evaluation.quality import Quality
    from suffice.learning.learned import Learned
    from suffice.learning.learner import Learner
    from suffice.rows import FloatArray
    from suffice.rows.tables import Table
    from suffice.training.hooks import Hooks
    from suffice.training.training_rows import TrainingRows

SETTINGS = {
    "gda": (
        "covariance",
        "pool",
        "shrink",
        "factors",
        "divisor",
        "priors",
        "calibration_rows",
        "unlabelled",
    ),
    "qda": ("pool", "shrink", "factors", "divisor", "priors", "calibration_rows", "unlabelled"),
    "naive-bayes": (
        "families",
        "smoothing",
        "temperature",
        "priors",
        "calibration_rows",
        "unlabelled",
    ),
    "logistic": ("penalty", "l1_ratio", "correction"),
    "mixture-discriminant": (
        "components",
        "covariance",
        "shared",
        "criterion",
        "factors",
        "priors",
    ),
    "text": ("smoothing", "priors", "unlabelled"),
}
"""The settings that each model takes."""
LIBRARY = "pyarrow"
"""The library of frames that rows of files are given back in."""
AUTO, BEST = "auto", "best"
CHOICES = (AUTO, BEST)
"""Not models, but ways to choose one: "best" is always a single model, "auto" may be a pool."""
MODELS = (*SETTINGS, *CHOICES)
"""What `model` may be."""
ONE_PASS = ("gda", "qda", "naive-bayes", "text")
"""Models that look at every row once."""
MOST_COLUMNS = 5000
"""Columns, categories coded, whose covariance is tried."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """How a model was chosen.

    model    what it is called among those that were compared
    losses   the log-loss of each on held-out rows
    rows     how many rows they were compared on
    late     those that were not judged, for the time was over
    """

    model: str
    losses: Mapping[str, float]
    rows: int
    late: tuple[str, ...] = ()


class ChosenModel(NamedTuple):
    """A model, and how it came to be it.

    learner     settings
    learned     what it has learned from all rows, if that was done already
    choice      among which others
    judged      how good it is on rows that it has not seen
    rows        those it learns from: without columns of texts, if it reads none
    """

    learner: Learner
    learned: Learned | None
    choice: ModelChoice
    judged: Quality | None
    rows: TrainingRows


def check_named(name: str, settings: Mapping[str, object]) -> None:
    """Refuse a model that is not known, and settings that it does not take."""
    if name not in MODELS:
        raise BadSetting(
            f"there is no model {name!r}",
            hint=f"{meant(str(name), MODELS)}the models are {listed(MODELS)}",
        )
    takes = SETTINGS.get(name, ())
    strange = [key for key in settings if key not in takes]
    if strange and name in CHOICES:
        raise BadSetting(
            f"{listed(strange)} given, but no model: {name} chooses them itself",
            hint=f'name a model: model="{_taking(strange[0]) or "gda"}"',
        )
    if strange:
        raise BadSetting(
            f"{listed(strange)} given, which does not apply to model={name!r}",
            hint=f"it takes {listed(takes)}",
        )


def _taking(setting: str) -> str | None:
    return next((name for name, takes in SETTINGS.items() if setting in takes), None)


KINDS = {
    "gda": ("GaussianDiscriminant", {"covariance": "shared"}),
    "qda": ("GaussianDiscriminant", {"covariance": "per-class"}),
    "naive-bayes": ("NaiveBayes", {}),
    "logistic": ("LogisticRegression", {}),
    "mixture-discriminant": ("MixtureDiscriminant", {}),
    "text": ("TextClassifier", {}),
}
"""By name: the estimator, and what its settings are unless given."""


def named_model(name: str, settings: Mapping[str, object]) -> Learner:
    """Return the learner of a name."""
    from suffice.learning.stored import learner_named

    kind, usual = KINDS[name]
    return learner_named(kind, **{**usual, **settings})


def check_width(table: Table, name: str, hooks: Hooks) -> None:
    """Refuse covariances of more columns than memory is likely to hold."""
    from suffice.columns import Columns

    width = Columns.infer(table).width
    if width > MOST_COLUMNS:
        raise BadSetting(
            f"{name} needs the covariance of {width:,} columns, at least {8e-9 * width**2:.1f} GB",
            hint=f"{hooks.option('model', 'naive-bayes')} or logistic do not need "
            f"it; {hooks.option('drop')} leaves columns out",
        )


def choose(
    rows: TrainingRows,
    seed: int,
    hooks: Hooks,
    limit: float | None = None,
    *,
    single: bool = False,
) -> ChosenModel:
    """Return the model that `suffice.compare` recommends, how it was chosen, and how good it is.

    `single` leaves the pool out, and so does a table of more rows than it keeps. Which is chosen,
    and why, is said.
    """
    found = _compared(rows, seed, hooks, limit, single=single)
    chosen = found.candidate(found.best)
    losses = {n: s.log_loss for n, s in found.scores.items() if s.log_loss is not None}
    means = {name: float(each.mean()) for name, each in losses.items()}
    hooks.note(_why(found, chosen, losses, means))
    fitted = found.held_out[chosen.name].fitted
    if chosen.is_pool and fitted is not None:
        from suffice.training.table_columns.text_columns import say_bytes  # it loads NumPy

        say_bytes(fitted, hooks)
    if chosen.is_pool:
        hooks.note("a pool keeps its rows: anyone with the file can read them")
    choice = ModelChoice(chosen.name, means, len(found.rows), found.late)
    judged = found.recommendation.judged
    rows = _read_by(chosen, rows, hooks)
    known = fitted if rows.given is None else None
    if known is not None and rows.table.names is not None:
        known = replace(known, frame=LIBRARY).knowing(known.fit)
    return ChosenModel(chosen.model, known, choice, judged, rows)


def _read_by(chosen: Candidate, rows: TrainingRows, hooks: Hooks) -> TrainingRows:
    """Return rows without the columns that the chosen model has not seen, and say so."""
    from suffice.training.table_columns.kept_columns import DroppedColumn

    if not chosen.without:
        return rows
    names = rows.names
    kept = [j for j, name in enumerate(names) if name not in chosen.without]
    it = "it" if len(chosen.without) == 1 else "them"
    why = "with it no model was better"
    hooks.note(f"{listed(chosen.without)} left out after all: with {it} no model was better")
    gone = tuple(DroppedColumn(name, why) for name in chosen.without)
    given = rows.given
    if given is not None:
        import narwhals as nw

        held = nw.from_native(given, eager_only=True)
        given = held.select([names[j] for j in kept]).to_native()
    spellings = {name: one for name, one in rows.spellings.items() if name not in chosen.without}
    return replace(
        rows, table=rows.table.take(kept), dropped=(*rows.dropped, *gone), given=given,
        spellings=spellings, text_columns=(),
    )  # fmt: skip


def _why(
    found: Comparison,
    chosen: Candidate,
    losses: Mapping[str, FloatArray],
    means: Mapping[str, float],
) -> str:
    """Return in words why a model was chosen."""
    from suffice.evaluation.best_model import from_the_pool

    best = chosen.name
    beside = ""
    if chosen.is_pool:
        beside = from_the_pool([one for one in found.candidates if one.name in losses], losses)
    head = f"chose {best}: its log-loss on held-out rows is {means[best]:.3f}"
    if beside:
        return f"{head}; {beside}"
    others = sorted((pair for pair in means.items() if pair[0] != best), key=lambda pair: pair[1])
    rest = "".join(f", {name} {other:.3f}" for name, other in others[:3])
    return f"{head}, the lowest of {len(means)}{rest and ' (then' + rest[1:] + ')'}"


def _compared(
    rows: TrainingRows, seed: int, hooks: Hooks, limit: float | None, *, single: bool
) -> Comparison:
    """Compare models on the rows, or single ones on some of many."""
    from suffice.evaluation.candidates import SINGLE
    from suffice.evaluation.comparison import compare
    from suffice.training.compared_rows import sampled

    table, y = rows.table, rows.labels
    if len(set(y.tolist())) == 1:
        raise BadLabels(
            f"models cannot be compared: {len(y):,} rows, sampled from {rows.place}, are all of "
            f"class {y[0]!s}",
            hint=f"name one with {hooks.option('model').removesuffix('=')}",
        )
    some = sampled(table.size, table.width, seed)
    if some is not None:
        table, y = table.rows(some), y[some]
    if some is not None or not rows.whole:
        of = "" if rows.known_size is None else f" of {rows.known_size:,}"
        hooks.note(f"models are compared on {len(y):,}{of} rows, drawn at random")
        single = True
    found = compare(
        table, y, models=SINGLE if single else None, curves=False, diagnostics=False,
        random_state=seed, time_limit=limit, progress=hooks.progress, texts=rows.text_columns,
    )  # fmt: skip
    if found.late:
        hooks.note(
            f"{listed(found.late)} not compared: the time limit of {limit:g} seconds was reached; "
            f"{hooks.option('time_limit')} gives more"
        )
    return found
