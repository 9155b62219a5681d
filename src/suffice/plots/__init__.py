"""Pictures. Each function draws on the Axes it is given; matplotlib is imported only to draw."""

from suffice.plots.bridge import draw_bridge
from suffice.plots.panels import side_by_side
from suffice.plots.regions import draw_regions
from suffice.plots.saving import save_figure

__all__ = ["draw_bridge", "draw_regions", "save_figure", "side_by_side"]
