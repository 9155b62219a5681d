"""What to worry about that the data show by themselves, before any model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from suffice.report.markup import name, names, text

if TYPE_CHECKING:
    from suffice.evaluation import Comparison
    from suffice.report.glance import ColumnGlance
    from suffice.report.informative_columns import Informative

CODE = re.compile(r"`([^`]+)`")
GIVEN_AWAY = 0.9
"""The share of the class's entropy that a column tells when it all but names the class."""
MOSTLY_BLANK = 0.5


def worries(
    comparison: Comparison, columns: tuple[ColumnGlance, ...], found: Informative | None
) -> list[str]:
    """Return sentences as HTML: those of the recommendation, then those on the columns."""
    said = [
        CODE.sub(r"<code>\1</code>", text(sentence))
        for sentence in comparison.recommendation.worries
    ]
    size = len(comparison.rows)
    if found is not None and found.whole > 0.0:
        telling = [found.names[j] for j in found.order if found.bits[j] >= GIVEN_AWAY * found.whole]
        if telling:
            said.append(
                f"{names(telling)} all but {'give' if len(telling) > 1 else 'gives'} the class "
                "away, each by itself: is it known before the class is?"
            )
    constant = [one.name for one in columns if one.values == 1 and not one.blanks]
    if constant:
        said.append(f"Always the same, and so of no use: {names(constant)}.")
    empty = [one.name for one in columns if not one.values]
    if empty:
        said.append(f"Blank in every row: {names(empty)}.")
    gaps = [one for one in columns if one.values and one.blanks > MOSTLY_BLANK * size]
    if gaps:
        told = ", ".join(f"{name(one.name)} {100.0 * one.blanks / size:.0f} %" for one in gaps[:8])
        said.append(f"Blank in most rows: {told}. Why are they blank?")
    numbers = [
        one.name
        for one in columns
        if one.kind == "whole number" and one.values == size and size > 20
    ]
    if numbers:
        said.append(
            f"{names(numbers)} {'are' if len(numbers) > 1 else 'is'} different in every row: if "
            "it only numbers the rows, leave it out."
        )
    return said
