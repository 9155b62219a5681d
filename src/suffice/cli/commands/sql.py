"""`suffice sql`: a model as one SELECT, for a database to answer by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from suffice.cli.terminal.options import model_argument

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.columns.filled import FilledColumns
    from suffice.sql.dialects import SqlDialect


@click.command()
@model_argument()
@click.option(
    "--dialect", type=click.Choice(["duckdb", "postgres", "spark"]), default="duckdb",
    show_default=True, help="The SQL dialect.",
)  # fmt: skip
@click.option(
    "--table", default="new_rows", show_default=True, metavar="NAME",
    help="The table to read, with the model's columns and possibly others; SCHEMA.TABLE is "
    "possible.",
)  # fmt: skip
@click.option("--proba", is_flag=True, help="Add the probability of every class.")
@click.option(
    "--scores", is_flag=True,
    help="Also add log p(x, class), up to a constant that is the same for all classes.",
)  # fmt: skip
def sql(model: Path, dialect: str, table: str, proba: bool, scores: bool) -> None:
    """Print MODEL as one SELECT that adds the class to every row of a table.

    Blank cells, categories and extreme rows are treated as in predict; what predict would refuse
    gives NULL. Names and texts are quoted. Columns with a notation of their own, such as $1,200 or
    31%, must be numbers in the database; a note names them.

    Example: suffice sql flowers.suffice --dialect postgres --table flowers --proba
    """
    from suffice.cli.terminal.messages import note
    from suffice.cli.terminal.printed_rows import print_text
    from suffice.errors import BadSetting, listed
    from suffice.sql.dialects import dialect_named
    from suffice.sql.scorer import scorer_sql
    from suffice.training.opened_files import open_model

    stored, notes = open_model(model)
    if stored.estimator == "Perceptron" and proba:
        raise BadSetting(
            "a perceptron has classes, but no probabilities",
            hint="leave --proba out, or fit another model",
        )
    if getattr(stored.state.get("mixture"), "noise", 0.0) > 0.0:
        raise BadSetting(
            "this mixture has a noise component, which cannot be written as SQL",
            hint="fit it with noise=False",
        )
    made = [name for name, spelling in notes.spellings.items() if spelling.part]
    if made:
        raise BadSetting(
            f"{model} uses {listed(made)}, which SQL cannot compute from a date here",
            hint="fit again with --column NAME=number, which uses the date NAME alone",
        )
    for name, spelling in notes.spellings.items():
        note(
            f"{name} must be {spelling.typed} in the database: in the training table its cells "
            f"were {spelling.words}"
        )
    way = dialect_named(dialect)
    filled = {} if notes.filled is None else _filled(notes.filled, way)
    state: Any = stored.state
    chosen = state.get("chosen")
    found = scorer_sql(
        state["model"],
        state["columns"],
        dialect=dialect,
        table=table,
        proba=proba,
        scores=scores,
        filled=filled,
        families=chosen["asked"] if isinstance(chosen, dict) else None,
    )
    print_text(found)


def _filled(filled: FilledColumns, dialect: SqlDialect) -> dict[str, str]:
    """Return what stands for columns whose blanks are filled, and for those that tell of blanks."""
    found: dict[str, str] = {}
    marks = iter(filled.marks)
    for name, column, mean, blank in zip(
        filled.columns.names, filled.columns.columns, filled.means, filled.blank, strict=True
    ):
        if mean is None:
            continue
        cell = f"suffice_t.{dialect.identifier(name)}"
        cell = f"CAST({cell} AS INT)" if column.kind == "boolean" else cell
        number = dialect.as_double(cell)
        there = f"{number} IS NOT NULL AND NOT ({dialect.is_nan(number)})"
        found[name] = f"CASE WHEN {there} THEN {number} ELSE {dialect.number(mean)} END"
        if blank:
            one, zero = dialect.number(1.0), dialect.number(0.0)
            found[next(marks)] = f"CASE WHEN {there} THEN {zero} ELSE {one} END"
    return found
