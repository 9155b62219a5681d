"""`suffice report`: one page on a table, its models and which to use."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Self

import click

from suffice.cli.terminal.options import (
    columns_options,
    force_option,
    json_option,
    output_option,
    reading_options,
    seed_option,
    tables_argument,
    target_option,
    time_limit_option,
    wait_option,
)

if TYPE_CHECKING:
    from suffice.tables.table_reading import TableReading


@click.command()
@tables_argument()
@target_option("The column of labels.")
@click.option(
    "--clusters", type=click.Path(path_type=Path), metavar="FILE",
    help="A page about these clusters instead: a file that suffice cluster wrote.",
)  # fmt: skip
@output_option("Where to write the page; - is standard output.  [default: report.html]")
@force_option()
@wait_option()
@click.option("--title", help="The heading of the page.")
@click.option("--pictures/--no-pictures", default=True, help="Whether to draw pictures.")
@click.option(
    "--living/--still", default=True,
    help="Whether the page is interactive: tables to sort, thresholds to move, columns to choose.",
)  # fmt: skip
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; repeatable.")
@click.option(
    "--folds", type=click.IntRange(min=2),
    help="Number of cross-validation folds.  [default: 10, or fewer where that would take long]",
)  # fmt: skip
@click.option(
    "--all-rows", is_flag=True, help="Use all rows of a large table, however long it takes."
)
@time_limit_option()
@seed_option("folds and splits")
@json_option("what is on the page")
@reading_options
@columns_options
def report(
    tables: tuple[str, ...],
    target: str | None,
    clusters: Path | None,
    output: Path | None,
    force: bool,
    wait: float,
    title: str | None,
    pictures: bool,
    living: bool,
    drop: tuple[str, ...],
    folds: int | None,
    all_rows: bool,
    time_limit: float,
    seed: int,
    as_json: bool,
    reading: TableReading,
) -> None:
    """Write one HTML page about TABLE: its columns, the models compared, which one to use, and why.

    What `suffice compare` says, with pictures; TABLE is what `suffice fit` takes. The page needs
    nothing else, and no network; in a browser its tables are sorted and its threshold is moved.
    With --clusters it is a page about clusters: how many, how sure, what sets each apart.

    Example: suffice report flowers.csv --target species -o flowers.html
    """
    if str(output) == "-" and as_json:
        raise click.UsageError("--json and -o - both use standard output: write the page to a file")
    if (target is None) == (clusters is None):
        raise click.UsageError(
            "give either --target, the column of labels, or --clusters, a file of clusters"
        )
    from suffice.cli.terminal.messages import announce, note, say
    from suffice.cli.terminal.outputs import changing, check_output, is_page
    from suffice.cli.terminal.printed_rows import print_json
    from suffice.report.figures import Album
    from suffice.report.html_page import write_page

    place = output or Path("report.html")
    printed = str(place) == "-"
    if not printed:  # a page may be looked at on a terminal
        inputs = tables if clusters is None else (*tables, str(clusters))
        check_output(place, inputs, ours=is_page, what="a page that suffice has made", force=force)
    if clusters is not None:
        refused = [word for word, given in (("--drop", drop), ("--folds", folds)) if given]
        if refused:
            raise click.UsageError(f"{' and '.join(refused)} cannot be used with --clusters")
        html, said, record = _about_clusters(clusters, tables, reading, title, pictures=pictures)
    else:
        assert target is not None
        html, said, record = _about_models(
            tables, target, reading, drop, seed, all_rows=all_rows, folds=folds,
            time_limit=time_limit, title=title, pictures=pictures, living=living,
        )  # fmt: skip
    if pictures and not Album(pictures).installed:
        note("the page has no pictures without matplotlib: pip install 'suffice[plots]'")
    if printed:
        click.echo(html.encode("utf-8"), nl=False)
        return
    with changing(place, wait):
        write_page(place, html)
    if as_json:
        print_json({"page": str(place), **record})
    else:
        say(said)
    announce(f"{place}: a page of {len(html.encode('utf-8')) / 1000:,.0f} kB")


def _about_models(
    tables: tuple[str, ...],
    target: str,
    reading: TableReading,
    drop: tuple[str, ...],
    seed: int,
    *,
    all_rows: bool,
    folds: int | None,
    time_limit: float,
    title: str | None,
    pictures: bool,
    living: bool,
) -> tuple[str, str, dict[str, object]]:
    """Return the page about models, the advice, and what is on the page as plain values."""
    from suffice.cli.terminal.training_hooks import CommandHooks
    from suffice.report.contents import Contents
    from suffice.report.html_page import rendered
    from suffice.training.compared_rows import ComparedRows

    hooks = CommandHooks()
    rows = ComparedRows.read(tables, target, reading, drop, hooks, seed=seed, all_rows=all_rows)
    with _Stages() as stage:
        stage(f"comparing models on {len(rows.y):,} rows")
        found = rows.compare(hooks, folds=folds, random_state=seed, time_limit=time_limit)
        stage("examining the columns")
        contents = Contents.of(found, spellings=rows.spellings)
        stage("drawing")
        html = rendered(
            contents,
            title=title,
            target=target,
            source=_origin(rows.place, rows.origin),
            pictures=pictures,
            living=living,
        )
    return html, str(found.recommendation), contents.record()


def _about_clusters(
    model: Path,
    tables: tuple[str, ...],
    reading: TableReading,
    title: str | None,
    *,
    pictures: bool,
) -> tuple[str, str, dict[str, object]]:
    """Return the page about clusters, what is said of them, and the same as plain values."""
    from suffice.cli.terminal.training_hooks import CommandHooks
    from suffice.report.clusters.page import clusters_page
    from suffice.training.clusters.clustering import clusters_of

    found = clusters_of(model, tables, reading, CommandHooks())
    place = Path(found.rows.place).name
    html = clusters_page(found, title=title, source=place, pictures=pictures)
    return html, str(found), found.summary()


def _origin(place: str, origin: str) -> str:
    """Return where rows come from without the folders, which are nobody's business in a mail."""
    return origin.replace(place, Path(place).name, 1)


class _Stages:
    """What is being done, for whoever waits at a terminal; nothing elsewhere."""

    def __enter__(self) -> Self:
        return self

    def __call__(self, what: str) -> None:
        self._say(f"{what} …")

    def __exit__(self, *_: object) -> None:
        self._say("")

    def _say(self, words: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\033[K{words}")
            sys.stderr.flush()
