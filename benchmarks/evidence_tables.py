"""Every form on every table, and the published ones reproduced."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.evidence import Figure
from tests.reference import data_sets
from tests.reference.every_table import FORMS, complaint, scikit_learn_fails
from tests.reference.known_tables import ERRORS, REDUCED_RANK, counted, reduced_rank_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = "python -m benchmarks.evidence --only tables"
SHORT = {"auto": {"mnist_5k": 1_000}}
"""Choosing among 45 candidates takes minutes where columns are so many: fewer rows there."""


def measure() -> Iterator[Figure]:
    """Yield published errors, then every form on every table, then scikit-learn's QDA."""
    for (name, form, divisor), known in ERRORS.items():
        found = counted(name, form, divisor)
        holds = found[1] == known[1] and known[0] in (None, found[0])
        yield Figure(
            f"{name}, {form} ({divisor}): wrong in training and test",
            f"{found[0]}, {found[1]}",
            f"{'any' if known[0] is None else known[0]}, {known[1]}",
            holds,
            COMMAND,
        )
    off = float(np.abs(np.array(reduced_rank_errors()) - REDUCED_RANK).max())
    claim = "vowel_esl: test errors in the first 1 to 10 discriminant coordinates"
    yield Figure(claim, f"differ by {off:.5f} at most", "at most 0.00005", off <= 5e-5, COMMAND)
    names = data_sets.names()
    for form in FORMS:
        complaints = []
        for name in names:
            table = data_sets.load(name).taken(SHORT.get(form, {}).get(name, 10**9))
            complaints += [text for text in (complaint(table, form),) if text]
        cut = "".join(f", {most:,} rows of {n}" for n, most in SHORT.get(form, {}).items())
        yield Figure(
            f"{form} fits and answers finitely, from strings and blanks{cut}",
            f"{len(names) - len(complaints)} of {len(names)} tables {'; '.join(complaints)}",
            "all",
            not complaints,
            COMMAND,
        )
    failed = sum(scikit_learn_fails(data_sets.load(name)) for name in names)
    yield Figure(
        "for comparison: scikit-learn's QDA(), given medians and one-hot columns, fails on",
        f"{failed} of {len(names)} tables",
        "none: told for comparison",
        True,
        COMMAND,
    )
