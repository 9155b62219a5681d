"""`suffice mail fit`: a filter of mail that somebody has sorted."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from suffice.cli.terminal.options import json_option, wait_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suffice.cli.terminal.messages import ProgressLine


@click.command()
@click.argument("sorted_", nargs=-1, metavar="[HAM SPAM]")
@click.option("--ham", multiple=True, metavar="MAIL", help="Ham; may be given several times.")
@click.option("--spam", multiple=True, metavar="MAIL", help="Spam; may be given several times.")
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), required=True,
    help="Where to write the filter.",
)  # fmt: skip
@click.option(
    "--force", is_flag=True, help="Replace an existing file, unless it is one of the inputs."
)
@wait_option()
@json_option("a summary")
def fit(
    sorted_: tuple[str, ...],
    ham: tuple[str, ...],
    spam: tuple[str, ...],
    output: Path,
    force: bool,
    wait: float,
    as_json: bool,
) -> None:
    """Learn a filter from HAM and SPAM.

    Each is an mbox, a Maildir, a folder of messages or one message, plain or compressed by gzip.
    Repeated messages are learned once. The filter file appears when everything is learned, or not
    at all.

    Example: suffice mail fit ham.mbox spam.mbox -o filter.db
    """
    from suffice.cli.terminal.messages import ProgressLine, announce, note
    from suffice.cli.terminal.outputs import refuse_input, refuse_printing
    from suffice.mail.filter.build import write_filter
    from suffice.mail.mailboxes import files_of
    from suffice.storage.atomic_writes import check_place

    if len(sorted_) not in (0, 2):
        raise click.UsageError("name HAM and SPAM, in this order; or use --ham and --spam")
    if sorted_:
        ham, spam = (sorted_[0], *ham), (sorted_[1], *spam)
    if not ham or not spam:
        raise click.UsageError("a filter needs both: ham and spam")
    refuse_printing(output, "a filter")
    if output.exists():
        refuse_input(
            output, [file for place in (*ham, *spam) for file in files_of(place)], "a mail filter"
        )
    _refuse_existing(output, force=force)
    check_place(output)
    with ProgressLine("reading", unit="messages") as progress:
        placing = _placing(output, wait, force=force)
        taken = write_filter(output, _labelled((ham, spam), progress), placing)
    if taken.twice:
        note(f"{_messages(taken.twice)} repeated, and learned only once")
    if taken.both:
        note(f"{_messages(taken.both)} both in the ham and in the spam, and learned as ham")
    learned = dict(zip(("ham", "spam"), taken.learned, strict=True))
    if as_json:
        from suffice.cli.terminal.printed_rows import print_json

        print_json({"filter": str(output), **learned, "twice": taken.twice, "both": taken.both})
    announce(f"{output}: {learned['ham']:,} ham and {learned['spam']:,} spam learned")


def _refuse_existing(output: Path, *, force: bool) -> None:
    from suffice.errors import BadFile

    if output.exists() and not force:
        raise BadFile(f"{output} already exists", hint="--force replaces it")


@contextmanager
def _placing(output: Path, wait: float, *, force: bool) -> Iterator[None]:
    """Keep others away while a filter takes its place, if there is still none."""
    from suffice.cli.terminal.outputs import changing

    with changing(output, wait):
        _refuse_existing(output, force=force)
        yield


def _labelled(
    places: tuple[tuple[str, ...], tuple[str, ...]], progress: ProgressLine
) -> Iterator[tuple[bytes, int]]:
    from suffice.mail.mailboxes import read_mailbox

    for code, some in enumerate(places):
        for place in some:
            for raw in read_mailbox(place):
                progress.more(1)
                yield raw, code


def _messages(number: int) -> str:
    return "1 message is" if number == 1 else f"{number:,} messages are"
