"""`suffice play`: the playground, in a browser."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "-o", "--output", type=click.Path(dir_okay=True, path_type=Path), metavar="PATH",
    help="Write the page to this file instead of opening it; - is standard output.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Replace an existing file of any kind.")
def play(output: Path | None, force: bool) -> None:
    """Open the playground: points of two to four classes in a plane, and how models classify them.

    Paint, drag and erase points, pull means and ellipses, watch the perceptron and EM learn, and
    put both schools beside each other. The page is one file that needs no network; its address
    stores what it shows, so a link can be shared.

    Example: suffice play -o playground.html
    """
    from suffice.cli.terminal.messages import announce, say
    from suffice.cli.terminal.outputs import changing, check_output, is_page
    from suffice.storage.atomic_writes import whole_file
    from suffice.web.playground import playground_file

    page = playground_file()
    if output is None:
        import webbrowser

        say(page.as_uri())
        if not webbrowser.open(page.as_uri()):
            announce("there is no browser to open it with: the address above is the page")
        return
    content = page.read_bytes()
    if str(output) == "-":
        click.echo(content, nl=False)
        return
    check_output(output, ours=is_page, what="a page that suffice has made", force=force)
    with changing(output, 60.0), whole_file(output, suffix=output.suffix) as file:
        file.write(content)
    announce(f"{output}: the playground, {len(content) / 1e6:,.1f} MB")
