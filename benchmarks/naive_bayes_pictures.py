"""The pictures of docs/naive-bayes.md: families of one column, and how far to trust a claim.

python -m benchmarks.naive_bayes_pictures
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice import NaiveBayes
from suffice.plots import save_figure
from suffice.plots.regions import COLOURS, INK, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Array = NDArray[Any]

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
COLUMN, LOW, HIGH = "radius error", -0.25, 1.75
FAMILIES = {"gaussian": "gaussian", "log-normal": "lognormal", "binned": "binned"}
STYLES = {
    "benign": (COLOURS[0], (1, 0), "////"),
    "malignant": (COLOURS[4], (5, 1.5), "...."),
}
"""Colour, dashes and hatching: any one of them tells the classes apart."""
TENTHS = 10


def tumours() -> tuple[Array, Array, list[str]]:
    """Return scikit-learn's breast-cancer data: rows, labels, and the names of the columns."""
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer()
    return found.data, found.target_names[found.target], list(found.feature_names)


# One column, three families


def draw_densities(ax: Axes, model: NaiveBayes, cells: Array, labels: Array, grid: Array) -> None:
    """Draw what a class's rows are like, and what its law makes of them."""
    bins = np.arange(0.0, HIGH + 0.05, 0.05)
    joint = model.log_joint(grid[:, np.newaxis]) - np.log(model.priors_)
    for c, name in enumerate(model.classes_):
        colour, dashes, hatch = STYLES[str(name)]
        ax.hist(
            cells[labels == name], bins, density=True, histtype="stepfilled", alpha=0.28,
            facecolor=colour, edgecolor=colour, hatch=hatch, linewidth=0.0,
        )  # fmt: skip
        ax.plot(
            grid, np.exp(joint[:, c]), color=colour, dashes=dashes, linewidth=2.0, label=str(name)
        )


def draw_posterior(ax: Axes, model: NaiveBayes, grid: Array) -> None:
    """Draw the probability of the second class along the column."""
    ax.plot(grid, model.predict_proba(grid[:, np.newaxis])[:, 1], color=INK, linewidth=1.6)
    ax.axhline(0.5, color="0.6", linewidth=0.8, dashes=(2, 2))
    ax.set_ylim(-0.04, 1.04)
    ax.set_yticks([0.0, 0.5, 1.0], ["0", "½", "1"])


def families_picture() -> Figure:
    """Return one column under three families: densities above, the posterior below."""
    from matplotlib.figure import Figure

    rows, labels, names = tumours()
    cells = rows[:, names.index(COLUMN)]
    figure = Figure(figsize=(11.0, 4.8), layout="constrained")
    panels = figure.subplots(2, 3, sharex=True, sharey="row", height_ratios=[3, 1])
    grid = np.linspace(LOW, HIGH, 2001)
    for place, (called, family) in enumerate(FAMILIES.items()):
        model = NaiveBayes(family).fit(cells[:, np.newaxis], labels)
        loss = model.leave_one_out(cells[:, np.newaxis], labels).log_loss
        # What is not positive has no log-normal density, and what is outside the bins no mass.
        inside = grid[grid > 0.0] if family == "lognormal" else grid
        if family == "binned":
            inside = grid[(grid >= cells.min()) & (grid <= cells.max())]
        top, bottom = panels[:, place]
        draw_densities(top, model, cells, labels, inside)
        draw_posterior(bottom, model, inside)
        top.set_title(f"{called}: log-loss {loss:.3f}", loc="left", fontsize=11)
        bottom.set_xlabel(COLUMN)
        for ax in (top, bottom):
            ax.spines[["top", "right"]].set_visible(False)
    panels[0, 0].set_ylabel("density of a class")
    panels[1, 0].set_ylabel("p(malignant | x)")
    panels[0, 0].legend(frameon=False, loc="upper right")
    panels[0, 0].set_xlim(LOW, HIGH)
    figure.suptitle(
        "One column, three families, and their log-loss by leave-one-out",
        x=0.01, ha="left", fontsize=13, fontweight="bold",
    )  # fmt: skip
    return figure


# What is claimed, and what comes true


