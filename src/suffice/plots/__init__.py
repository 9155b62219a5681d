"""Pictures. Each function draws on the Axes it is given; matplotlib is imported only to draw."""

from suffice.plots.bridge import draw_bridge
from suffice.plots.calibration import draw_reliability
from suffice.plots.columns import draw_column
from suffice.plots.curves import draw_learning_curves, draw_sigmoid
from suffice.plots.densities import draw_contours, draw_surface
from suffice.plots.regions import side_by_side
from suffice.plots.rates import draw_precision_recall, draw_roc
from suffice.plots.regions import draw_regions
from suffice.plots.axes import save_figure
from suffice.plots.tables import draw_confusion, draw_confusion_counts, draw_explanation
from suffice.plots.typicality import draw_typicality

__all__ = [
    "draw_bridge",
    "draw_column",
    "draw_confusion",
    "draw_confusion_counts",
    "draw_contours",
    "draw_explanation",
    "draw_learning_curves",
    "draw_precision_recall",
    "draw_regions",
    "draw_reliability",
    "draw_roc",
    "draw_sigmoid",
    "draw_surface",
    "draw_typicality",
    "save_figure",
    "side_by_side",
]
