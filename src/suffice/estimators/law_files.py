"""A normal law as what a model file may hold, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.errors import BadFile
from suffice.models.gaussian.law.normal import Normal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.columns import Columns
    from suffice.models.gaussian.normal_fit import Evidence


def stored_law(law: Normal, columns: Columns, evidence: Evidence | None) -> dict[str, Any]:
    """Return a law by parts.

    Its spread goes along: of a marginal or conditional law it is known better than the covariance
    tells, and the same numbers have to come back.
    """
    return {
        "columns": columns,
        "statistics": None,
        "evidence": evidence,
        "model": law,
        "spread": law.spread,
    }


def restored_law(state: Mapping[str, Any]) -> tuple[Normal, Columns, Evidence | None]:
    """Return the law of a file that was found sound."""
    law = state["model"]
    if not isinstance(law, Normal):
        raise BadFile("the file holds no normal law", hint="it is damaged: write it again")
    return (
        Normal._known(law.mean, law.covariance, state["spread"]),
        state["columns"],
        state["evidence"],
    )
