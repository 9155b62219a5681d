"""EM for normal classes with missing cells, written row by row as in a textbook, and slowly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def plain_em(
    X: Floats,
    codes: NDArray[np.intp],
    *,
    shared: bool,
    weights: Floats | None = None,
    tolerance: float = 1e-12,
    most_steps: int = 20_000,
) -> tuple[Floats, Floats]:
    """Return the class means (k, d) and covariances (k, d, d) that EM converges to."""
    size, width = int(codes.max()) + 1, X.shape[1]
    w = np.ones(len(X)) if weights is None else weights
    held = np.bincount(codes, weights=w, minlength=size)
    means = np.stack([np.nanmean(X[codes == c], axis=0) for c in range(size)])
    scale = np.nanstd(X, axis=0)
    covariances = np.stack([np.diag(np.square(scale))] * size)
    for _ in range(most_steps):
        sums = np.zeros((size, width))
        filled, leftover = X.copy(), np.zeros((size, width, width))
        for i, (row, c) in enumerate(zip(X, codes, strict=True)):
            seen = ~np.isnan(row)
            gone = ~seen
            sigma = covariances[c]
            if gone.any():
                slope = np.linalg.solve(sigma[np.ix_(seen, seen)], sigma[np.ix_(seen, gone)]).T
                filled[i, gone] = means[c, gone] + slope @ (row[seen] - means[c, seen])
                rest = sigma[np.ix_(gone, gone)] - slope @ sigma[np.ix_(seen, gone)]
                leftover[c][np.ix_(gone, gone)] += w[i] * rest
            sums[c] += w[i] * filled[i]
        new_means = sums / held[:, np.newaxis]
        scatters = leftover
        for i, c in enumerate(codes):
            gap = filled[i] - new_means[c]
            scatters[c] += w[i] * np.outer(gap, gap)
        if shared:
            new_covariances = np.stack([scatters.sum(axis=0) / held.sum()] * size)
        else:
            new_covariances = scatters / held[:, np.newaxis, np.newaxis]
        moved = max(
            float(np.abs((new_means - means) / scale).max()),
            float(np.abs((new_covariances - covariances) / np.outer(scale, scale)).max()),
        )
        means, covariances = new_means, new_covariances
        if moved < tolerance:
            break
    return means, covariances


def log_posterior(X: Floats, means: Floats, covariances: Floats, priors: Floats) -> Floats:
    """Return log p(y | x) by the observed block of every row."""
    scores = np.tile(np.log(priors), (len(X), 1))
    for i, row in enumerate(X):
        seen = ~np.isnan(row)
        for c in range(len(priors)):
            block = covariances[c][np.ix_(seen, seen)]
            gap = row[seen] - means[c, seen]
            scores[i, c] -= 0.5 * gap @ np.linalg.solve(block, gap)
            scores[i, c] -= 0.5 * np.linalg.slogdet(block)[1] + 0.5 * seen.sum() * np.log(2 * np.pi)
    shift = scores.max(axis=1, keepdims=True)
    total = np.log(np.exp(scores - shift).sum(axis=1, keepdims=True)) + shift
    found: Floats = scores - total
    return found
