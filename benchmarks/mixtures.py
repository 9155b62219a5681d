"""Mixtures against scikit-learn's, interleaved: seconds of CPU, and the log-likelihood reached.

python -m benchmarks.mixtures            small sizes, 3 rounds
python -m benchmarks.mixtures --full     those of the goals: a million rows

The peer's tolerance is lowered until it comes within 1e-6 a row of ours, or has ended in another,
lower maximum at its smallest; its time is that of the last run. Both have one thread of BLAS
(OPENBLAS_NUM_THREADS=1).
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np
from sklearn.mixture import GaussianMixture as Peer

from suffice import GaussianMixture

SMALL = ((100_000, 10, 8, "VVV"), (100_000, 10, 8, "VVI"), (20_000, 50, 4, "VVV"))
"""Rows, columns, components and form."""
FULL = ((1_000_000, 10, 8, "VVV"), (1_000_000, 10, 8, "VVI"), (100_000, 50, 4, "VVV"))
"""The same, of the goals."""
APART = (1.5, 5.0)
"""Standard deviation of the components' means: near each other, and far apart."""
TOLERANCES = (1e-3, 1e-5)
"""Gains a row at which the peer ends."""
NEAR = 1e-6
"""Log-likelihood a row within which two are the same."""


def drawn(size: int, width: int, components: int, form: str, apart: float, seed: int) -> Any:
    """Return rows of a mixture."""
    rng = np.random.default_rng([seed, size, width])
    means = apart * rng.normal(size=(components, width))
    turns = 0.3 * rng.normal(size=(components, width, width)) + np.eye(width)
    if form == "VVI":
        turns = rng.uniform(0.5, 1.5, (components, 1, width)) * np.eye(width)
    codes = rng.choice(components, size, p=rng.dirichlet(np.full(components, 5.0)))
    rows = rng.normal(size=(size, width))
    for c in range(components):  # in place: a benchmark of memory is none of its own
        rows[codes == c] = rows[codes == c] @ turns[c].T + means[c]
    return rows


def timed(model: Any, rows: Any) -> tuple[float, Any]:
    """Return the seconds of CPU that a fit takes, and what was fitted."""
    start = time.process_time()
    model.fit(rows)
    return time.process_time() - start, model


def main(words: list[str]) -> None:
    """Print a line for each size and distance."""
    warnings.simplefilter("ignore")
    cases, rounds = (FULL, 1) if "--full" in words else (SMALL, 3)
    for size, width, components, form in cases:
        for apart in APART:
            ratios, last = [], ""
            for seed in range(rounds):
                rows = drawn(size, width, components, form, apart, seed)
                if not seed:
                    GaussianMixture(2, form).fit(rows[:120_000])  # loops are compiled
                own, model = timed(GaussianMixture(components, form), rows)
                ours = model.log_likelihood_ / size
                for tol in TOLERANCES:
                    peer = Peer(
                        components,
                        covariance_type="full" if form == "VVV" else "diag",
                        tol=tol,
                        max_iter=500,
                        random_state=seed,
                    )
                    other, _ = timed(peer, rows)
                    theirs = peer.score(rows)
                    if theirs > ours - NEAR:
                        break
                ratios.append(other / own)
                last = f"{own:.2f} s, {ours:.6f} against {other:.2f} s, {theirs:.6f}"
            shown = " ".join(f"{ratio:.2f}" for ratio in ratios)
            print(f"{size} x {width}, {components} {form}, apart {apart:g}: {shown} times ({last})")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
