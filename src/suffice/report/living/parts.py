"""What is added to a page so that it comes alive: a policy, a style, data and one script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.plots.palette import COLOURS
from suffice.report.living.points import points_content
from suffice.report.living.thresholds import threshold_content
from suffice.web.scripts import bundled, data_block, fingerprint, style

if TYPE_CHECKING:
    from suffice.evaluation import Comparison
    from suffice.report.figures import Album
    from suffice.report.informative_columns import Informative


def living_parts(
    comparison: Comparison, found: Informative | None, album: Album
) -> tuple[str, str, str]:
    """Return what the policy allows besides, the style, and the end of the body.

    Rows are in the page only where boundaries are drawn.
    """
    blocks = data_block("palette", {"colours": list(COLOURS)})
    blocks += data_block("pictures", album.values)
    thresholds = threshold_content(comparison, comparison.recommendation.model)
    if thresholds is not None:
        blocks += data_block("thresholds", thresholds)
    points = points_content(comparison, found, album.spellings) if album.draws else None
    if points is not None:
        blocks += data_block("points", points)
    script = bundled("living/report.js")
    allowed = f"; script-src {fingerprint(script)}"
    return allowed, style("living/living.css"), f"{blocks}<script>{script}</script>"
