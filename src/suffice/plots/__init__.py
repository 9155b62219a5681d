"""Pictures. Each function draws on the Axes it is given; matplotlib is imported only to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.facade import lazy

if TYPE_CHECKING:
    from suffice.plots.axes import save_figure
    from suffice.plots.bridge import draw_bridge
    from suffice.plots.calibration import draw_reliability
    from suffice.plots.clusters import draw_clusters, draw_criteria, draw_mixture_density
    from suffice.plots.columns import draw_column
    from suffice.plots.curves import draw_learning_curves, draw_sigmoid
    from suffice.plots.densities import draw_contours, draw_surface
    from suffice.plots.from_estimator import (
        draw_confusion_from_estimator,
        draw_precision_recall_from_estimator,
        draw_reliability_from_estimator,
        draw_roc_from_estimator,
    )
    from suffice.plots.rates import draw_precision_recall, draw_roc
    from suffice.plots.regions import draw_regions, side_by_side
    from suffice.plots.tables import draw_confusion, draw_confusion_counts, draw_explanation
    from suffice.plots.typicality import draw_typicality

__all__ = [
    "draw_bridge",
    "draw_clusters",
    "draw_column",
    "draw_confusion",
    "draw_confusion_counts",
    "draw_confusion_from_estimator",
    "draw_contours",
    "draw_criteria",
    "draw_explanation",
    "draw_learning_curves",
    "draw_mixture_density",
    "draw_precision_recall",
    "draw_precision_recall_from_estimator",
    "draw_regions",
    "draw_reliability",
    "draw_reliability_from_estimator",
    "draw_roc",
    "draw_roc_from_estimator",
    "draw_sigmoid",
    "draw_surface",
    "draw_typicality",
    "save_figure",
    "side_by_side",
]

_find, __dir__ = lazy(
    __name__,
    {
        "suffice.plots.axes": ["save_figure"],
        "suffice.plots.bridge": ["draw_bridge"],
        "suffice.plots.calibration": ["draw_reliability"],
        "suffice.plots.clusters": ["draw_clusters", "draw_criteria", "draw_mixture_density"],
        "suffice.plots.columns": ["draw_column"],
        "suffice.plots.curves": ["draw_learning_curves", "draw_sigmoid"],
        "suffice.plots.densities": ["draw_contours", "draw_surface"],
        "suffice.plots.from_estimator": [
            "draw_confusion_from_estimator",
            "draw_precision_recall_from_estimator",
            "draw_reliability_from_estimator",
            "draw_roc_from_estimator",
        ],
        "suffice.plots.rates": ["draw_precision_recall", "draw_roc"],
        "suffice.plots.regions": ["draw_regions", "side_by_side"],
        "suffice.plots.tables": ["draw_confusion", "draw_confusion_counts", "draw_explanation"],
        "suffice.plots.typicality": ["draw_typicality"],
    },
)

if not TYPE_CHECKING:  # a type checker knows the names above, and no others
    __getattr__ = _find
