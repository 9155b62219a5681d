"""Two roads to one θ, and a third that misses it: classes that count (Poisson) by three models.

    python examples/poisson_classes.py
    python examples/poisson_classes.py --draws 20 --seed 1 --output sigmoids.png

x | y is Poisson with rate 1 or 6. Bayes' rule makes that a logistic posterior:

    log p(1 | x)/p(0 | x) = x·log(λ₁/λ₀) - (λ₁ - λ₀) + log(π₁/π₀)

Naive Bayes with Poisson columns knows this law, and finds its θ with the fewest rows. Logistic
regression assumes only that the posterior is logistic, which is true: it arrives at the same θ
with more rows. GDA assumes a normal law with one variance, which is false: its θ goes to
(λ₁ - λ₀)/(π₁λ₁ + π₀λ₀), however many rows there are.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LOW, HIGH, PRIOR = 1.0, 6.0, 0.5
"""The rates of the two classes, and the share of the second."""
SIZES = (300, 1_000, 3_000, 10_000, 30_000)
DRAWS = 200
POISSON, LOGISTIC, GDA = "Poisson naive Bayes", "logistic regression", "GDA"
COUNTS = np.arange(60.0)
"""Counts beyond which neither class has a mass worth a digit."""
PICTURE = Path("poisson-classes.png")


# What is true


def truth() -> tuple[float, float]:
    """Return θ₀ and θ of the posterior itself."""
    return float(LOW - HIGH + np.log(PRIOR / (1.0 - PRIOR))), float(np.log(HIGH / LOW))


def gda_limit() -> tuple[float, float]:
    """Return θ₀ and θ that GDA comes to, with ever more rows.

    Means and shares come to the true ones, the shared variance to the mean variance of a class:
    that of a Poisson law is its rate, so σ² = π₁λ₁ + π₀λ₀.
    """
    variance = PRIOR * HIGH + (1.0 - PRIOR) * LOW
    odds = np.log(PRIOR / (1.0 - PRIOR))
    return (
        float(odds - (HIGH * HIGH - LOW * LOW) / (2.0 * variance)),
        float((HIGH - LOW) / variance),
    )


def masses() -> tuple[Floats, Floats]:
    """Return p(x, y) of the counts for the first and for the second class."""
    from scipy.special import gammaln

    laws = (COUNTS * np.log(rate) - rate - gammaln(COUNTS + 1.0) for rate in (LOW, HIGH))
    first, second = (np.exp(law) for law in laws)
    return (1.0 - PRIOR) * first, PRIOR * second


def costs(intercept: float, slope: float) -> tuple[float, float]:
    """Return error rate and log-loss of a sigmoid under the true law, exactly."""
    first, second = masses()
    score = intercept + slope * COUNTS
    wrong = float(np.where(score > 0.0, first, second).sum())
    loss = float(first @ np.logaddexp(0.0, score) + second @ np.logaddexp(0.0, -score))
    return wrong, loss


def spreads() -> dict[str, float]:
    """Return the standard deviations of the slopes times √rows, for many rows.

    Naive Bayes: the delta method. Logistic regression: the inverse of its information. GDA, whose
    law is not the true one: the influence of a row on (m₁ - m₀)/σ², squared and averaged.
    """
    first, second = masses()
    both = first * second / (first + second)
    information = np.array([[both @ COUNTS ** (i + j) for j in range(2)] for i in range(2)])
    slope = gda_limit()[1]
    variance = (HIGH - LOW) / slope
    influence = [
        sign * (COUNTS - rate) / (share * variance)
        - slope * ((COUNTS - rate) ** 2 / variance - 1.0)
        for rate, share, sign in ((LOW, 1.0 - PRIOR, -1.0), (HIGH, PRIOR, 1.0))
    ]
    squares = {
        POISSON: 1.0 / ((1.0 - PRIOR) * LOW) + 1.0 / (PRIOR * HIGH),
        LOGISTIC: np.linalg.inv(information)[1, 1],
        GDA: first @ influence[0] ** 2 + second @ influence[1] ** 2,
    }
    return {name: float(np.sqrt(square)) for name, square in squares.items()}


# What is learned


@dataclass(frozen=True)
class Learned:
    """θ₀ and θ of every model in every draw, from so many rows: (draws, 2) by name."""

    rows: int
    found: dict[str, Floats]


def simulate(
    rows: int, draws: int, rng: np.random.Generator, tick: Callable[[], object] = lambda: None
) -> Learned:
    """Fit the three models to `draws` samples of `rows` rows."""
    from suffice import GaussianDiscriminant, LogisticRegression, NaiveBayes

    found = {name: np.empty((draws, 2)) for name in (POISSON, LOGISTIC, GDA)}
    for draw in range(draws):
        y = (rng.random(rows) < PRIOR).astype(int)
        X = rng.poisson(np.where(y == 1, HIGH, LOW)).astype(float)[:, np.newaxis]
        models = {
            POISSON: NaiveBayes("poisson", smoothing=0.0).fit(X, y).to_logistic(),
            LOGISTIC: LogisticRegression(standard_errors=False).fit(X, y),
            GDA: GaussianDiscriminant().fit(X, y).to_logistic(),
        }
        for name, model in models.items():
            found[name][draw] = model.intercept_[0], model.coef_[0, 0]
        tick()
    return Learned(rows, found)


# What is shown


def table(learned: Sequence[Learned]) -> str:
    """Return mean and standard deviation of θ by model and number of rows, then the limits."""
    names = (POISSON, LOGISTIC, GDA)
    lines = [f"{'rows':>7}  " + "".join(f"{name:>22}" for name in names)]
    for at in learned:
        slopes = [at.found[name][:, 1] for name in names]
        cells = [f"{slope.mean():.4f} ± {slope.std(ddof=1):.4f}" for slope in slopes]
        lines.append(f"{at.rows:7,}  " + "".join(f"{cell:>22}" for cell in cells))
    spread = spreads()
    cells = [f"{limit(name)[1]:.4f} ± {spread[name]:.2f}/√n" for name in names]
    lines.append(f"{'n → ∞':>7}  " + "".join(f"{cell:>22}" for cell in cells))
    heads = f"{'θ₀':>9}{'θ':>9}{'boundary':>11}{'error':>9}{'log-loss':>11}"
    lines += ["", f"{'in the limit':24}{heads}"]
    for name in names:
        intercept, slope = limit(name)
        wrong, loss = costs(intercept, slope)
        found = f"{intercept:9.4f}{slope:9.4f}{-intercept / slope:11.3f}{wrong:9.2%}{loss:11.4f}"
        lines.append(f"{name:24}{found}")
    return "\n".join(lines)


def limit(name: str) -> tuple[float, float]:
    """Return where θ₀ and θ of a model go."""
    return gda_limit() if name == GDA else truth()


def _styles() -> dict[str, dict[str, Any]]:
    """Return how each model is drawn; colour, dashes or marker alone tell them apart."""
    from suffice.plots.regions import COLOURS

    return {
        POISSON: {"color": COLOURS[2], "marker": "s", "dashes": (6, 2)},
        LOGISTIC: {"color": COLOURS[0], "marker": "o", "dashes": (1.5, 1.5)},
        GDA: {"color": COLOURS[4], "marker": "^", "dashes": (1, 0)},
    }


def draw_sigmoids(ax: Axes, learned: Learned) -> None:
    """Draw p(1 | x) of the truth and of the first draw of each model, over the two laws."""
    from suffice.plots.regions import COLOURS, INK

    first, second = masses()
    for mass, side, colour, hatch in (
        (first, -0.2, COLOURS[5], "////"), (second, 0.2, COLOURS[1], "...."),
    ):  # fmt: skip
        ax.bar(
            COUNTS + side, 2.0 * mass, 0.4, color=colour, alpha=0.45, edgecolor="white",
            hatch=hatch, linewidth=0.0, zorder=1,
        )  # fmt: skip
    ax.text(0.3, 0.385, "rate 1", ha="center", color=INK, fontsize=10)
    ax.text(6.0, 0.18, "rate 6", ha="center", color=INK, fontsize=10)
    grid = np.linspace(-0.5, 10.5, 400)

    def sigmoid(theta: Sequence[float]) -> Floats:
        found: Floats = 1.0 / (1.0 + np.exp(-(theta[0] + theta[1] * grid)))
        return found

    ax.plot(grid, sigmoid(truth()), color="0.72", linewidth=6.0, label="truth", zorder=2)
    for name, style in _styles().items():
        shown = {key: style[key] for key in ("color", "dashes")}
        ax.plot(grid, sigmoid(learned.found[name][0]), linewidth=2.0, label=name, zorder=3, **shown)
    ax.axhline(0.5, color="0.6", linewidth=0.8, dashes=(2, 2), zorder=1)
    ax.set_xlim(-0.6, 10.5)
    ax.set_ylim(0.0, 1.03)
    ax.set_xlabel("count x; bars: how often, in each class")
    ax.set_ylabel("p(rate 6 | x)")
    ax.set_title(f"The posterior, learned from {learned.rows:,} rows", loc="left", fontsize=11)
    ax.legend(frameon=False, loc="center right", bbox_to_anchor=(1.0, 0.62))
    ax.spines[["top", "right"]].set_visible(False)


def draw_slopes(ax: Axes, learned: Sequence[Learned]) -> None:
    """Draw θ against the number of rows: means, bars of two standard deviations, and limits."""
    from suffice.plots.regions import INK

    ax.axhline(truth()[1], color="0.72", linewidth=6.0, zorder=1)
    ax.axhline(gda_limit()[1], color=INK, linewidth=1.2, dashes=(2, 2), zorder=1)
    for place, (name, style) in enumerate(_styles().items()):
        slopes = [at.found[name][:, 1] for at in learned]
        ax.errorbar(
            [at.rows * 1.16 ** (place - 1) for at in learned],
            [slope.mean() for slope in slopes], [2.0 * slope.std(ddof=1) for slope in slopes],
            color=style["color"], marker=style["marker"], markersize=6.5, linestyle="none",
            capsize=3.5, elinewidth=1.4, label=name, zorder=3,
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_xticks([at.rows for at in learned], [f"{at.rows:,}" for at in learned])
    ax.minorticks_off()
    ends = learned[-1].rows * 1.5
    ax.set_xlim(learned[0].rows / 1.5, learned[-1].rows * 4.5)
    ax.text(ends, truth()[1] + 0.03, "truth: log 6", color=INK, fontsize=10)
    ax.text(ends, gda_limit()[1] + 0.02, "GDA: 5/3.5", color=INK, fontsize=10)
    ax.set_xlabel("rows")
    ax.set_ylabel("θ, the slope of the log odds")
    draws = len(learned[0].found[GDA])
    ax.set_title(f"θ: mean of {draws:,} draws, ± 2 standard deviations", loc="left", fontsize=11)
    ax.legend(frameon=False, loc="upper right")
    ax.spines[["top", "right"]].set_visible(False)


def picture(learned: Sequence[Learned]) -> Figure:
    """Return the figure of a simulation."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw_sigmoids(left, learned[-1])
    draw_slopes(right, learned)
    figure.suptitle(
        "Poisson classes: two models arrive at the truth, GDA arrives elsewhere",
        x=0.01, ha="left", fontsize=13, fontweight="bold",
    )  # fmt: skip
    return figure


