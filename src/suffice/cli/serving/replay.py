"""`suffice replay`: the model of a moment, from the state of a server."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from suffice.cli.terminal.options import force_option, json_option


class _Moment(click.ParamType[datetime]):
    """A time as ISO 8601 has it; UTC unless it says otherwise."""

    name = "time"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            found = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{str(value)[:60]!r} is not a time such as 2026-11-16T12:00", param, ctx)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found


@click.command()
@click.argument("state", type=str, metavar="STATE")
@click.option(
    "--until", type=_Moment(), required=True, metavar="TIME",
    help="The time: 2026-11-16T12:00, in UTC unless an offset is given (+02:00).",
)  # fmt: skip
@click.option("--model", "name", metavar="NAME", help="Which model, if the state has several.")
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), metavar="PATH", required=True,
    help="Where to write the model; - is standard output.",
)  # fmt: skip
@force_option()
@json_option("a summary")
def replay(
    state: str, until: datetime, name: str | None, output: Path, force: bool, as_json: bool
) -> None:
    """Write the model as a server had it at a given time.

    STATE is the folder, or the database, of `suffice serve --state`; a server may be using it. The
    model is the one the state began with, plus the log up to TIME. Rows forgotten since then
    are not in it.

    Example: suffice replay flowers-state --until 2026-11-16T12:00 -o flowers-monday.suffice
    """
    from suffice.cli.rows.model_files import check_model_place, write_stored
    from suffice.cli.terminal.messages import announce, note
    from suffice.cli.terminal.printed_rows import print_json
    from suffice.serve.state.opening import open_log, replayed

    kept = Path(state)
    own = [str(path) for path in kept.iterdir()] if kept.is_dir() else []
    check_model_place(output, own, force=force, as_json=as_json)
    log = open_log(state, reading=True)
    try:
        found = replayed(log, name, until)
    finally:
        log.close()
    write_stored(output, found.model.file())
    moment = until.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    if as_json:
        print_json(
            {
                "model": str(output),
                "until": until.astimezone(UTC).isoformat(),
                "requests": found.requests,
                "rows": found.rows,
                "forgotten_since": found.forgotten,
            }
        )
    announce(
        f"{output}: {found.model.name} of {moment}, with {found.rows:,} rows of "
        f"{found.requests:,} requests"
    )
    if found.forgotten:
        note(
            f"{found.forgotten} request{'s were' if found.forgotten > 1 else ' was'} forgotten "
            "since then: this is the model of that time without them"
        )
    else:
        note("rows forgotten since then, if any, are not in it")
