"""`suffice compare`: both schools on the same folds, and which model to use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from suffice.cli.terminal.options import (
    columns_options,
    json_option,
    reading_options,
    seed_option,
    tables_argument,
    target_option,
    time_limit_option,
)
from suffice.printing.model_names import COMPARED

if TYPE_CHECKING:
    from suffice.evaluation.comparison import Comparison
    from suffice.tables.table_reading import TableReading


@click.command()
@tables_argument()
@target_option("The column of labels.", required=True)
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; repeatable.")
@click.option(
    "--model", "models", multiple=True, metavar="NAME",
    help=f"Compare only this model; repeatable: {', '.join(COMPARED)}, or single for all but the "
    "pool. lda, nb, logreg and other usual names are understood.",
)  # fmt: skip
@click.option(
    "--with", "others", multiple=True, metavar="NAME",
    help="Also compare a scikit-learn estimator, such as sklearn.ensemble.RandomForestClassifier.",
)  # fmt: skip
@click.option(
    "--folds", type=click.IntRange(min=2),
    help="Number of cross-validation folds.  [default: 10, or fewer where that would take long]",
)  # fmt: skip
@click.option("--curves/--no-curves", default=True, help="Whether to compute learning curves.")
@click.option(
    "--all-rows", is_flag=True, help="Use all rows of a large table, however long it takes."
)
@time_limit_option()
@seed_option("folds and splits")
@json_option("everything")
@reading_options
@columns_options
def compare(
    tables: tuple[str, ...],
    target: str,
    drop: tuple[str, ...],
    models: tuple[str, ...],
    others: tuple[str, ...],
    folds: int | None,
    curves: bool,
    all_rows: bool,
    time_limit: float,
    seed: int,
    as_json: bool,
    reading: TableReading,
) -> None:
    """Compare models of TABLE on rows that they have not seen, and recommend one.

    GDA, naive Bayes and logistic regression on the same folds: accuracy, log-loss, Brier score,
    calibration; learning curves and where they cross; what the models assume, and whether the
    data agree; which one to use, and why. TABLE is what `suffice fit` takes; from a very large
    table a random sample is compared.

    Example: suffice compare flowers.csv --target species
    """
    from suffice.cli.terminal.messages import legible, say
    from suffice.cli.terminal.printed_rows import print_json
    from suffice.cli.terminal.training_hooks import CommandHooks
    from suffice.training.compared_rows import ComparedRows

    hooks = CommandHooks()
    rows = ComparedRows.read(tables, target, reading, drop, hooks, seed=seed, all_rows=all_rows)
    found = rows.compare(
        hooks, models=_asked(models, others), folds=folds, curves=curves, random_state=seed,
        time_limit=time_limit,
    )  # fmt: skip
    if as_json:
        print_json(_content(found))
        return
    say(f"{legible(f'{rows.place}: {rows.words}; target {target}')}\n")
    say(str(found))


def _asked(models: tuple[str, ...], others: tuple[str, ...]) -> object:
    """Return what is compared, as the library takes it."""
    named = {name.rpartition(".")[2]: _estimator(name) for name in others}
    if not models:
        return named or None
    return [*models, *named.items()]


def _estimator(name: str) -> object:
    """Return an estimator of scikit-learn, as it is by default; nothing else is imported."""
    from importlib import import_module

    from suffice.errors import BadSetting

    home, _, kind = name.rpartition(".")
    if home.partition(".")[0] == "sklearn":
        try:
            found = getattr(import_module(home), kind)
            if isinstance(found, type) and hasattr(found, "fit") and hasattr(found, "predict"):
                return found()
        except (ImportError, AttributeError, TypeError):
            pass
    raise BadSetting(
        f"{name!r} is not a scikit-learn classifier that works without arguments",
        hint="write it as sklearn.ensemble.RandomForestClassifier; in Python, suffice.compare "
        "takes any estimator",
    )


def _content(found: Comparison) -> dict[str, object]:
    """Return a comparison as plain values."""
    from dataclasses import asdict

    from suffice.cli.terminal.printed_rows import plain

    curves = found.curves
    said = found.recommendation
    return {
        "rows": len(found.rows),
        "classes": [plain(label) for label in found.rows.classes],
        "folds": int(found.folds.max()) + 1,
        "models": records(found.table),
        "diagnostics": records(found.diagnostics.table),
        "curves": None
        if curves is None
        else {
            "sizes": curves.sizes.tolist(),
            "errors": {
                name: [_mean(splits) for splits in curves.errors[place]]
                for place, name in enumerate(curves.names)
            },
        },
        "crossings": [asdict(one) for one in found.crossings],
        "recommendation": {
            "model": said.model,
            "best": said.best,
            "school": said.school,
            "advice": said.advice,
            "judged": None if said.judged is None else said.judged.to_dict(),
            "reasons": list(said.reasons),
            "assumptions": list(said.assumptions),
            "worries": list(said.worries),
        },
        "notes": list(found.notes),
    }


def records(table: Any) -> list[dict[str, object]]:
    """Return the rows of a table of results by the names of its columns."""
    from suffice.cli.terminal.printed_rows import plain

    names = [column.name or column.head for column in table.columns]
    return [dict(zip(names, map(plain, row), strict=True)) for row in table.rows]


def _mean(values: Any) -> float | None:
    import numpy as np

    held = values[~np.isnan(values)]
    return float(held.mean()) if len(held) else None
