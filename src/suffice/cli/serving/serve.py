"""`suffice serve`: models that answer, learn and forget over HTTP."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

NEEDED = ("msgspec", "uvicorn", "httptools")
"""What the extra `serve` brings."""


@click.command()
@click.argument("models", type=click.Path(path_type=Path), metavar="MODEL...", nargs=-1)
@click.option(
    "--state", metavar="FOLDER",
    help="Where learned rows are stored: a folder, or a database that several servers share, "
    "postgresql://user@host/base. Without it, models can only predict.",
)  # fmt: skip
@click.option(
    "--host", default="127.0.0.1", show_default=True, metavar="ADDRESS",
    help="The address to listen on. By default only this machine can connect.",
)  # fmt: skip
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, metavar="N",
    help="The port; 0 takes any free one.",
)  # fmt: skip
@click.option(
    "--token-file", type=click.Path(path_type=Path), metavar="FILE",
    help="Who may connect: lines `read TOKEN` or `learn TOKEN`; a token alone allows both.",
)  # fmt: skip
@click.option("--no-token", is_flag=True, help="Accept other machines without a token.")
@click.option(
    "--most-bytes", type=click.IntRange(min=1), default=64 << 20, show_default=True, metavar="N",
    help="Maximum size of a request in bytes, uncompressed.",
)  # fmt: skip
@click.option(
    "--most-rows", type=click.IntRange(min=1), default=1_000_000, show_default=True, metavar="N",
    help="Maximum number of rows in a request.",
)  # fmt: skip
@click.option(
    "--most-seconds", type=click.FloatRange(min=0.0, min_open=True), default=60.0,
    show_default=True, metavar="SECONDS",
    help="Seconds a request may take to arrive, and again to be answered.",
)  # fmt: skip
@click.option("--demo", is_flag=True, help="Serve a model of tumours that comes with scikit-learn.")
def serve(
    models: tuple[Path, ...],
    state: str | None,
    host: str,
    port: int,
    token_file: Path | None,
    no_token: bool,
    most_bytes: int,
    most_rows: int,
    most_seconds: float,
    demo: bool,
) -> None:
    """Serve MODEL over HTTP: predict, learn and forget.

    Each model is addressed by the name of its file. With --state, learned rows are in a log
    before they are acknowledged, and a restarted server continues where it stopped; no model
    needs to be named then. /docs on the server lists the requests. Ctrl-C or SIGTERM stops it
    after pending requests are answered.

    Example: suffice serve flowers.suffice --state flowers-state
    """
    from suffice.cli.terminal.messages import announce, note
    from suffice.errors import BadSetting

    if not all(map(find_spec, NEEDED)):
        raise BadSetting(
            "serving needs uvicorn, httptools and msgspec, which are not all installed",
            hint="pip install 'suffice[serve]'",
        )
    if not models and state is None and not demo:
        raise click.UsageError("name a model file, or --state, or --demo")
    from suffice.serve.http.limits import ServerLimits
    from suffice.serve.http.tokens import AccessTokens
    from suffice.serve.serving import ModelFile, ServerSettings
    from suffice.serve.serving import serve as run_server

    files = [ModelFile.read(path) for path in models]
    if demo:
        from suffice.serve.serving import demo_file

        files.append(demo_file())
    settings = ServerSettings(
        host,
        port,
        None if token_file is None else AccessTokens.read(token_file),
        no_token,
        ServerLimits(body=most_bytes, rows=most_rows, seconds=most_seconds),
    )

    def started(at: int, names: tuple[str, ...]) -> None:
        shown = f"[{host}]" if ":" in host else host
        announce(f"serving {', '.join(names)} at http://{shown}:{at}; see /docs for the requests")

    run_server(files, state, settings, started=started, note=note)
    announce("stopped cleanly")
