"""Labels of the page's table that are probably wrong, and what else is wrong with its rows."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from suffice.errors import SufficeError
from suffice.monitoring.audit import audit
from suffice.report.markup import listing, name, table, text
from suffice.rows import is_sparse

if TYPE_CHECKING:
    from suffice.evaluation import Comparison
    from suffice.monitoring.audit import Audit

MOST_ROWS, MOST_CELLS = 5_000, 200_000
"""Larger tables are audited by the command alone: a page should not take much longer for it."""
SHOWN = 12
"""Suspect labels that are listed; the command lists all."""


def audited(comparison: Comparison) -> Audit | None:
    """Return what is wrong with labels; None for tables that are too large, or cannot be judged."""
    rows = comparison.rows
    width = getattr(rows.X, "shape", (0, 0))[-1]
    if is_sparse(rows.X) or len(rows) > MOST_ROWS or len(rows) * width > MOST_CELLS:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return audit(rows.X, rows.y)
        except SufficeError:  # a class of one row, texts
            return None


def record(found: Audit) -> dict[str, object]:
    """Return an audit as plain values."""
    wrong = found.wrong_labels
    return {
        "wrong_labels": {
            "estimate": float(wrong.estimate), "low": float(wrong.low), "high": float(wrong.high),
        },
        "identified": bool(found.identified),
        "suspects": [int(row) for row in found.suspect_rows],
        "leaks": [{"column": str(leak.column), "why": leak.why} for leak in found.leaks],
        "conflicts": [[int(row) for row in group.rows] for group in found.conflicts],
        "strangers": [int(row) for row in found.strangers],
    }  # fmt: skip


def audit_section(found: Audit | None) -> str:
    """Return the section about labels; nothing where they were not audited."""
    if found is None:
        return ""
    likely = [row for row in found.table.rows if float(row[3]) >= 1.0]  # type: ignore[arg-type]
    listed = table(
        ["row", "label", "likely", "odds", "why"],
        [
            [
                f"{int(row[0]):,}", name(row[1], 40), name(row[2], 40),  # type: ignore[call-overload]
                f"{float(row[3]):.3g}", text(row[4]),  # type: ignore[arg-type]
            ]
            for row in found.table.rows[:SHOWN]
        ],
        figures=(0, 3),
    )  # fmt: skip
    count = len(found.table.rows)
    more = f" The first {SHOWN} of {count:,} are listed." if count > SHOWN else ""
    said = (
        f"<p>Every row was judged by models that have not seen it: {text(found.sentence)}.</p>"
        f"<p>{len(likely):,} label{'s are' if len(likely) != 1 else ' is'} more probably wrong "
        f"than right (odds above 1). Rows count from 0.{more}</p>"
    )
    return (
        said
        + (listed if count else "")
        + listing([text(each) for each in found.findings()])
        + '<p class="soft">Odds come from a model and are not a proof. <code>suffice audit</code> '
        "writes the suspects to a table, ready to be corrected.</p>"
    )