def tenths(log_odds: Array, hits: Array) -> tuple[Array, Array, Array, Array]:
    """Return, for tenths of the rows, the claimed log odds and the observed ones with bounds.

    The bounds hold 95 % of the posterior of a share with Jeffreys' prior, the point its median.
    """
    from scipy.special import logit
    from scipy.stats import beta

    parts = np.array_split(np.argsort(log_odds, kind="stable"), TENTHS)
    claimed = np.array([np.median(log_odds[part]) for part in parts])
    yes = np.array([hits[part].sum() for part in parts]) + 0.5
    no = np.array([len(part) for part in parts]) + 1.0 - yes
    low, middle, high = (logit(beta.ppf(q, yes, no)) for q in (0.025, 0.5, 0.975))
    return claimed, middle, low, high


def draw_reliability(ax: Axes, model: NaiveBayes, rows: Array, labels: Array, reach: float) -> None:
    """Draw observed odds against claimed ones, both by powers of ten, for rows never seen."""
    judged = model.leave_one_out(rows, labels)
    log_posterior = judged.log_posterior
    odds = log_posterior[:, 1] - log_posterior[:, 0]
    decades = np.log(10.0)
    claimed, middle, low, high = (
        part / decades for part in tenths(odds, labels == model.classes_[1])
    )
    inside = np.abs(claimed) <= reach
    shown = np.clip(claimed, -reach, reach)
    ax.plot([-reach, reach], [-reach, reach], color="0.5", linewidth=1.2, dashes=(5, 3), zorder=1)
    ax.errorbar(
        shown, middle, [middle - low, high - middle], color=COLOURS[0], linestyle="none",
        capsize=3.0, elinewidth=1.2, zorder=2,
    )  # fmt: skip
    ax.plot(
        shown[inside], middle[inside], color=COLOURS[0], marker=MARKERS[0], markersize=7,
        linestyle="none", zorder=3,
    )  # fmt: skip
    ax.plot(
        shown[~inside], middle[~inside], color=COLOURS[0], marker=">", markersize=9,
        linestyle="none", zorder=3,
    )  # fmt: skip
    far = " and ".join(f"1e{power:.0f}" for power in claimed[~inside])
    ax.text(
        0.985, 0.47, f"two tenths\nclaimed at\n{far}", transform=ax.transAxes, ha="right",
        va="top", color=INK, fontsize=9.5, linespacing=1.3,
    )  # fmt: skip
    ax.set_xlim(-1.06 * reach, 1.06 * reach)
    ax.set_title(
        f"β = {model.temperature_:.2g}: log-loss {judged.log_loss:.3f}", loc="left", fontsize=11
    )


def reliability_picture() -> Figure:
    """Return claims of a Gaussian naive Bayes before and after its temperature is fitted."""
    from matplotlib.figure import Figure

    rows, labels, _ = tumours()
    figure = Figure(figsize=(10.0, 4.6), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for ax, temperature, reach in zip(panels, (None, "held-out"), (20.0, 2.6), strict=True):
        model = NaiveBayes("gaussian", temperature=temperature).fit(rows, labels)
        draw_reliability(ax, model, rows, labels, reach)
        ax.set_ylim(-3.4, 3.4)
        ax.xaxis.set_major_formatter(lambda power, _: f"1e{power:.0f}" if power else "1")
        ax.yaxis.set_major_formatter(lambda power, _: f"1e{power:.0f}" if power else "1")
        ax.grid(color="0.92", linewidth=0.8)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_xlabel("odds of malignant, as claimed")
    panels[0].set_ylabel("odds of malignant, as observed")
    panels[0].annotate(
        "as claimed", (-3.1, -3.1), xytext=(12, 0), textcoords="offset points", color="0.35",
        fontsize=10,
    )  # fmt: skip
    figure.suptitle(
        "What Gaussian naive Bayes claims of rows it has not seen, and what comes true",
        x=0.01, ha="left", fontsize=13, fontweight="bold",
    )  # fmt: skip
    return figure


if __name__ == "__main__":
    print(save_figure(families_picture(), IMAGES / "naive-bayes-families.png", dpi=140.0))
    print(save_figure(reliability_picture(), IMAGES / "naive-bayes-temperature.png", dpi=140.0))
