"""What logistic regression pays for not knowing how x is made (Efron 1975), by simulation.

    python examples/efron.py
    python examples/efron.py --draws 100 --seed 1 --output curve.png
    python examples/efron.py --prior 0.2

Two classes are normal with one covariance, their means Δ standard deviations apart. Then GDA and
logistic regression both aim at the same plane; GDA, which knows that the classes are normal, comes
nearer to it. The regret of a plane is its error rate above the least there is. Efron's relative
efficiency is GDA's mean regret over that of logistic regression, for many rows: at .64 logistic
regression needs 1/.64 = 1.56 times as many rows to do as well.

Theory is a one-dimensional integral; the simulation fits both models to the same rows, again and
again, and takes the regret of each plane exactly, without test rows.
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

ROWS = {1.0: 1_000, 2.0: 1_000, 2.5: 2_000, 3.0: 4_000}
"""Rows of a draw, by Δ. The theory is that of many rows: at Δ = 3, 2,000 are too few by .03."""
WIDTH = 5
DRAWS = 800
PICTURE = Path("efron.png")


# Theory


def logistic_moments(distance: float, prior: float) -> tuple[float, float, float]:
    """Return A₀, A₁ and A₂, the information of a row about (θ₀, θ) along the line of the means.

    A_i = exp(-Δ²/8) ∫ xⁱ φ(x) / (π₁ exp(Δx/2) + π₀ exp(-Δx/2)) dx. The integrand is analytic and
    vanishes at both ends, so that the trapezoidal rule gives every digit.
    """
    x, step = np.linspace(-14.0, 14.0, 2801, retstep=True)
    half = 0.5 * distance
    top = np.logaddexp(np.log(prior) + half * x, np.log1p(-prior) - half * x)
    density = np.exp(-0.5 * (x * x + half * half) - top) / np.sqrt(2.0 * np.pi)
    found = [step * float((x**i) @ density) for i in range(3)]
    return found[0], found[1], found[2]


def variances(distance: float, width: int, prior: float = 0.5) -> tuple[float, float]:
    """Return the variance of the log odds at the boundary, times π₁π₀n, for GDA and for logistic.

    The boundary is the plane x₁ = -λ/Δ, λ = log(π₁/π₀); the other columns are standard normal on
    it. The regret is proportional to the mean of this variance over the plane.
    """
    other, odds = 1.0 - prior, np.log(prior / (1.0 - prior))
    at = np.array([1.0, -odds / distance])
    square = distance * distance
    cross = -0.5 * (other - prior) * distance
    along = np.array([[1.0 + 0.25 * square, cross], [cross, 1.0 + 2.0 * prior * other * square]])
    a0, a1, a2 = logistic_moments(distance, prior)
    gda = at @ along @ at + (width - 1) * (1.0 + prior * other * square)
    logistic = at @ np.linalg.solve([[a0, a1], [a1, a2]], at) + (width - 1) / a0
    return float(gda), float(logistic)


def efficiency(distance: float, width: int = WIDTH, prior: float = 0.5) -> float:
    """Return the relative efficiency of logistic regression; with equal priors, for any width.

    >>> [round(efficiency(distance), 4) for distance in (1.0, 2.0, 3.0, 4.0)]
    [0.9949, 0.8992, 0.641, 0.343]
    """
    if distance == 0.0:
        return 1.0
    gda, logistic = variances(distance, width, prior)
    return gda / logistic


def regrets(distance: float, rows: int, width: int, prior: float = 0.5) -> tuple[float, float]:
    """Return the mean regrets of GDA and of logistic regression, to first order in 1/rows."""
    odds = np.log(prior / (1.0 - prior))
    reach = 0.5 * distance + odds / distance
    density = np.exp(-0.5 * reach * reach) / np.sqrt(2.0 * np.pi)
    share = density / (2.0 * distance * rows * (1.0 - prior))
    gda, logistic = variances(distance, width, prior)
    return share * gda, share * logistic


def error_rate(weights: Floats, intercept: float, distance: float, prior: float) -> float:
    """Return how often a plane is wrong about classes at ±Δ/2 on the first axis, exactly."""
    from scipy.special import ndtr

    norm = float(np.linalg.norm(weights))
    lean = 0.5 * distance * float(weights[0])
    missed, false = ndtr(-(intercept + lean) / norm), ndtr((intercept - lean) / norm)
    return float(prior * missed + (1.0 - prior) * false)


def bayes_error(distance: float, prior: float = 0.5) -> float:
    """Return the least error rate there is."""
    odds = float(np.log(prior / (1.0 - prior)))
    return error_rate(np.array([distance]), odds, distance, prior)


# Simulation


@dataclass(frozen=True)
class Simulated:
    """The regrets of both models over the same draws.

    gda, logistic  (draws,), the error rate of each plane above the least there is
    """

    distance: float
    rows: int
    gda: Floats
    logistic: Floats

    @property
    def ratio(self) -> float:
        """The efficiency that was found: mean regret over mean regret."""
        return float(self.gda.mean() / self.logistic.mean())

    @property
    def error(self) -> float:
        """Its standard error, by the delta method: both models saw the same rows."""
        apart = self.gda - self.ratio * self.logistic
        return float(apart.std(ddof=1) / (self.logistic.mean() * np.sqrt(len(apart))))


def simulate(
    distance: float,
    rows: int,
    draws: int,
    rng: np.random.Generator,
    prior: float = 0.5,
    tick: Callable[[], object] = lambda: None,
) -> Simulated:
    """Fit both models to `draws` samples of `rows` rows, and return what each plane costs."""
    from suffice import GaussianDiscriminant, LogisticRegression

    best = bayes_error(distance, prior)
    found = np.empty((draws, 2))
    for draw in found:
        y = (rng.random(rows) < prior).astype(int)
        X = rng.standard_normal((rows, WIDTH))
        X[:, 0] += distance * (y - 0.5)
        models = (
            GaussianDiscriminant().fit(X, y).to_logistic(),
            LogisticRegression(standard_errors=False).fit(X, y),
        )
        draw[:] = [error_rate(m.coef_[0], m.intercept_[0], distance, prior) - best for m in models]
        tick()
    return Simulated(distance, rows, found[:, 0], found[:, 1])


# What is shown


def table(points: Sequence[Simulated], prior: float) -> str:
    """Return theory and simulation, a line for each Δ; regrets in units of 1e-4."""
    lines = [
        "             Bayes    efficiency of logistic      regret of GDA,  regret of logistic,",
        "  Δ    rows  error    theory  simulated ± s.e.    1e-4 (theory)        1e-4 (theory)",
    ]
    for point in points:
        expected = regrets(point.distance, point.rows, WIDTH, prior)
        shown = [
            f"{1e4 * regret.mean():.2f} ({1e4 * theory:.2f})"
            for regret, theory in zip((point.gda, point.logistic), expected, strict=True)
        ]
        lines.append(
            f"{point.distance:3.1f}  {point.rows:6,}  {bayes_error(point.distance, prior):5.1%}"
            f"    {efficiency(point.distance, WIDTH, prior):6.4f}"
            f"  {point.ratio:9.4f} ± {point.error:6.4f}  {shown[0]:>15}  {shown[1]:>19}"
        )
    return "\n".join(lines)


def draw_efficiency(ax: Axes, points: Sequence[Simulated], prior: float) -> None:
    """Draw the curve of theory, and what was found, with bars of two standard errors."""
    from suffice.plots.regions import COLOURS, INK

    grid = np.linspace(0.0, 4.0, 161)[0 if prior == 0.5 else 10 :]
    ax.plot(
        grid, [efficiency(x, WIDTH, prior) for x in grid], color=COLOURS[0], linewidth=2.2,
        label="theory",
    )  # fmt: skip
    ax.errorbar(
        [point.distance for point in points], [point.ratio for point in points],
        [2.0 * point.error for point in points], color=INK, marker="o", markersize=6,
        markerfacecolor="white", markeredgewidth=1.6, linestyle="none", capsize=4.0,
        elinewidth=1.4, label=f"{len(points[0].gda):,} draws, ± 2 standard errors", zorder=3,
    )  # fmt: skip
    for point in points:
        ax.annotate(
            f"{point.ratio:.3f}", (point.distance, point.ratio), xytext=(11, 4),
            textcoords="offset points", color=INK, fontsize=10,
        )  # fmt: skip
    ax.set_xlim(0.0, 4.0)
    ax.set_ylim(0.0, 1.06)
    ax.set_xlabel("Δ: how many standard deviations the classes are apart")
    ax.set_ylabel("efficiency of logistic regression")
    ax.grid(color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines["right"].set_visible(False)
    marks = np.arange(0.0 if prior == 0.5 else 1.0, 4.5)
    top = ax.secondary_xaxis("top")
    top.set_xticks(marks, [f"{bayes_error(x, prior) if x else 0.5:.1%}" for x in marks])
    top.set_xlabel("least error rate there is", fontsize=10)
    ax.legend(frameon=False, loc="lower left")


def picture(points: Sequence[Simulated], prior: float = 0.5) -> Figure:
    """Return the figure of a simulation."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.6, 5.0), layout="constrained")
    draw_efficiency(figure.add_subplot(), points, prior)
    figure.suptitle(
        "Normal classes: how much GDA gains by knowing that they are",
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


def _share(_: Any, __: Any, prior: float) -> float:
    """Refuse a prior that leaves a class without rows; `not` catches NaN too."""
    if not 0.05 <= prior <= 0.95:
        raise click.BadParameter(f"{prior:g} is not between 0.05 and 0.95")
    return prior


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--draws", type=click.IntRange(min=2), default=DRAWS, show_default=True,
    help="How many samples are drawn at each distance.",
)  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the samples."
)
@click.option(
    "--prior", type=float, default=0.5, show_default=True, callback=_share,
    help="The share of the second class. At unequal shares theory needs more rows to hold.",
)  # fmt: skip
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False, path_type=Path), callback=_place,
    help=f"Where to save the picture.  [default: {PICTURE}]",
)  # fmt: skip
def efron(draws: int, seed: int, prior: float, output: Path | None) -> None:
    """Reproduce Efron's relative efficiency of logistic regression to GDA (1975).

    Example: python examples/efron.py --draws 800 --seed 0 -o efron.png
    """
    with click.progressbar(
        length=draws * len(ROWS), label="simulating", file=sys.stderr,
        show_eta=False, show_pos=True, hidden=not sys.stderr.isatty(),
    ) as bar:  # fmt: skip
        # Each distance has a seed of its own: what one finds does not depend on the others.
        seeds = np.random.SeedSequence(seed).spawn(len(ROWS))
        points = [
            simulate(
                distance, rows, draws, np.random.default_rng(own), prior, lambda: bar.update(1)
            )
            for (distance, rows), own in zip(ROWS.items(), seeds, strict=True)
        ]
    shares = "equal shares" if prior == 0.5 else f"shares {1.0 - prior:g} and {prior:g}"
    click.echo(f"Two normal classes, {shares}, {WIDTH} columns, {draws:,} draws at each distance\n")
    click.echo(table(points, prior))
    if output is None and find_spec("matplotlib") is None:
        click.echo("note: no picture without matplotlib: pip install 'suffice[plots]'", err=True)
        return
    from suffice.plots import save_figure

    saved = save_figure(picture(points, prior), output or PICTURE)
    click.echo(f"picture saved: {saved}", err=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 2 for wrong usage, 130 when interrupted."""
    try:
        efron.main(args=argv, prog_name="python examples/efron.py", standalone_mode=False)
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
