"""`suffice report`: one page on a table, its models and which to use."""

from __future__ import annotations

from pathlib import Path

import click

from suffice.cli.options import (
    Reading,
    json_option,
    output_option,
    reading_options,
    seed_option,
    table_argument,
    target_option,
)


@click.command()
@table_argument()
@target_option("The column of labels.", required=True)
@output_option("Where to write the page.  [default: report.html]")
@click.option("--title", help="What stands at the top.")
@click.option("--pictures/--no-pictures", default=True, help="Whether to draw any.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; repeatable.")
@click.option(
    "--folds", type=click.IntRange(min=2), default=10, show_default=True, help="Parts of the rows."
)
@click.option("--all-rows", is_flag=True, help="Use all rows of a large table, however long.")
@seed_option("folds and splits")
@json_option("the figures")
@reading_options
def report(
    table: str,
    target: str,
    output: Path | None,
    title: str | None,
    pictures: bool,
    drop: tuple[str, ...],
    folds: int,
    all_rows: bool,
    seed: int,
    as_json: bool,
    reading: Reading,
) -> None:
    """Write one HTML page on TABLE: its columns, its models, which to use, and why.

    What `suffice compare` says, with pictures. The page needs nothing else: no network, no scripts.

    Example: suffice report flowers.csv --target species -o flowers.html
    """
    from suffice.cli.compare import records
    from suffice.cli.compared_rows import ComparedRows
    from suffice.cli.printed_rows import print_json
    from suffice.cli.remarks import note
    from suffice.report import write_report
    from suffice.report.album import Album
    from suffice.report.writing import check_place

    place = output or Path("report.html")
    check_place(place)
    rows = ComparedRows.read(table, target, reading, drop, seed=seed, all_rows=all_rows)
    found = write_report(
        place,
        rows.X,
        rows.y,
        title=title,
        target=target,
        source=rows.origin,
        pictures=pictures,
        models=rows.models,
        folds=min(folds, len(rows.y)),
        random_state=seed,
    )
    said = found.recommendation
    if as_json:
        print_json(
            {
                "page": str(place),
                "recommended": said.model,
                "best": said.best,
                "advice": said.advice,
                "models": records(found.table),
            }
        )
    else:
        click.echo(str(said))
    if pictures and not Album(pictures).installed:
        note("the page has no pictures without matplotlib: pip install 'suffice[plots]'")
    click.echo(f"{place}: a page of {place.stat().st_size / 1000:,.0f} kB", err=True)
