"""`suffice page`: a model as one HTML file that answers offline."""

from __future__ import annotations

from pathlib import Path

import click

from suffice.cli.terminal.options import model_argument


@click.command()
@model_argument()
@click.option(
    "-o", "--output", type=click.Path(dir_okay=True, path_type=Path), metavar="PATH",
    help="Where to write the page; - is standard output.  [default: MODEL with .html]",
)  # fmt: skip
@click.option("--title", metavar="TEXT", help="The heading of the page.")
@click.option(
    "--with-statistics", is_flag=True,
    help="Put the whole model file into the page, so that anyone with the page can save it, and "
    "learn more or merge. Without it the page only has what it needs to predict.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Replace an existing file of any kind.")
def page(
    model: Path, output: Path | None, title: str | None, with_statistics: bool, force: bool
) -> None:
    """Write MODEL as one HTML page that predicts in the browser.

    A form made from the columns, the probability of every class as it changes, the reasons, and
    whether a row looks like none of the classes; rows that are pasted or dropped are answered at
    once. The page works as a local file or a mail attachment: it needs no server and no network.

    Discriminants, naive Bayes, logistic regression, texts and mixtures have a page. For a text
    model, the rarest terms are left out if the page would exceed a megabyte; a note says so.

    Example: suffice page flowers.suffice -o flowers.html
    """
    from suffice.cli.terminal.messages import announce, note
    from suffice.cli.terminal.outputs import changing, check_output, is_page
    from suffice.storage.atomic_writes import whole_file
    from suffice.training.opened_files import open_classifier
    from suffice.web.model_page import model_page

    place = output or model.with_suffix(".html")
    printed = str(place) == "-"
    if not printed:
        what = "a page that suffice has made"
        check_output(place, (str(model),), ours=is_page, what=what, force=force)
    stored, notes = open_classifier(model)
    kept = model.read_bytes() if with_statistics else None
    html = model_page(stored, notes, name=model.stem, title=title, file=kept)
    written = html.encode("utf-8")
    if printed:
        click.echo(written, nl=False)
        return
    with changing(place, 60.0), whole_file(place, suffix=place.suffix) as file:
        file.write(written)
    if with_statistics:
        note("the page contains the model file: anyone who has it can see sums over the rows")
    announce(f"{place}: a page of {max(len(written) / 1e6, 0.1):,.1f} MB")
