"""`suffice warm`: compile every loop now, so that nobody waits for it later."""

from __future__ import annotations

import click


@click.command()
def warm() -> None:
    """Compile all fast loops once for this machine or image, and keep them.

    Without it nothing waits for the compiler: NumPy does the work until there is so much that
    compiling pays off. With it, large tables and much text are two to four times as fast from
    the first row on. It takes one to two minutes and about 16 MB, in the package folder, in your
    cache folder, or in NUMBA_CACHE_DIR. Another processor, Python or version of this package
    counts as another machine.

    Example: suffice warm
    """
    from suffice.cli.terminal.messages import ProgressLine, announce
    from suffice.errors import BadFile
    from suffice.kernels import compilation
    from suffice.kernels.kept_loops import folder

    if not compilation.numba_is_here():
        announce(
            "numba, which compiles the loops, is not installed; suffice works without it, and "
            "pip install 'suffice[fast]' adds it"
        )
        return
    share = 0.0

    def show_progress(done: int, of: int) -> None:
        nonlocal share
        share = done / of
        line.more(1 if done else 0)

    with ProgressLine("compiling", lambda: share, "loops") as line:
        try:
            count = compilation.warm(show_progress)
        except OSError as error:
            raise BadFile(
                f"compiled loops cannot be kept: {error.strerror or error}",
                hint="set NUMBA_CACHE_DIR to a folder that you can write to",
            ) from error
    announce(f"{folder()}: {count} loops")