# The command


def _place(_: Any, __: Any, path: Path | None) -> Path | None:
    """Refuse a picture that cannot be saved before the simulation, not after it."""
    if path is not None:
        if not path.parent.is_dir():
            raise click.BadParameter(f"there is no folder {path.parent}")
        if find_spec("matplotlib") is None:
            raise click.BadParameter("pictures need matplotlib: pip install 'suffice[plots]'")
        from matplotlib.figure import Figure

        kinds = Figure().canvas.get_supported_filetypes()
        if path.suffix[1:].lower() not in kinds:
            raise click.BadParameter(f"{path.name} is no picture: {', '.join(sorted(kinds))}")
    return path


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--draws", type=click.IntRange(min=2), default=DRAWS, show_default=True,
    help="How many samples are drawn of each size.",
)  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the samples."
)
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False, path_type=Path), callback=_place,
    help=f"Where to save the picture.  [default: {PICTURE}]",
)  # fmt: skip
def poisson_classes(draws: int, seed: int, output: Path | None) -> None:
    """Learn Poisson classes by naive Bayes, logistic regression and GDA.

    Example: python examples/poisson_classes.py --draws 200 --seed 0 -o poisson-classes.png
    """
    with click.progressbar(
        length=draws * len(SIZES), label="simulating", file=sys.stderr,
        show_eta=False, show_pos=True, hidden=not sys.stderr.isatty(),
    ) as bar:  # fmt: skip
        seeds = np.random.SeedSequence(seed).spawn(len(SIZES))
        learned = [
            simulate(rows, draws, np.random.default_rng(own), lambda: bar.update(1))
            for rows, own in zip(SIZES, seeds, strict=True)
        ]
    click.echo(
        f"x | y is Poisson with rate {LOW:g} or {HIGH:g}, equal shares. θ, mean ± standard "
        f"deviation of {draws:,} draws\n"
    )
    click.echo(table(learned))
    if output is None and find_spec("matplotlib") is None:
        click.echo("note: no picture without matplotlib: pip install 'suffice[plots]'", err=True)
        return
    from suffice.plots import save_figure

    saved = save_figure(picture(learned), output or PICTURE)
    click.echo(f"picture saved: {saved}", err=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 2 for wrong usage, 130 when interrupted."""
    try:
        poisson_classes.main(
            args=argv, prog_name="python examples/poisson_classes.py", standalone_mode=False
        )
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return 130
    except OSError as error:
        click.echo(f"error: {error.filename or 'output'}: {error.strerror}", err=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
