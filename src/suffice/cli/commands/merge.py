"""`suffice merge`: one model of what several have learned."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from suffice.cli.terminal.options import force_option, json_option, output_option, wait_option

if TYPE_CHECKING:
    from suffice.training.saved_models import Saved


@click.command()
@click.argument(
    "models", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="MODEL MODEL…"
)
@output_option(
    "Where to write the merged model; - is standard output. It may be one of MODELs.",
    required=True,
)
@force_option()
@wait_option()
@json_option("a summary")
def merge(models: tuple[Path, ...], output: Path, force: bool, wait: float, as_json: bool) -> None:
    """Merge MODELs that were trained separately into one model of all their rows.

    The same as if all rows had been in one table. Their settings and columns must be the same;
    their classes and categories need not be. Mail filters merge into a mail filter.

    Example: suffice merge north.suffice south.suffice -o both.suffice
    """
    from suffice.cli.rows.model_files import check_model_place, save
    from suffice.cli.terminal.messages import announce
    from suffice.cli.terminal.outputs import changing
    from suffice.cli.terminal.printed_rows import plain, print_json
    from suffice.mail.filter.database import is_database

    if len(models) < 2:
        raise click.UsageError("name at least two models")
    if any(is_database(path) for path in models):
        from suffice.cli.mail.merge_and_inspect import merge_all

        merge_all(models, output, force=force, wait=wait, as_json=as_json)
        return
    check_model_place(output, (), force=force, as_json=as_json)
    with changing(output, wait) as check:
        merged = _merged(models)
        save(output, merged, check=check)
    rows = merged.model.model.weights.sum()
    if as_json:
        print_json({"model": str(output), "rows": plain(rows), "models": [*map(str, models)]})
    announce(f"{output}: {_number(rows)} rows of {len(models)} models")


def _merged(models: tuple[Path, ...]) -> Saved:
    """Return one model of all that several files have learned."""
    from suffice.errors import DifferentKinds, SufficeError
    from suffice.training.decimals import widened
    from suffice.training.saved_models import Saved, load_saved

    first, *others = models
    merged = load_saved(first)
    _check(first, merged)
    for path in others:
        other = load_saved(path)
        _check(path, other)
        ours, theirs = merged.notes.target, other.notes.target
        if None not in (ours, theirs) and ours != theirs:
            raise DifferentKinds(
                f"{first} was fitted to the target {ours!r}, {path} to {theirs!r}",
                hint="merge models of the same target",
            )
        unlike = merged.notes.unlike(other.notes)
        if unlike is not None:
            raise DifferentKinds(
                f"{first} and {path}: {unlike}",
                hint="fit both in the same way: --decimal and --column say how columns are read",
            )
        try:
            total = merged.model + other.model
        except TypeError:
            kinds = [each.name for each in (merged, other)]
            raise DifferentKinds(
                f"{first} is a {kinds[0]}, {path} is a {kinds[1]}",
                hint="merge models of the same kind",
            ) from None
        except SufficeError as error:
            raise error.within(f"{first} and {path}") from None
        digits = widened(merged.decimals, other.decimals)
        one, two = (merged, other) if ours is not None else (other, merged)
        merged = Saved(total, one.notes.merged(two.notes), digits)
    return merged


def _number(rows: float) -> str:
    return f"{rows:,.0f}" if rows == round(rows) else f"{rows:,.6g}"


def _check(path: Path, saved: Saved) -> None:
    """Refuse a model that is not a sum."""
    from suffice.errors import DifferentKinds

    if not saved.offers("gone_with"):
        raise DifferentKinds(
            f"{path} is a {saved.name}, which cannot be merged: it does not keep "
            "sums that rows could be added to or subtracted from",
            hint="fit it to all rows; gda, qda and naive-bayes can be merged",
        )
