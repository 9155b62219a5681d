"""New priors: bias over 40 draws, coverage over 200."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.evidence import Figure
from tests.reference.label_shift import coverage, mean_estimate

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = "python -m benchmarks.evidence --only label_shift"
PRIORS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
DRAWS, COVERED = 40, 200


def measure() -> Iterator[Figure]:
    """Yield bias and coverage, the latter with both forms of covariance."""
    gaps = {prior: mean_estimate(prior, DRAWS) - prior for prior in PRIORS}
    worst = max(gaps, key=lambda prior: abs(gaps[prior]))
    yield Figure(
        f"priors .1 to .9 from 1,000 unlabelled rows: |mean of {DRAWS} estimates - truth|",
        f"at most {abs(gaps[worst]):.4f} (at {worst})",
        "at most 0.01",
        abs(gaps[worst]) <= 0.01,
        COMMAND,
    )
    for form in ("shared", "per-class"):
        for prior in (0.1, 0.3, 0.5, 0.7, 0.9):
            share = coverage(prior, COVERED, form=form) / COVERED
            yield Figure(
                f"95 % interval of a prior of {prior}, {form}, 200 training rows",
                f"covers {share:.1%} of {COVERED} draws",
                "91 % to 98 %",
                0.91 <= share <= 0.98,
                COMMAND,
            )
