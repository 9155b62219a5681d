"""`suffice demo`: what it can do, in one minute, with a picture."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from suffice.estimators.gaussian_discriminant import GaussianDiscriminant


class Form(NamedTuple):
    """One line of the table: a name, what is assumed, and how many numbers are learned."""

    name: str
    assumed: str
    settings: dict[str, Any]
    shape: Callable[[int, int], int]  # numbers in the covariances of k classes and d columns
    at_most: bool = False


def _full(width: int) -> int:
    return width * (width + 1) // 2


def _full_each(classes: int, width: int) -> int:
    return classes * _full(width)


FORMS = (
    Form("shared (LDA)", "one ellipsoid for all", {"covariance": "shared"}, lambda _, d: _full(d)),
    Form("per-class (QDA)", "an ellipsoid each", {"covariance": "per-class"}, _full_each),
    Form("diagonal", "independent columns", {"covariance": "diagonal"}, lambda k, d: k * d),
    Form(
        "shared-diagonal",
        "independent, same spread",
        {"covariance": "shared-diagonal"},
        lambda _, d: d,
    ),
    Form("spherical", "a ball each; unit-bound", {"covariance": "spherical"}, lambda k, _: k),
    Form(
        "pool ½, shrink ⅛",
        "between the first three",
        {"covariance": "per-class", "pool": 0.5, "shrink": 0.125},
        _full_each,
        at_most=True,
    ),
    Form("auto", "chosen by leave-one-out", {"covariance": "auto"}, _full_each, at_most=True),
)
PLANE = ("flavanoids", "color_intensity")
PICTURE = Path("suffice-demo.png")


@click.command()
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False, path_type=Path), default=None,
    help=f"Where to save the picture.  [default: {PICTURE}]",
)  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the sampled rows.")
def demo(output: Path | None, seed: int) -> None:
    """Show what suffice can do, on data that come with scikit-learn.

    Fits every form of Gaussian discriminant analysis to the chemistry of 178 wines, compares them
    by exact leave-one-out, merges and forgets, and saves one picture.

    Example: suffice demo --output wine.png
    """
    from rich.console import Console
    from sklearn.datasets import load_wine

    console = Console(highlight=False)
    wine = load_wine()
    X, y = wine.data, wine.target_names[wine.target]
    console.print(
        f"{len(X)} bottles of wine, {X.shape[1]} measurements, {len(set(y))} cultivars. Error and "
        "log-loss by leave-one-out:\neach bottle is judged by a model that never saw it, exactly, "
        "without a refit.\n",
        soft_wrap=True,
    )
    chosen = _print_forms(console, X, y)
    console.print(
        f"\nauto chose {_settings_of(chosen)}, by this very log-loss:\n"
        "its own line is therefore a little flattered.",
        soft_wrap=True,
    )
    _print_sampled(console, chosen, wine.feature_names, seed)
    _print_algebra(console, X, y)
    if output is None and find_spec("matplotlib") is None:
        click.echo("note: no picture without matplotlib: pip install 'suffice[plots]'", err=True)
        return
    click.echo(f"picture saved: {_save_picture(wine, y, output or PICTURE)}", err=True)


def _print_forms(console: Console, X: Any, y: Any) -> GaussianDiscriminant:
    """Print one line for each form, and return the last model: the one that chose for itself."""
    from rich.table import Table

    from suffice.estimators.gaussian_discriminant import GaussianDiscriminant

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("form", no_wrap=True)
    table.add_column("what is assumed", no_wrap=True)
    for heading in ("parameters", "error", "wrong", "log-loss"):
        table.add_column(heading, justify="right", no_wrap=True)
    for form in FORMS:
        model = GaussianDiscriminant(**form.settings).fit(X, y)
        left_out = model.leave_one_out(X, y)
        classes, width = model.means_.shape
        count = classes * width + classes - 1 + form.shape(classes, width)
        table.add_row(
            form.name,
            form.assumed,
            f"{'≤ ' if form.at_most else ''}{count}",
            f"{left_out.error:.1%}",
            f"{round(left_out.error * len(X))}",
            f"{left_out.log_loss:.4f}",
        )
    console.print(table)
    return model


def _settings_of(model: GaussianDiscriminant) -> str:
    """Return what `covariance="auto"` decided, as a phrase."""
    chosen = model.settings_
    pool, shrink = chosen.pool or 0.0, chosen.shrink or 0.0
    shrunk = f"shrink {shrink:g} toward {chosen.shrink_target!r}" if shrink else "no shrinking"
    return f"pool {pool:g} (0 is QDA, 1 is LDA) and {shrunk}"


def _print_sampled(
    console: Console, model: GaussianDiscriminant, names: Sequence[str], seed: int
) -> None:
    """Print a few rows the model made up: it knows how each class makes its data."""
    from rich.table import Table

    X, y = model.sample(3, random_state=seed)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("cultivar")
    shown = names[:5]
    for name in shown:
        table.add_column(name, justify="right", no_wrap=True)
    for row, label in zip(X, y, strict=True):
        table.add_row(str(label), *(f"{value:.2f}" for value in row[: len(shown)]))
    console.print("\nThree bottles that never existed, sampled from it:")
    console.print(table)


def _print_algebra(console: Console, X: Any, y: Any) -> None:
    """Print, in two lines, that models merge and forget."""
    from suffice.estimators.gaussian_discriminant import GaussianDiscriminant

    odd, even = slice(1, None, 2), slice(0, None, 2)
    whole = GaussianDiscriminant().fit(X, y)
    half = GaussianDiscriminant().fit(X[odd], y[odd])
    merged = half + GaussianDiscriminant().fit(X[even], y[even])
    console.print(
        f"\nmerge:  halves fitted apart and added give the whole to {_apart(merged, whole, X)}"
    )
    whole.forget(X[even], y[even])
    console.print(
        f"forget: one half taken back out leaves the other half to {_apart(whole, half, X)}"
    )


def _apart(one: GaussianDiscriminant, other: GaussianDiscriminant, X: Any) -> str:
    """Return the largest difference between two models' probabilities."""
    return f"{abs(one.predict_proba(X) - other.predict_proba(X)).max():.0e}"


def _save_picture(wine: Any, y: Any, path: Path) -> Path:
    """Draw two measurements under two assumptions."""
    from suffice.estimators.gaussian_discriminant import GaussianDiscriminant
    from suffice.plots import save_figure, side_by_side

    plane = wine.data[:, [list(wine.feature_names).index(name) for name in PLANE]]
    figure = side_by_side(
        {
            "One covariance for all classes: straight boundaries": GaussianDiscriminant(
                covariance="shared"
            ).fit(plane, y),
            "A covariance for each class: curved boundaries": GaussianDiscriminant(
                covariance="per-class"
            ).fit(plane, y),
        },
        plane,
        y,
        columns=("Flavanoids", "Colour intensity"),
        classes=("cultivar 1", "cultivar 2", "cultivar 3"),
    )
    return save_figure(figure, path)
