"""`suffice demo`: what it can do, in one minute, on data that are there."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from suffice.cli.terminal.messages import announce, say
from suffice.cli.terminal.options import force_option, output_option, seed_option

if TYPE_CHECKING:
    from suffice.estimators.gaussian_discriminant import GaussianDiscriminant
    from suffice.estimators.setting_types import Covariance

PLANE = ("mean concave points", "mean texture")
"""The two measurements of the picture: by themselves they part the classes well, and not without
overlap."""
PAGE, PICTURE = Path("suffice-demo.html"), Path("suffice-demo.png")
"""Where page and picture go unless the options say otherwise; `.gitignore` knows both names."""
NEXT = """\
What to try next, with a table of your own:
  suffice report  data.csv --target y -o report.html    the same kind of page
  suffice fit     data.csv --target y -o model.suffice  the best model, saved to a file
  suffice predict model.suffice new.csv --proba         its predictions
  suffice explain model.suffice new.csv --row 1         the reasons for a prediction
  suffice --help                                        everything else"""
"""The last words of the demo: commands for a reader who has a table."""


@click.command()
@output_option(f"Where to write the page.  [default: {PAGE}]")
@click.option(
    "--picture", type=click.Path(path_type=Path), default=None,
    help=f"Where to save the picture.  [default: {PICTURE}]",
)  # fmt: skip
@force_option()
@seed_option("folds and splits")
def demo(output: Path | None, picture: Path | None, force: bool, seed: int) -> None:
    """Show what suffice can do, on data that come with scikit-learn.

    Compares models of both schools on 569 tumours, benign or malignant, recommends one and says
    why, merges and forgets, and writes a page with everything on it, and one picture.

    Example: suffice demo --output tumours.html
    """
    from sklearn.datasets import load_breast_cancer

    from suffice.evaluation import compare
    from suffice.report import page
    from suffice.report.html_page import write_page

    place, drawn = output or PAGE, picture or PICTURE
    _check_places(place, drawn, force=force)
    data = load_breast_cancer()
    y = data.target_names[data.target]
    rows, width = data.data.shape
    say(
        f"{rows} tumours, {width} measurements, benign or malignant: models of both schools "
        "are\ncompared on the same folds, which takes some seconds.\n"
    )
    found = compare(_frame(data), y, random_state=seed)
    say(f"{found.table}\n\n{found.recommendation}\n")
    _print_algebra(data)
    pictures = find_spec("matplotlib") is not None
    html = page(
        found,
        title="Benign or malignant?",
        target="diagnosis",
        source="Wisconsin breast cancer, from scikit-learn",
    )
    write_page(place, html)
    say(f"\n{NEXT}")
    announce(f"page written:  {place}")
    if pictures:
        announce(f"picture saved: {_save_picture(data, y, drawn)}")
    else:
        announce("note: no pictures without matplotlib: pip install 'suffice[plots]'")


def _check_places(place: Path, drawn: Path, *, force: bool) -> None:
    """Refuse places that cannot be written to, or hold something that would be lost."""
    from suffice.cli.terminal.outputs import check_output, is_page, refuse_printing

    refuse_printing(place, "the page")
    refuse_printing(drawn, "the picture")
    if place.absolute() == drawn.absolute():
        raise click.UsageError(f"--output and --picture are the same file: {place}")
    check_output(place, ours=is_page, what="a page that suffice has made", force=force)
    # Pictures do not say who has drawn them: only the one of this name is ours.
    check_output(
        drawn, ours=lambda path: path.name == PICTURE.name, what="the picture of the demo",
        force=force,
    )  # fmt: skip


def _frame(data: Any) -> object:
    """Return the measurements with their names."""
    from suffice.rows.tables import table_of_array
    from suffice.sources.arrow_frames import frame_of

    return frame_of(table_of_array(data.data, tuple(map(str, data.feature_names))))


def _print_algebra(data: Any) -> None:
    """Print, in two lines, that models merge and forget."""
    from suffice.estimators.gaussian_discriminant import GaussianDiscriminant

    X, y = data.data, data.target
    odd, even = slice(1, None, 2), slice(0, None, 2)
    whole = GaussianDiscriminant().fit(X, y)
    half = GaussianDiscriminant().fit(X[odd], y[odd])
    merged = half + GaussianDiscriminant().fit(X[even], y[even])
    say("These models are built from sums, so they can be added and subtracted without the rows:")
    say(
        f"merge:  two halves, trained separately and added, equal the whole to "
        f"{_apart(merged, whole, X)}"
    )
    whole.forget(X[even], y[even])
    say(f"forget: taking one half out again leaves the other half to {_apart(whole, half, X)}")


def _apart(one: GaussianDiscriminant, other: GaussianDiscriminant, X: object) -> str:
    """Return the largest difference between two models' probabilities."""
    return f"{abs(one.predict_proba(X) - other.predict_proba(X)).max():.0e}"


def _save_picture(data: Any, y: Any, path: Path) -> Path:
    """Draw two measurements under two assumptions."""
    from suffice.estimators.gaussian_discriminant import GaussianDiscriminant
    from suffice.plots import save_figure, side_by_side

    places = [list(data.feature_names).index(name) for name in PLANE]
    plane = data.data[:, places]
    forms: dict[str, Covariance] = {
        "One covariance for both classes: a linear boundary": "shared",
        "A covariance for each class: a curved boundary": "per-class",
    }
    figure = side_by_side(
        {title: GaussianDiscriminant(form).fit(plane, y) for title, form in forms.items()},
        plane,
        y,
        columns=[name.capitalize() for name in PLANE],
    )
    return save_figure(figure, path)
