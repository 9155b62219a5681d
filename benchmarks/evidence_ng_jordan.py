"""Ng and Jordan's problems: errors at both ends of the learning curves, and where they cross.

Saves docs/images/ng-jordan.png on the way: all curves, as in the figure of their paper.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.evidence import Figure
from suffice.evaluation import crossing
from suffice.plots import save_figure
from tests.reference.ng_jordan import (
    LOGISTIC,
    NAIVE_BAYES,
    PROBLEMS,
    WITHIN,
    curves,
    early_logistic,
    peer_logistic,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from suffice.evaluation import LearningCurves

COMMAND = "python -m benchmarks.evidence --only ng_jordan"
PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "ng-jordan.png"
SPLITS = 50
MORE_SPLITS = {"lenses": 200}
"""Nine rows: a split tests two to seven of them."""
PEER_SPLITS = 25
SAME = 0.003
DRAWN = {NAIVE_BAYES: ("#d55e00", "--"), LOGISTIC: ("#0072b2", "-")}
POWERS = (10, 100, 1000)


def measure() -> Iterator[Figure]:
    """Yield errors beside those of the table, and the crossing with its band, for each problem."""
    found: dict[str, LearningCurves] = {}
    for name, problem in PROBLEMS.items():
        drawn = found[name] = curves(name, MORE_SPLITS.get(name, SPLITS))
        for end, size, known in (
            (0, problem.smallest, problem.first),
            (-1, problem.largest, problem.last),
        ):
            errors = np.nanmean(drawn.errors[:, end], axis=1)
            splits = 5 if size >= 1000 else 25
            judged = drawn.errors[:, end]
            own = np.isfinite(judged).sum(axis=1)
            spread = np.nanstd(judged, axis=1, ddof=1) * np.sqrt(1.0 / splits + 1.0 / own)
            # Where all splits agree with the table there is no spread.
            apart = np.abs(errors - known) / np.maximum(spread, 1e-9)
            told = f"{errors[0]:.3f}, {errors[1]:.3f} (table {known[0]:.3f}, {known[1]:.3f}"
            yield Figure(
                f"Ng and Jordan, {name}, {size:,} training rows: errors of naive Bayes (shared "
                "variance) and logistic",
                f"{told} over {splits} splits: {apart[0]:.1f}, {apart[1]:.1f} standard errors of "
                "the difference)",
                f"within {WITHIN:g} of the table",
                bool((np.abs(errors - known) <= WITHIN).all()),
                COMMAND,
            )
        few = max(6, problem.smallest)  # with two rows most decisions are ties, split by rounding
        others = {"peer": peer_logistic(), "early": early_logistic()}
        beside = curves(name, PEER_SPLITS, np.array([few]), others).errors[:, 0]
        ours, peer, early = beside[1:].mean(axis=1)
        yield Figure(
            f"Ng and Jordan, {name}, {few} rows: logistic and scikit-learn's, "
            "run to its end (tol=1e-10), on the same splits",
            f"{ours:.3f}, {peer:.3f} (as it comes, stopping early: {early:.3f})",
            f"within {SAME:g}",
            bool(abs(ours - peer) <= SAME),
            COMMAND,
        )
        crossed = crossing(drawn, NAIVE_BAYES, LOGISTIC)
        yield Figure(
            f"Ng and Jordan, {name}: where the curves cross",
            str(crossed),
            "none: it is measured, not claimed",
            True,
            COMMAND,
        )
    save_figure(picture(found), PICTURE, dpi=110.0)


def picture(found: dict[str, LearningCurves]) -> Canvas:
    """Return all problems as small panels, with bands over splits."""
    from matplotlib.figure import Figure as Canvas

    columns = 5
    lines = -(-len(found) // columns)
    canvas = Canvas(figsize=(2.6 * columns, 2.4 * lines), layout="constrained")
    panels = canvas.subplots(lines, columns, squeeze=False).ravel()
    for ax, (name, drawn) in zip(panels, found.items(), strict=False):
        draw(ax, drawn, name)
    for ax in panels[len(found) :]:
        ax.set_axis_off()
    # There is room for the legend beside the last problem.
    named = panels[0].get_legend_handles_labels()
    room = panels[len(found) % len(panels)]
    room.legend(*named, frameon=False, fontsize=9, loc="center left").set_in_layout(False)
    canvas.supxlabel("training rows (logarithmic)", fontsize=9)
    canvas.supylabel("error on held-out rows", fontsize=9)
    return canvas


def draw(ax: Axes, drawn: LearningCurves, title: str) -> None:
    """Draw both curves of one problem with their 95 % bands."""
    for name, (colour, line) in DRAWN.items():
        mean, low, high = drawn.band(name)
        ax.plot(drawn.sizes, mean, line, color=colour, label=name, linewidth=1.4)
        ax.fill_between(drawn.sizes, low, high, color=colour, alpha=0.18, linewidth=0)
    ax.set_xscale("log")
    largest = int(drawn.sizes[-1])
    steps = (2, 3, 5, 7) if largest < 10 else (10, 30, 100, 300) if largest < 1000 else POWERS
    ticks = [step for step in steps if step <= largest]
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.set_ylim(bottom=0.0)
    ax.set_title(title, fontsize=9, loc="left")
    ax.tick_params(labelsize=7)
    ax.spines[["top", "right"]].set_visible(False)
